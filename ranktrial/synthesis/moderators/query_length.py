"""The length of queries; reads and writes nothing."""

from __future__ import annotations

from ranktrial.synthesis.moderators import DOCUMENTS, TaskFacts

NAME = "query-length"
DESCRIPTION = "mean number of words per query"
LABEL = "Words per query"
NEEDS: tuple[str, ...] = (DOCUMENTS,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """The mean number of words (split at white space)."""
    return float(facts.split["mean_query_words"])
