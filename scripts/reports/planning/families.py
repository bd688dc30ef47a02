"""Inputs of the pages of multiple comparisons: files and settings. See rules/pages.smk."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import FIGURE_FORMATS, path
from scripts.reports.planning.labels import labels

PAGES = ("md", "tex")  # the formats of the table that are not written by the comparison itself


def family_files(experiment: Experiment, name: str, **fields: str) -> list[str]:
    """A path of the table for each multiple comparison."""
    return [path(name, experiment=experiment.name, family=family, **fields) for family in experiment.families]


def family_figures(experiment: Experiment, formats: tuple[str, ...] = FIGURE_FORMATS) -> list[str]:
    """The diagrams of all multiple comparisons."""
    return [
        file
        for figure_format in formats
        for file in family_files(experiment, "family_figure", figure_format=figure_format)
    ]


def family_pages(experiment: Experiment) -> list[str]:
    """The tables of all multiple comparisons to read."""
    return [
        file for table_format in PAGES for file in family_files(experiment, "family_table", table_format=table_format)
    ]


def family_settings(experiment: Experiment, name: str) -> dict:
    """A diagram's title, and the labels that it shows."""
    family, every = experiment.families[name], labels(experiment)
    tasks = [experiment.tasks[task].folder for task in family.tasks]
    shown = {
        "tasks": {task: label for task, label in every["tasks"].items() if task in tasks},
        "systems": {system: label for system, label in every["systems"].items() if system in family.systems},
    }
    return {"labels": shown, **({"title": family.title} if family.title else {})}
