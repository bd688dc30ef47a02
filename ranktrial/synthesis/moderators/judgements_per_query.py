"""The depth of the judgements; reads and writes nothing."""

from __future__ import annotations

from ranktrial.synthesis.moderators import JUDGEMENTS, TaskFacts

NAME = "judgements-per-query"
DESCRIPTION = "number of judged documents per query"
LABEL = "Judged documents per query"
NEEDS: tuple[str, ...] = (JUDGEMENTS,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """The mean number of judged documents."""
    return float(facts.split["judgements"] / facts.split["queries"])
