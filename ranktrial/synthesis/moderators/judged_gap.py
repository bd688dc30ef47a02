"""The difference in judged documents between treatment and control; reads and writes nothing."""

from __future__ import annotations

from ranktrial.synthesis.moderators import JUDGED, TaskFacts

NAME = "judged-gap"
DESCRIPTION = (
    "Judged@k of the treatment minus that of the control: how far judgements favour systems like one of the two"
)
LABEL = "Judged@k, treatment minus control"
NEEDS: tuple[str, ...] = (JUDGED,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """The difference in the share of judged documents, which reveals pools that favour one system."""
    control, treatment = facts.effects.control_judged, facts.effects.treatment_judged
    assert control is not None and treatment is not None  # it needs both
    return treatment - control
