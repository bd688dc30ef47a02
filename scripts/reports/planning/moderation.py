"""Inputs of the tables and figures of moderators: files and settings. See rules/pages.smk."""

from __future__ import annotations

from ranktrial.experiment import job_files
from ranktrial.experiment.moderators import asked, bubble_name
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import TABLE_FORMATS, path
from scripts.reports.planning.labels import labels


def moderated(experiment: Experiment) -> list[str]:
    """The comparisons that have moderators or subgroups."""
    return [name for name, comparison in experiment.comparisons.items() if asked(comparison)]


def bubble_plots(experiment: Experiment) -> dict[str, tuple[str, str]]:
    """Bubble plot -> its comparison and moderator."""
    return {
        bubble_name(name, moderator.name): (name, moderator.name)
        for name, comparison in experiment.comparisons.items()
        for moderator in comparison.moderators
    }


def moderators_tables(experiment: Experiment) -> list[str]:
    """The tables of moderators of all comparisons."""
    return [
        path("moderators_table", experiment=experiment.name, comparison=name, table_format=table_format)
        for name in moderated(experiment)
        for table_format in TABLE_FORMATS
    ]


def moderators(experiment: Experiment) -> list[str]:
    """The records of the moderators of all comparisons that have any."""
    return job_files.of_comparisons(experiment, "moderators", moderated(experiment))


def table_settings(experiment: Experiment, name: str) -> dict:
    """The labels in the tables of a comparison's moderators."""
    comparison, shown = experiment.comparisons[name], _task_labels(experiment, name)
    every = labels(experiment)["systems"]
    treatment, control = comparison.named(comparison.treatment), comparison.control
    title = f"{every.get(treatment, treatment)} against {every.get(control, control)}"
    return {"title": f"{name}, {title}", "labels": shown}


def bubble_settings(experiment: Experiment, figure: str) -> dict:
    """The settings of a bubble plot."""
    name, moderator = bubble_plots(experiment)[figure]
    measure = experiment.comparisons[name].statistics.measure
    font = experiment.comparisons[name].figure.font
    shown = {"moderator": moderator, "measure": measure, "labels": _task_labels(experiment, name)}
    return shown | ({"font": font} if font else {})


def shown_on_pages(experiment: Experiment) -> dict[str, list[str]]:
    """Comparison with moderators or subgroups -> its bubble plots."""
    figures = bubble_plots(experiment).items()
    return {name: [figure for figure, of in figures if of[0] == name] for name in moderated(experiment)}


def subgrouped(experiment: Experiment, names: tuple[str, ...]) -> list[str]:
    """The moderators file of a figure's only comparison, where its tasks are grouped."""
    alone = [name for name in names if len(names) == 1 and experiment.comparisons[name].subgroups]
    return job_files.of_comparisons(experiment, "moderators", alone)


def _task_labels(experiment: Experiment, name: str) -> dict[str, dict[str, str]]:
    folders = [experiment.tasks[task].folder for task in experiment.comparisons[name].tasks]
    return {
        "tasks": {task: label for task, label in labels(experiment)["tasks"].items() if task in folders},
        "systems": {},
    }
