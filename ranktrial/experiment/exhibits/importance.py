"""Importance: what each feature contributes to a ranker that learns from all its features and selects on dev."""

from __future__ import annotations

from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.systems import learning_to_rank as learning

NAME = "importance"
PREFIX, DESCRIPTION = "importance/", "figures of importance"
CATEGORY = "Importance"
CAPTION = "The importance of each feature to the ranker of this name, and the datasets on which it was trained."
ON_PAGE = False  # the report has a table for all rankers


def names(experiment: Experiment) -> dict[str, tuple[str, str]]:
    """Figure -> the ranker, and a dataset from which it is learnt."""
    return {
        f"{PREFIX}{dataset}/{system.name}": (system.name, dataset)
        for system in experiment.systems.values()
        if system.type == learning.NAME and learning.settings_of(system).columns is None
        for dataset in dict.fromkeys(
            learning.source(system, task.ranked_dataset) for task in experiment.runs_of(system)
        )
    }


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The tables of all seeds."""
    ranker, dataset = names(experiment)[name]
    system = experiment.systems[ranker]
    title = f"{system.label}, learnt from {learnt_from(experiment, ranker, dataset)}"
    settings = {"title": title, "measure": learning.settings_of(system).measure}
    return Exhibit({"tables": tables(experiment, ranker, dataset)}, settings)


def tables(experiment: Experiment, system: str, source: str) -> list[str]:
    """The importance of each feature to a ranker, one table per seed."""
    fields = {"experiment": experiment.name, "source": source, "system": system}
    return [path("ranker_importance", **fields, seed=seed) for seed in experiment.systems[system].seeds]


def learnt_from(experiment: Experiment, system: str, source: str) -> str:
    """The labels of the datasets from which a ranker is learnt."""
    named = learning.learns_from(experiment.systems[system]) or [source]
    return ", ".join(experiment.datasets[dataset].label or dataset for dataset in named)
