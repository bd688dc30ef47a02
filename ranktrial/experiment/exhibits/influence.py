"""Influence: what each task of a comparison contributes to its summary, in a figure that the comparison asks for."""

from __future__ import annotations

from ranktrial.experiment.exhibits import Exhibit, Shown, forest
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

NAME = "influence"
PREFIX, DESCRIPTION = "influence-", "figures of influence"
CATEGORY = "Influence"
CAPTION = (
    "The influence of each task on the summary of a comparison: the summary without it, Cook's distance, and the "
    "Baujat plot of its contribution to the heterogeneity against its influence on the summary."
)
MIN_TASKS = 3  # one of two tasks left out leaves nothing to synthesise


def names(experiment: Experiment) -> list[str]:
    """The figures of the comparisons that ask for one and have enough tasks."""
    return [
        PREFIX + name
        for name, comparison in experiment.comparisons.items()
        if comparison.figure.influence and len(comparison.tasks) >= MIN_TASKS
    ]


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The table of influence and the summary, with the labels that the figure shows."""
    compared = name.removeprefix(PREFIX)
    inputs = {
        "table": [path("influence_table", experiment=experiment.name, comparison=compared)],
        "meta": [path("meta", experiment=experiment.name, comparison=compared)],
    }
    settings = {
        "alpha": experiment.comparisons[compared].statistics.alpha,
        "labels": forest.shown_labels(experiment, compared),
        **forest.font_of(experiment, compared),
    }
    return Exhibit(inputs, settings, (compared,))


def shown(experiment: Experiment, name: str) -> Shown:
    """Folded, at the end of its comparison."""
    title, compared = "Influence of each task", name.removeprefix(PREFIX)
    shows = f"{title}, {compared}. The table of influence has the numbers."
    return Shown(section=f"comparison-{compared}", folded=title, caption=f"{title}.", shows=shows)
