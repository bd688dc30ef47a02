"""What the jobs of synthesis are given: paths and settings, from the experiment and the wildcards of the rules in
synthesis.smk, details.smk and transfer.smk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import product

from ranktrial.common.keys import JsonObject, given, stated
from ranktrial.configuration.sections.recipe import ALL
from ranktrial.experiment import job_files, judged, moderators
from ranktrial.experiment.comparisons import families, loaded_modules, repeated, statistics_of
from ranktrial.experiment.descriptions import datasets_learnt, tried_by_comparison
from ranktrial.experiment.labels import are_of_tasks, of_tasks_setting
from ranktrial.experiment.records import Comparison, Experiment, Moderator, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.synthesis_records import BORROWED, ComparisonSettings, CurvePoint, SeedsOf
from ranktrial.experiment.systems.external import NAME as EXTERNAL
from scripts.synthesis.planning_seeds import checkpoints, seed_sources, tasks_of_source


def comparison_inputs(experiment: Experiment, comparison: str) -> dict[str, list[str]]:
    """The metrics files of both systems, also by human judgements where a language model judges, and of the systems
    whose seed variance is borrowed; and the runs in which unjudged documents are counted.
    """
    found, compared = job_files.compared_metrics(experiment, comparison), experiment.comparisons[comparison]
    by_humans = judged.human_tasks(experiment, compared)
    return {
        "control": found["control"] + _metrics(experiment, product([compared.control], by_humans)),
        "treatment": found["treatment"] + _metrics(experiment, product([compared.treatment], by_humans)),
        "siblings": _sibling_metrics(experiment, compared),
        "runs": _compared_runs(experiment, compared),
    }


def _compared_runs(experiment: Experiment, comparison: Comparison) -> list[str]:
    """The runs of both systems; none if values are external, if the treatment ranks other texts, if gains are compared,
    or if a language model judges.
    """
    tasks = _tasks(experiment, comparison)
    if comparison.treatment_on or comparison.gain_over or any(task.values_given or task.judge for task in tasks):
        return []
    systems = [experiment.systems[system] for system in (comparison.control, comparison.treatment)]
    return [run for system in systems for task in tasks for run in job_files.runs(experiment, system, task)]


OF_QUERIES = ("control", "treatment", "measure", "alpha", "treatment_on", "gain_over", "measure_on", "clusters",
              "dependence", "corpora", "qrels", "cluster_files")  # fmt: skip


def modules(experiment: Experiment, comparison: str) -> list[str]:
    """The modules of the effect, estimator and intervals that a comparison names."""
    return loaded_modules([experiment.comparisons[comparison]])


def comparison_settings(experiment: Experiment, comparison: str) -> JsonObject:
    """The settings of a comparison, whose tasks are named by their folders."""
    compared = experiment.comparisons[comparison]
    settings = _settings(experiment, compared)
    clusters = {"clusters": settings.clusters} if settings.cluster_files else {}  # those of files are apart
    return {"seed": experiment.seed, **statistics_of(compared), **clusters, **given(settings)}


def _settings(experiment: Experiment, comparison: Comparison) -> ComparisonSettings:
    """The settings of a comparison other than its method."""
    folder_of = {name: task.folder for name, task in experiment.tasks.items()}
    systems, tasks = (comparison.control, comparison.treatment), _tasks(experiment, comparison)
    external = [one for one in systems if experiment.systems[one].type == EXTERNAL]
    how, sources = comparison.statistics, _sources(experiment, comparison)
    named = how.clusters if isinstance(how.clusters, dict) else {}
    scored = {task.folder: task for task in tasks if not task.values_given}
    by_humans = {folder: experiment.ranked_task(task) if task.judge else task for folder, task in scored.items()}
    qrels = {folder: job_files.qrels(experiment, task) for folder, task in by_humans.items()}
    own = {folder_of[task]: file for task, file in named.items()}
    clustered = {} if how.clusters == "query" else {folder: file for folder, file in qrels.items() if folder not in own}
    corpora = {task.folder: experiment.corpus_owner(task.dataset) for task in tasks}
    shared = how.dependence == "estimated" and len(set(corpora.values())) < len(corpora)
    control, treatment = comparison.names()
    return ComparisonSettings(
        control=control,
        treatment=treatment,
        measure=how.measure,
        gain_over=comparison.bases,
        treatment_on={folder_of[task]: folder_of[other] for task, other in comparison.treatment_on.items()},
        measure_on={folder_of[task]: measure for task, measure in comparison.measure_on.items()},
        runs_on={task.folder: experiment.ranked_task(task).folder for task in tasks if task.runs_of},
        external=external if _compared_runs(experiment, comparison) else [],
        judged=judged.judges(experiment, comparison),
        of_tasks=are_of_tasks(experiment, comparison.tasks),
        lower_is_better=how.margin is not None and experiment.is_lower_better(comparison),
        cluster_files=own,
        qrels=clustered,
        judgements={folder: file for folder, file in qrels.items() if folder not in clustered},
        corpora=corpora if shared else {},
        seed_sources=sources,
        checkpoints=checkpoints(experiment, comparison) if sources else {},
    )


def table_settings(experiment: Experiment) -> JsonObject:
    """The numbers of configurations tried, the hypotheses, and the families of comparisons."""
    chosen = {
        "tried": tried_by_comparison(experiment),
        "repeated": repeated(experiment),
        "families": families(experiment),
    }
    return {key: value for key, value in chosen.items() if value}


def moderation_inputs(experiment: Experiment, comparison: str) -> dict[str, str | list[str]]:
    """The effects of a comparison, and what its moderators need of its tasks: counts of datasets, and judgements."""
    compared = experiment.comparisons[comparison]
    tasks = _tasks(experiment, compared)
    counts = [path("statistics", experiment=experiment.name, dataset=task.dataset) for task in tasks]
    return {
        **{name: path(name, experiment=experiment.name, comparison=comparison) for name in ("effects", "meta")},
        "statistics": list(dict.fromkeys(counts)) if moderators.needs_counts(compared) else [],
        "qrels": [job_files.qrels(experiment, task) for task in tasks] if moderators.needs_qrels(compared) else [],
    }


def moderation_settings(experiment: Experiment, comparison: str) -> JsonObject:
    """The models of a comparison's effects, with the user's values, by the tasks' folders."""
    compared = experiment.comparisons[comparison]
    treatment = experiment.systems[compared.treatment]
    origins = {}
    for task in _tasks(experiment, compared):
        ranked = experiment.tasks[compared.treatment_on.get(task.name, task.name)]
        learnt = datasets_learnt(experiment, treatment, ranked.ranked_dataset)
        trained = {"trained": True} if {task.ranked_dataset, ranked.ranked_dataset} & set(learnt) else {}
        origins[task.folder] = {"dataset": task.dataset, "split": task.split, **trained}
    kept = ("effect", "estimator", "interval", "alpha", "permutations")
    shown = {"moderators": [_asked(experiment, moderator) for moderator in compared.moderators]}
    return {
        **{key: getattr(compared.statistics, key) for key in kept},
        "seed": experiment.seed,
        "tasks": origins,
        **(shown if compared.moderators else {}),
        **({"subgroups": _asked(experiment, compared.subgroups)} if compared.subgroups else {}),
    }


def _asked(experiment: Experiment, moderator: Moderator) -> JsonObject:
    values = {experiment.tasks[task].folder: value for task, value in (moderator.values or {}).items()}
    return {"name": moderator.name, "label": moderator.label, **({"values": values} if values else {})}


def _tasks(experiment: Experiment, comparison: Comparison) -> list[Task]:
    return [experiment.tasks[task] for task in comparison.tasks]


def query_settings(experiment: Experiment, comparison: str) -> JsonObject:
    """The settings of the comparison by query, with what its queries are clustered by."""
    settings = comparison_settings(experiment, comparison)
    lower = experiment.is_lower_better(experiment.comparisons[comparison])
    chosen = {key: settings[key] for key in OF_QUERIES if key in settings}
    return chosen | ({"lower_is_better": True} if lower else {})


def _sibling_metrics(experiment: Experiment, comparison: Comparison) -> list[str]:
    """The metrics files of the systems from which trained systems of a comparison borrow seed variance."""
    sources = _sources(experiment, comparison).values()
    borrowed = dict.fromkeys(seeds.system for seeds in sources if seeds.status == BORROWED)
    return [
        file
        for system in borrowed
        if system is not None
        for task in tasks_of_source(experiment, comparison, system)
        for file in job_files.metrics(experiment, experiment.systems[system], task)
    ]


def cluster_files(experiment: Experiment, comparison: str) -> list[str]:
    """The files of clusters of queries (qrels of the tasks, or the user's files), and of the probabilities with which
    queries were chosen for human judgement.
    """
    compared = experiment.comparisons[comparison]
    settings = _settings(experiment, compared)
    files = (settings.qrels, settings.judgements, settings.cluster_files)
    return [*(file for named in files for file in named.values()), *judged.probabilities(experiment, compared)]


def _sources(experiment: Experiment, comparison: Comparison) -> dict[str, SeedsOf]:
    return seed_sources(experiment, comparison) if comparison.statistics.seeds == "random" else {}


def family_metrics(experiment: Experiment, family: str) -> list[str]:
    """The metrics files of all systems of a multiple comparison on all its tasks."""
    compared = experiment.families[family]
    return _metrics(experiment, product(compared.systems, compared.tasks))


def family_settings(experiment: Experiment, family: str) -> JsonObject:
    """The settings of a multiple comparison."""
    compared = experiment.families[family]
    lower = {"lower_is_better": True} if compared.measure in experiment.lower_is_better else {}
    of_tasks = of_tasks_setting(experiment, compared.tasks)
    return {**stated(compared, "tasks", "title"), "seed": experiment.seed, **lower, **of_tasks}


def matrix_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of all cells of a matrix."""
    return _metrics(experiment, [(cell.system, cell.target) for cell in experiment.matrices[name].cells])


def matrix_settings(experiment: Experiment, name: str) -> JsonObject:
    """The cells of a matrix, and the level of its marks."""
    matrix = experiment.matrices[name]
    cells = [asdict(cell) | {"target": experiment.tasks[cell.target].folder} for cell in matrix.cells]
    return {"measure": matrix.measure, "alpha": matrix.alpha, "cells": cells}


def curves_metrics(experiment: Experiment, curve: str) -> list[str]:
    """The metrics files of all points of curves, and of their baseline."""
    curves = experiment.curves[curve]
    points = [(point.system, point.target) for point in curves.points]
    return _metrics(experiment, [*points, *((curves.baseline, target) for target in curves.targets)])


def curves_timings(experiment: Experiment, curve: str) -> list[str]:
    """The timings of the trainings with all queries of a target, which have the numbers of queries."""
    files: dict[str, None] = {}
    for point in experiment.curves[curve].points:
        if point.queries == ALL:
            model, recipe = _checkpoint(experiment, point)
            for seed in experiment.systems[point.system].seeds:
                fields = {"model": model, "recipe": recipe, "seed": seed}
                files[path("checkpoint_timing", experiment=experiment.name, **fields)] = None
    return list(files)


def curves_settings(experiment: Experiment, curve: str) -> JsonObject:
    """The points of curves, and their comparisons."""
    curves = experiment.curves[curve]
    points = []
    for point in curves.points:
        given = asdict(point) | {"target": experiment.tasks[point.target].folder}
        if point.queries == ALL:
            given["checkpoint"] = "/".join(_checkpoint(experiment, point))
        if point.queries != 0 and (seed := _start_seed(experiment, point)) is not None:
            given["start_seed"] = seed
        points.append(given)
    return {
        "measure": curves.measure,
        "alpha": curves.alpha,
        "baseline": curves.baseline,
        "points": points,
        "datasets": {experiment.tasks[task].folder: experiment.tasks[task].dataset for task in curves.targets},
    }


def _checkpoint(experiment: Experiment, point: CurvePoint) -> tuple[str, str]:
    """The model and recipe with which a point's system ranks its target."""
    system = experiment.systems[point.system]
    assert system.model is not None  # a point is a trained model
    return system.model, system.recipe_on(experiment.tasks[point.target].ranked_dataset)


def _start_seed(experiment: Experiment, point: CurvePoint) -> int | None:
    """The one seed of the starting point from which all seeds start; None if each starts from its own."""
    fixed = experiment.recipes[_checkpoint(experiment, point)[1]].start_seed
    return None if fixed == "same" else int(fixed)


def _metrics(experiment: Experiment, ranked: Iterable[tuple[str, str]]) -> list[str]:
    """The metrics files of systems, each on a task."""
    return [
        file
        for system, task in dict.fromkeys(ranked)
        for file in job_files.metrics(experiment, experiment.systems[system], experiment.tasks[task])
    ]
