"""What the jobs of evaluation are given: paths and settings, from the experiment and the wildcards of
rules/evaluation.smk.

Runs are scored a second time, with ties by ascending id, for cells of a published table that are so.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ranktrial.common.keys import JsonObject
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.experiment import job_files
from ranktrial.experiment.job_files import task_in, tasks_by_folder
from ranktrial.experiment.printed_cells import Mapping, read_mapping
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.systems.external import NAME, column_of, files_of, seed_named, sources_of
from ranktrial.ir.measure_names import follows_instructions


def scored_by_others(experiment: Experiment) -> list[str]:
    """The tasks, by their names in paths, with external values instead of runs."""
    return [folder for folder, task in tasks_by_folder(experiment).items() if task.values_given]


def scored_here(experiment: Experiment) -> list[str]:
    """The tasks, by their names in paths, whose runs are scored."""
    return [folder for folder, task in tasks_by_folder(experiment).items() if not task.values_given]


def external_files(experiment: Experiment, system: str, task: str, seed: str) -> list[str]:
    """The user's own files of an external system's run or scores with one seed; several are folds."""
    return sources_of(experiment.systems[system], task_in(experiment, task).name, int(seed))


def other_seeds(experiment: Experiment, system: str, task: str, seed: str) -> list[str]:
    """The files of an external system's other seeds, for the first one, whose job checks that they are not folds."""
    external = experiment.systems[system]
    files = list(files_of(external, task_in(experiment, task).name))
    return files[1:] if int(seed) == external.seeds[0] and len(external.seeds) == len(files) else []


def run(experiment: Experiment, system: str, task: str, seed: str) -> str:
    """The run that is scored on a task, which may be that of another task."""
    ranked = experiment.ranked_task(task_in(experiment, task)).folder
    return path("run", experiment=experiment.name, task=ranked, system=system, seed=seed)


def qrels(experiment: Experiment, task: str) -> str:
    """The judgements by which a task's runs are scored."""
    return job_files.qrels(experiment, task_in(experiment, task))


def original(experiment: Experiment, system: str, task: str, seed: str) -> list[str]:
    """The run and the judgements of the task whose instructions a task changes, for pMRR."""
    changed = task_in(experiment, task)
    before = experiment.datasets[changed.dataset].changed_from
    if not before or not any(map(follows_instructions, experiment.measures)):
        return []
    first = experiment.task_of_split(before, changed.split)
    return [run(experiment, system, first.folder, seed), job_files.qrels(experiment, first)]


def corpus(experiment: Experiment, task: str) -> str | list[str]:
    """The corpus that a task's runs rank, if it has one (judgements only have none)."""
    dataset = task_in(experiment, task).dataset
    return job_files.corpus(experiment, dataset) if format_of(experiment.datasets[dataset]).has_documents else []


def queries(experiment: Experiment, task: str) -> str | list[str]:
    """The queries of a task, with their excluded documents, if it has any."""
    its = task_in(experiment, task)
    return job_files.queries(experiment, its) if its.has_documents else []


def import_run_settings(experiment: Experiment, system: str) -> JsonObject:
    """The depth of a run, and its tag."""
    return {"depth": experiment.depth, "tag": system}


def import_scores_settings(experiment: Experiment, system: str, task: str, seed: str) -> JsonObject:
    """The measure of external values, the task, and the column and seed of a system's values."""
    external, its = experiment.systems[system], task_in(experiment, task)
    chosen = {"column": column_of(external), "seed": seed_named(external, its.name, int(seed))}
    return {"measure": its.measures[0], "task": its.name, **{key: name for key, name in chosen.items() if name}}


def all_metrics(experiment: Experiment) -> list[str]:
    """The metrics files of all systems on the tasks of the experiment."""
    return [
        metrics
        for task in experiment.tasks.values()
        for system in experiment.systems.values()
        if task in experiment.runs_of(system)
        for metrics in job_files.metrics(experiment, system, task)
    ]


def all_runs(experiment: Experiment) -> list[str]:
    """All runs, without systems that have external values."""
    others = scored_by_others(experiment)
    runs = [
        run
        for system in experiment.systems.values()
        for task in experiment.runs_of(system)
        if task.folder not in others
        for run in job_files.runs(experiment, system, task)
    ]
    return list(dict.fromkeys(runs))


def ascending_measures(experiment: Experiment) -> list[str]:
    """The experiment's measures that a published table has with ascending ties; empty without such a table."""
    mapping = _mapping(experiment)
    return [name for name in experiment.measures if mapping.is_ascending(name)] if mapping else []


def score_settings(experiment: Experiment, system: str, ties: str) -> JsonObject:
    """The settings of scoring: with trec_eval's order of ties, or (`ties` is not empty) that of a published table."""
    how = {"measures": ascending_measures(experiment), "ties": "ascending"} if ties else {}
    users = {"external": True} if experiment.systems[system].type == NAME else {}
    return {"measures": experiment.measures, **how, **users}


def ascending_metrics(experiment: Experiment) -> list[str]:
    """The metrics files with ascending ties, of the systems and tasks that the mapping names."""
    mapping = _mapping(experiment)
    if mapping is None or not ascending_measures(experiment):
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
