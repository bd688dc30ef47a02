"""The ir_metadata pages of all runs of an experiment."""

from __future__ import annotations

from pathlib import Path

import yaml

from ranktrial.archive.provenance.ir_metadata import ir_metadata
from ranktrial.archive.provenance.origin import origin, source_files
from ranktrial.archive.provenance.packages import installed
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import parse

ROOT = Path(__file__).parents[3]


def origins_of_runs(experiment: Experiment, jobs: list[dict]) -> dict[str, str]:
    """Path of a run -> its page as YAML; `jobs` are the jobs as in provenance/jobs.json."""
    source, packages = origin(ROOT, source_files(ROOT))[0], installed()
    tasks = {task.folder: task for task in (experiment.tasks | experiment.selection_tasks).values()}
    pages = {}
    for job in jobs:
        for path in job["outputs"]:
            name, fields = parse(path)
            if name == "run":
                task, system = tasks[fields["task"]], experiment.systems[fields["system"]]
                page = ir_metadata(experiment, task, system, job, source, packages)
                pages[path] = yaml.safe_dump(page, sort_keys=False, allow_unicode=True, width=120)
    return pages
