"""The origin of each run as ir_metadata (Breuer, Keller, Schaer: SIGIR 2022, www.ir-metadata.org), a YAML file each.

Its parts are those of PRIMAD: platform, research goal, implementation, method, actor, data. What was not recorded is
left out. Keys that the schema does not have (hashes, seeds) stand under `other`.
"""

from __future__ import annotations

import platform
from pathlib import Path

import yaml

from ranktrial.archive.identities import installed
from ranktrial.archive.sources import our_origin
from ranktrial.common.keys import given, stated
from ranktrial.common.urls import shown
from ranktrial.experiment.descriptions import datasets_learnt
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.judged import origin
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import parse, path
from ranktrial.experiment.system_types import behind, system_type

TOOLKITS = ("pyserini", "sentence-transformers")
TIES = "score descending as a 32-bit float, then document id descending (trec_eval)"


def ir_metadata(experiment: Experiment, task: Task, system: System, job: dict, origin: dict, packages: dict) -> dict:
    """What is known of one run. `job` is its entry of provenance/jobs.json, `packages` name -> version."""
    return {
        "platform": _platform(job, packages),
        "research goal": _goal(experiment, task, system),
        "implementation": {
            "executable": {"cmd": job["command"]},
            "source": _stated({"lang": ["python"], **{key: origin.get(key) for key in ("repository", "commit")}}),
        },
        "method": _method(experiment, system),
        **({"actor": {"role": "experimenter", **stated(experiment.actor)}} if experiment.actor else {}),
        "data": _data(experiment, task, system, job),
    }


def _stated(values: dict) -> dict:
    return {key: value for key, value in values.items() if value not in (None, {}, [], "")}


def _platform(job: dict, packages: dict) -> dict:
    machine = job["machine"] or {}
    versions = machine.get("versions") or {}
    same_machine = job["host"] is not None and job["host"] == platform.node()  # then its kernel is this machine's
    cpu = {"model": machine.get("processor"), "architecture": platform.machine() if same_machine else None}
    gpu = {"model": machine["device"], "driver": job["driver"]} if machine.get("device", "cpu") != "cpu" else {}
    used = packages | {name: version for name, version in versions.items() if name != "python"}
    return _stated(
        {
            "hardware": _stated({"cpu": _stated(cpu), "gpu": _stated(gpu)}),
            "operating system": {"kernel": f"{platform.system()} {platform.release()}"} if same_machine else {},
            "software": {
                "libraries": {"python": [f"{name}=={version}" for name, version in used.items()]},
                "retrieval toolkit": [f"{name}=={used[name]}" for name in TOOLKITS if name in versions],
            },
        }
    )


def _goal(experiment: Experiment, task: Task, system: System) -> dict:
    concerned = [
        comparison
        for comparison in experiment.comparisons.values()
        if system.name in (comparison.control, comparison.treatment)
    ]
    return {
        "experiment": experiment.name,
        "evaluation": _stated(
            {
                "reported measures": list(task.measures),
                "baseline": sorted({comparison.control for comparison in concerned} - {system.name}),
                "significance test": [
                    {"name": name, "correction method": correction}
                    for name in ("paired t-test", "paired randomisation test")
                    for correction in ("holm", "benjamini-hochberg")
                ]
                if concerned
                else [],
            }
        ),
    }


def _method(experiment: Experiment, system: System) -> dict:
    stages = []
    for ranker in behind(system, experiment.systems):
        stages.append({"name": ranker.name, **system_type(ranker).provenance(experiment, ranker)})
    if any(stage["method"] == "external" for stage in stages):
        return {"retrieval": stages}
    return {"automatic": True, "score ties": TIES, "retrieval": stages}


def _data(experiment: Experiment, task: Task, system: System, job: dict) -> dict:
    def source(name: str) -> dict:
        entry = experiment.datasets[name]
        place = origin(entry) if entry.location or getattr(entry, "judge", None) else None
        return _stated({"name": name, "source": place, "licence": entry.licence})

    of_task = {"experiment": experiment.name, "dataset": task.dataset, "split": task.split}
    files = {"qrels": path("qrels", **of_task), "topics": path("queries", **of_task)}
    folder = str(Path(path("statistics", experiment=experiment.name, dataset=task.dataset)).parent)
    weights = shown(experiment.models[system.model].weights) if system.model else None
    ranked = experiment.datasets[task.ranked_dataset]
    excluded = {key: value for key, value in given(ranked).items() if key in ("own_document", "excluded")}
    return _stated(
        {
            "test collection": source(task.dataset) | files,
            "training data": [source(name) for name in datasets_learnt(experiment, system, task.ranked_dataset)],
            "other": [
                *([{"name": system.model, "source": weights}] if weights else []),
                *([{"name": "documents left out for a query", **excluded}] if excluded else []),
                *(
                    {"name": name, "sha256": sha256}
                    for name, sha256 in job["inputs"].items()
                    if name.startswith(folder)
                ),
                *({"name": Path(name).name, "sha256": sha256} for name, sha256 in job["outputs"].items()),
            ],
        }
    )


def origins_of_runs(experiment: Experiment, jobs: list[dict]) -> dict[str, str]:
    """Path of a run -> its page as YAML; `jobs` are the jobs as in provenance/jobs.json."""
    source, packages = our_origin()[0], installed()
    pages = {}
    for job in jobs:
        for output in job["outputs"]:
            name, fields = parse(output)
            if name == "run":
                task, system = task_in(experiment, fields["task"]), experiment.systems[fields["system"]]
                page = ir_metadata(experiment, task, system, job, source, packages)
                pages[output] = yaml.safe_dump(page, sort_keys=False, allow_unicode=True, width=120)
    return pages
