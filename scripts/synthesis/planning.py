"""What the jobs of synthesis are given: paths and settings, from the experiment and the wildcards of
rules/synthesis.smk and rules/details.smk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ranktrial.common.keys import JsonObject, given, stated
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.experiment import job_files, judged, moderators
from ranktrial.experiment.comparisons import statistics_of
from ranktrial.experiment.descriptions import datasets_learnt, tried_by_comparison
from ranktrial.experiment.families import families, repeated
from ranktrial.experiment.records import Experiment, Moderator, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.seed_sources import checkpoints, seed_sources, tasks_of_source
from ranktrial.experiment.synthesis_records import BORROWED, SeedsOf
from ranktrial.experiment.systems.external import NAME as EXTERNAL


def control_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of a comparison's control on all its tasks."""
    comparison = experiment.comparisons[name]
    return _metrics(experiment, comparison.control, comparison.tasks)


def treatment_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of a comparison's treatment on the tasks on which it is scored."""
    comparison = experiment.comparisons[name]
    tasks = [comparison.treatment_on.get(task, task) for task in comparison.tasks]
    return _metrics(experiment, comparison.treatment, tasks)


def compared_runs(experiment: Experiment, name: str) -> list[str]:
    """The runs of both systems of a comparison, for the counts of unjudged documents; empty if values are external, if
    the treatment ranks other texts, or if a language model judges.
    """
    comparison, tasks = experiment.comparisons[name], _tasks(experiment, name)
    if comparison.treatment_on or any(task.values_given or task.judge for task in tasks):
        return []
    systems = [experiment.systems[system] for system in (comparison.control, comparison.treatment)]
    return [run for system in systems for task in tasks for run in job_files.runs(experiment, system, task)]


def human_metrics(experiment: Experiment, name: str, role: Literal["control", "treatment"]) -> list[str]:
    """The metrics files of one system by human judgements, for the tasks that a language model judges."""
    comparison = experiment.comparisons[name]
    return _metrics(experiment, getattr(comparison, role), judged.human_tasks(experiment, comparison))


OF_QUERIES = ("control", "treatment", "measure", "alpha", "treatment_on", "measure_on", "clusters", "dependence",
              "corpora", "qrels", "cluster_files")  # fmt: skip


def comparison_settings(experiment: Experiment, name: str) -> JsonObject:
    """The settings of a comparison. Tasks of `treatment_on` are given by their folders, as in paths."""
    comparison = experiment.comparisons[name]
    tasks = experiment.tasks
    folders = {
        tasks[task].folder: tasks[treatment_task].folder for task, treatment_task in comparison.treatment_on.items()
    }
    external = [one for one in (comparison.control, comparison.treatment) if experiment.systems[one].type == EXTERNAL]
    lower = comparison.statistics.margin is not None and experiment.is_lower_better(comparison)
    return {
        "control": comparison.control,
        "treatment": comparison.named(comparison.treatment),
        **({"treatment_on": folders} if folders else {}),
        **_measure_on(experiment, name),
        **_runs_on(experiment, name),
        **({"external": external} if external and compared_runs(experiment, name) else {}),
        **judged.judges(experiment, comparison),
        **_of_tasks(experiment, comparison.tasks),
        "seed": experiment.seed,
        **({"lower_is_better": True} if lower else {}),
        **statistics_of(comparison),
        **given(_dependence(experiment, name)),
    }


def _measure_on(experiment: Experiment, name: str) -> JsonObject:
    """The measure of each task, by its folder, if tasks have their own."""
    measure_on = experiment.comparisons[name].measure_on
    by_folder = {experiment.tasks[task].folder: measure for task, measure in measure_on.items()}
    return {"measure_on": by_folder} if by_folder else {}


def _of_tasks(experiment: Experiment, tasks: tuple[str, ...]) -> JsonObject:
    """Whether values are per task; a leaderboard is compared separately."""
    dataset = experiment.datasets[experiment.tasks[tasks[0]].dataset]
    return {"of_tasks": True} if format_of(dataset).of_tasks else {}


def _runs_on(experiment: Experiment, name: str) -> JsonObject:
    """The folder of each task's runs, if it scores those of another task."""
    ranked = {task.folder: experiment.ranked_task(task).folder for task in _tasks(experiment, name) if task.runs_of}
    return {"runs_on": ranked} if ranked else {}


def table_settings(experiment: Experiment) -> JsonObject:
    """The numbers of configurations tried, the hypotheses, and the families of comparisons."""
    chosen = {
        "tried": tried_by_comparison(experiment),
        "repeated": repeated(experiment),
        "families": families(experiment),
    }
    return {key: value for key, value in chosen.items() if value}


def moderation_statistics(experiment: Experiment, name: str) -> list[str]:
    """The counts of the datasets of a comparison's tasks, if its moderators need them."""
    needed = moderators.needs_counts(experiment.comparisons[name])
    files = [path("statistics", experiment=experiment.name, dataset=task.dataset) for task in _tasks(experiment, name)]
    return list(dict.fromkeys(files)) if needed else []


def moderation_qrels(experiment: Experiment, name: str) -> list[str]:
    """The judgements of a comparison's tasks, if its moderators need them."""
    needed = moderators.needs_qrels(experiment.comparisons[name])
    return [job_files.qrels(experiment, task) for task in _tasks(experiment, name)] if needed else []


def moderation_settings(experiment: Experiment, name: str) -> JsonObject:
    """The models of a comparison's effects, with the user's values, by the tasks' folders."""
    comparison = experiment.comparisons[name]
    treatment = experiment.systems[comparison.treatment]
    origins = {}
    for task in _tasks(experiment, name):
        ranked = experiment.tasks[comparison.treatment_on.get(task.name, task.name)]
        learnt = datasets_learnt(experiment, treatment, ranked.ranked_dataset)
        trained = {"trained": True} if {task.ranked_dataset, ranked.ranked_dataset} & set(learnt) else {}
        origins[task.folder] = {"dataset": task.dataset, "split": task.split, **trained}
    shown: dict[str, object] = {"moderators": [_asked(experiment, moderator) for moderator in comparison.moderators]}
    if comparison.subgroups:
        shown["subgroups"] = _asked(experiment, comparison.subgroups)
    kept = ("effect", "estimator", "interval", "alpha", "permutations")
    return {
        **{key: getattr(comparison.statistics, key) for key in kept},
        "seed": experiment.seed,
        "tasks": origins,
        **{key: value for key, value in shown.items() if value},
    }


def _asked(experiment: Experiment, moderator: Moderator) -> JsonObject:
    values = {experiment.tasks[task].folder: value for task, value in (moderator.values or {}).items()}
    return {"name": moderator.name, "label": moderator.label, **({"values": values} if values else {})}


def _tasks(experiment: Experiment, name: str) -> list[Task]:
    return [experiment.tasks[task] for task in experiment.comparisons[name].tasks]


def compared_queries(experiment: Experiment, name: str) -> JsonObject:
    """The settings of the comparison by query, with what its queries are clustered by."""
    settings = comparison_settings(experiment, name)
    lower = experiment.is_lower_better(experiment.comparisons[name])
    chosen = {key: settings[key] for key in OF_QUERIES if key in settings}
    return chosen | ({"lower_is_better": True} if lower else {})


def sibling_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of the systems from which trained systems of a comparison borrow seed variance."""
    comparison = experiment.comparisons[name]
    borrowed = dict.fromkeys(seeds.system for seeds in _sources(experiment, name).values() if seeds.status == BORROWED)
    return [
        file
        for system in borrowed
        if system is not None
        for task in tasks_of_source(experiment, comparison, system)
        for file in job_files.metrics(experiment, experiment.systems[system], task)
    ]


def cluster_files(experiment: Experiment, name: str) -> list[str]:
    """The files of clusters of queries (qrels of the tasks, or the user's files), and of the probabilities with which
    queries were chosen for human judgement."""
    found, chosen = _dependence(experiment, name), judged.probabilities(experiment, experiment.comparisons[name])
    return [*found.qrels.values(), *found.judgements.values(), *found.cluster_files.values(), *chosen]


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """The settings about dependence between tasks, queries and systems, if there is any."""

    clusters: Literal["auto"] | None = None
    cluster_files: Mapping[str, str] = field(default_factory=dict)
    qrels: Mapping[str, str] = field(default_factory=dict)
    judgements: Mapping[str, str] = field(default_factory=dict)
    corpora: Mapping[str, str] = field(default_factory=dict)
    seed_sources: Mapping[str, SeedsOf] = field(default_factory=dict)
    checkpoints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def _dependence(experiment: Experiment, name: str) -> Dependence:
    comparison, tasks = experiment.comparisons[name], experiment.tasks
    clusters = comparison.statistics.clusters
    named = clusters if isinstance(clusters, dict) else {}
    own = {tasks[task].folder: path for task, path in named.items()}
    scored = [task for task in _tasks(experiment, name) if not task.values_given]
    by_humans = {task.folder: experiment.ranked_task(task) if task.judge else task for task in scored}
    files = {folder: job_files.qrels(experiment, task) for folder, task in by_humans.items()}
    clustered = {} if clusters == "query" else {folder: file for folder, file in files.items() if folder not in own}
    corpora = {tasks[task].folder: experiment.corpus_owner(tasks[task].dataset) for task in comparison.tasks}
    shared = comparison.statistics.dependence == "estimated" and len(set(corpora.values())) < len(corpora)
    sources = _sources(experiment, name)
    return Dependence(
        clusters="auto" if named else None,
        cluster_files=own,
        qrels=clustered,
        judgements={folder: file for folder, file in files.items() if folder not in clustered},
        corpora=corpora if shared else {},
        seed_sources=sources,
        checkpoints=checkpoints(experiment, comparison) if sources else {},
    )


def _sources(experiment: Experiment, name: str) -> dict[str, SeedsOf]:
    comparison = experiment.comparisons[name]
    if comparison.statistics.seeds != "random":
        return {}
    return seed_sources(experiment, comparison)


def family_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of all systems of a multiple comparison on all its tasks."""
    family = experiment.families[name]
    return [file for system in family.systems for file in _metrics(experiment, system, family.tasks)]


def family_settings(experiment: Experiment, name: str) -> JsonObject:
    """The settings of a multiple comparison."""
    family = experiment.families[name]
    lower = {"lower_is_better": True} if family.measure in experiment.lower_is_better else {}
    how = stated(family, "name", "tasks", "title")
    return {**how, "seed": experiment.seed, **lower, **_of_tasks(experiment, family.tasks)}


def _metrics(experiment: Experiment, system: str, tasks: list[str] | tuple[str, ...]) -> list[str]:
    ranker = experiment.systems[system]
    return [file for task in tasks for file in job_files.metrics(experiment, ranker, experiment.tasks[task])]
