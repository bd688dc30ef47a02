"""What the jobs that a teacher scores by are given, and the trainings that learn from it (rules/distillation.smk)."""

from __future__ import annotations

from scripts.experiment.records import Experiment
from scripts.experiment.results_paths import path
from scripts.training.planning_examples import examples_name, sample_of


def scores(experiment: Experiment, recipe: str, seed: str) -> str | list[str]:
    """The teacher's scores of the examples that a recipe learns from with a seed; none where it has no teacher."""
    entry = experiment.recipes[recipe]
    if "teacher" not in entry:
        return []
    fields = {"dataset": entry["train_on"], "examples": examples_name(entry, sample_of(entry, int(seed)))}
    return path("teacher_scores", experiment=experiment.name, system=entry["teacher"], **fields)
