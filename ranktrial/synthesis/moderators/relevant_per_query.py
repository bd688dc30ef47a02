"""The number of relevant documents; reads and writes nothing."""

from __future__ import annotations

from ranktrial.synthesis.moderators import JUDGEMENTS, TaskFacts

NAME = "relevant-per-query"
DESCRIPTION = "number of relevant documents per query"
LABEL = "Relevant documents per query"
NEEDS: tuple[str, ...] = (JUDGEMENTS,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """The mean number of documents judged relevant."""
    return float(facts.split["relevant"] / facts.split["queries"])
