"""The inputs of the jobs that compute a teacher's scores, and of the trainings that use them (rules/training.smk)."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from scripts.training.planning_examples import examples_name, sample_of
from scripts.training.planning_mining import scorer_seed


def scores(experiment: Experiment, recipe: str, seed: str) -> list[str]:
    """The teacher's scores of a recipe's examples for a seed, one file per dataset; empty without a teacher."""
    entry = experiment.recipes[recipe]
    if not entry.teacher:
        return []
    fields = {"system": entry.teacher, "pairs": examples_name(entry, sample_of(entry, int(seed)))}
    fields |= {"experiment": experiment.name, "scored": "teachers"}
    return [
        path("pair_scores", **fields, dataset=dataset, seed=scorer_seed(experiment, dataset, entry.teacher))
        for dataset in entry.datasets
    ]
