"""Queries: the differences of all queries of a comparison, in a figure that the comparison asks for."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.exhibits import Exhibit, Shown, forest
from ranktrial.experiment.labels import are_of_tasks, of_tasks_setting
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.ir.nouns import nouns_of

NAME = "queries"
PREFIX, DESCRIPTION = "queries-", "figures of queries"
CATEGORY = "Queries"
CAPTION = (
    "The differences of all queries of a comparison: sorted, as rainclouds, and how many each system wins, with the "
    "probability that the treatment wins a query (ties half)."
)


def names(experiment: Experiment) -> list[str]:
    """The figures of the comparisons that ask for one."""
    return [PREFIX + name for name, comparison in experiment.comparisons.items() if comparison.figure.queries]


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The differences with their table, what is compared, and the labels that the figure shows."""
    compared = name.removeprefix(PREFIX)
    inputs = {
        "differences": [path("query_differences", experiment=experiment.name, comparison=compared)],
        "table": [path("queries_table", experiment=experiment.name, comparison=compared)],
    }
    return Exhibit(inputs, settings(experiment, compared))


def settings(experiment: Experiment, name: str) -> JsonObject:
    """The labels in the figure of a comparison, and what is compared."""
    comparison, called = experiment.comparisons[name], forest.shown_labels(experiment, name)
    control, treatment = comparison.names()
    return {
        **{key: getattr(comparison.statistics, key) for key in ("measure", "alpha")},
        **({"lower_is_better": True} if experiment.is_lower_better(comparison) else {}),
        **of_tasks_setting(experiment, comparison.tasks),
        "control": called["systems"].get(control, control),
        "treatment": called["systems"].get(treatment, treatment),
        "labels": {"tasks": called["tasks"], "systems": {}},
        **forest.font_of(experiment, name),
    }


def shown(experiment: Experiment, name: str) -> Shown:
    """Folded, at the end of its comparison."""
    compared = name.removeprefix(PREFIX)
    comparison = experiment.comparisons[compared]
    nouns = nouns_of(comparison.statistics.measure, are_of_tasks(experiment, comparison.tasks))
    title = nouns.say("Differences of all queries")
    shows = f"{title}, {compared}. The table of {nouns.queries} gives the number that each system wins."
    return Shown(section=f"comparison-{compared}", folded=title, caption=f"{title}.", shows=shows)
