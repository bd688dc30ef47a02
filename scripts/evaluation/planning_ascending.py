"""The second scoring with ties by ascending id, for cells of a paper's tables.

Reads the mapping of published cells (ranktrial/experiment/printed_cells.py): its measures with `ties: ascending`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.printed_cells import Mapping, read_mapping
from ranktrial.experiment.records import Experiment
from scripts.evaluation.planning import scored_here


def measures(experiment: Experiment) -> list[str]:
    """The experiment's measures that a published table has with ascending ties; empty without such a table."""
    mapping = _mapping(experiment)
    return [name for name in experiment.measures if mapping.is_ascending(name)] if mapping else []


def score_settings(experiment: Experiment, ties: str) -> JsonObject:
    """The settings of scoring: with trec_eval's order of ties, or (`ties` is not empty) that of a published table."""
    return {"measures": measures(experiment), "ties": "ascending"} if ties else {"measures": experiment.measures}


def metrics(experiment: Experiment) -> list[str]:
    """The metrics files with ascending ties, of the systems and tasks that the mapping names."""
    mapping = _mapping(experiment)
    if mapping is None or not measures(experiment):
        return []
    entries = {entry for line in mapping.systems for entry in line.ours}
    systems = [experiment.systems[name] for entry in sorted(entries) for name in experiment.entries.get(entry, [])]
    here, printed = scored_here(experiment), set(mapping.tasks.values())
    return [
        file
        for system in systems
        for task in experiment.runs_of(system)
        if task.folder in here and task.name in printed
        for file in job_files.metrics(experiment, system, task, "ascending_metrics")
    ]


def _mapping(experiment: Experiment) -> Mapping | None:
    published = experiment.published
    return _read(Path(published.mapping)) if published and published.mapping else None


_read = cache(read_mapping)  # once for all jobs of a plan
