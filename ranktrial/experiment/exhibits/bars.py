"""Bar charts of means, with the systems of one model side by side: the section `charts` of a configuration."""

from __future__ import annotations

from ranktrial.common.keys import given
from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

NAME = "bars"
PREFIX, DESCRIPTION = "chart-", "charts"
CATEGORY = "Means"
CAPTION = "Bars of the mean of a measure by system, as defined by the configuration's charts."


def names(experiment: Experiment) -> list[str]:
    """The figures of all charts."""
    return [PREFIX + name for name in experiment.charts]


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The table of means, and the resolved chart."""
    means = [path("means", experiment=experiment.name)]
    return Exhibit({"means": means}, given(experiment.charts[name.removeprefix(PREFIX)]))
