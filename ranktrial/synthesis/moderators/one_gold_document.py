"""Whether queries have a single gold document; reads and writes nothing."""

from __future__ import annotations

from ranktrial.synthesis.moderators import QRELS, TaskFacts

NAME = "one-gold-document"
DESCRIPTION = "share of the queries with exactly one relevant document"
LABEL = "Queries with one relevant document (share)"
NEEDS: tuple[str, ...] = (QRELS,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """The share of the judged queries with exactly one relevant document."""
    relevant = [sum(grade > 0 for grade in documents.values()) for documents in facts.qrels.values()]
    return relevant.count(1) / len(relevant)
