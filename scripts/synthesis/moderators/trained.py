"""Whether the treatment learnt from the dataset of the task, or transfers to it; reads and writes nothing."""

from __future__ import annotations

from scripts.synthesis.moderators import TaskFacts

NAME = "trained"
DESCRIPTION = (
    "whether the treatment learnt from the dataset of the task (also by a recipe it starts from) or transfers to it"
)
LABEL = "Training"
NEEDS: tuple[str, ...] = ()
CATEGORICAL = True


def value(facts: TaskFacts) -> str:
    """One of two words."""
    return "trained on it" if facts.trained else "transfer"
