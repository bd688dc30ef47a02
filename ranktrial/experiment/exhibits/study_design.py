"""Study designs: what a further study could detect, one figure per plan."""

from __future__ import annotations

from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.labels import system_labels
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

NAME = "study-design"
PREFIX, DESCRIPTION = "study-design-", "figures of study designs"
CATEGORY = "Study designs"
CAPTION = (
    "What a further study could detect: the smallest effect that would be detected, or the expected half-width of the "
    "interval, against the queries of each collection, the collections and the seeds of each trained system."
)
ON_PAGE = False


def names(experiment: Experiment) -> list[str]:
    """The figures of all plans."""
    return [PREFIX + plan for plan in experiment.study.plans]


def asked(experiment: Experiment) -> bool:
    """Whether they are made with the other results: if the configuration plans a study."""
    return experiment.study.configured


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """A plan, with the labels of systems."""
    plan = path("study_design", experiment=experiment.name, plan=name.removeprefix(PREFIX))
    return Exhibit({"plan": [plan]}, {"labels": system_labels(experiment)})
