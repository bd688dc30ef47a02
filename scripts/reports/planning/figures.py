"""What the forest plots and tables show, and the names of all figures. See rules/forest_plots.smk, rules/tables.smk."""

from __future__ import annotations

from scripts.experiment.charts import CHART
from scripts.experiment.comparisons import COST_FIGURE
from scripts.experiment.records import Experiment
from scripts.experiment.results_paths import FIGURE_FORMATS, path
from scripts.reports.planning.costs import cost_figures
from scripts.reports.planning.labels import labels

OF_NUMBERS = ("alpha", "estimator", "interval")
LOOKS = ("title", "width")  # of a figure, and of no table


def forest_plots(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Forest plot -> the comparisons in it: one for each, and those that are drawn together."""
    return {name: (name,) for name in experiment.comparisons} | experiment.figures


def figures(experiment: Experiment) -> list[str]:
    """The names of all figures."""
    charts = [CHART + name for name in experiment.charts]
    costs = [COST_FIGURE + name for name in cost_figures(experiment)]
    return [*forest_plots(experiment), *charts, *costs]


def figure_files(experiment: Experiment, formats: tuple[str, ...] = FIGURE_FORMATS) -> list[str]:
    """The files of all figures."""
    return [
        path("figure", experiment=experiment.name, figure=name, figure_format=figure_format)
        for name in figures(experiment)
        for figure_format in formats
    ]


def figure_settings(experiment: Experiment, name: str) -> dict:
    """How the numbers of a comparison are shown, and its figure's looks."""
    comparison = experiment.comparisons[name]
    measures = experiment.tasks[comparison.tasks[0]].measures
    judged = next((measure for measure in measures if measure.startswith("Judged@")), "")
    numbers = {key: comparison.settings[key] for key in OF_NUMBERS}
    looks = {key: value for key, value in comparison.figure.items() if key != "together"}
    return numbers | looks | {"judged": judged}


def forest_settings(experiment: Experiment, name: str) -> dict:
    """How a forest plot looks; of the labels those that it shows, so that no other label draws it again."""
    compared = [experiment.comparisons[member] for member in forest_plots(experiment)[name]]
    first = compared[0]
    tasks = [experiment.tasks[task].folder for task in first.tasks]
    systems = [first.control, *(comparison.named(comparison.treatment) for comparison in compared)]
    every = labels(experiment)
    shown = {
        "tasks": {task: label for task, label in every["tasks"].items() if task in tasks},
        "systems": {system: label for system, label in every["systems"].items() if system in systems},
    }
    return {**figure_settings(experiment, first.name), "labels": shown}


def adjusting_table(experiment: Experiment, name: str) -> list[str]:
    """The table with the p-values of all summaries, where a forest plot corrects for their number."""
    first = experiment.comparisons[forest_plots(experiment)[name][0]]
    corrected = first.figure["correction"] != "none"
    return [path("comparisons", experiment=experiment.name, table_format="tsv")] if corrected else []


def table_settings(experiment: Experiment) -> dict[str, dict]:
    """How the numbers of all comparisons are shown in tables."""
    shown = {name: figure_settings(experiment, name) for name in experiment.comparisons}
    return {
        name: {key: value for key, value in settings.items() if key not in LOOKS} for name, settings in shown.items()
    }
