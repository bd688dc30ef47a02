"""Multiple comparisons: a critical-difference diagram of each."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.labels import labels_of
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

NAME = "family"
PREFIX, DESCRIPTION = "multiple-comparisons/", "diagrams of multiple comparisons"
CATEGORY = "Multiple comparisons"
CAPTION = (
    "The systems of a multiple comparison by their means. Bars join those that do not differ significantly in a test "
    "of the whole family."
)


def names(experiment: Experiment) -> list[str]:
    """The diagrams of all multiple comparisons."""
    return [PREFIX + name for name in experiment.families]


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The table and the record of a multiple comparison."""
    family = name.removeprefix(PREFIX)
    fields = {"experiment": experiment.name, "family": family}
    inputs = {"table": [path("family_table", **fields, table_format="tsv")], "record": [path("family", **fields)]}
    return Exhibit(inputs, settings(experiment, family))


def settings(experiment: Experiment, name: str) -> JsonObject:
    """A diagram's title, and the labels that it shows."""
    family = experiment.families[name]
    shown = labels_of(experiment, family.tasks, family.systems)
    return {"labels": shown, **({"title": family.title} if family.title else {})}
