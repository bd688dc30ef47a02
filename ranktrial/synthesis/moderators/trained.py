"""Whether the treatment was trained on the task's dataset, or transfers to it; reads and writes nothing."""

from __future__ import annotations

from ranktrial.synthesis.moderators import TaskFacts

NAME = "trained"
DESCRIPTION = (
    "whether the treatment learnt from the dataset of the task (also by a recipe it starts from) or transfers to it"
)
LABEL = "Training"
NEEDS: tuple[str, ...] = ()
CATEGORICAL = True


def value(facts: TaskFacts) -> str:
    """One of two labels."""
    return "trained on it" if facts.trained else "transfer"
