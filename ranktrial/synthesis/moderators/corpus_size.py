"""The size of the corpus; reads and writes nothing."""

from __future__ import annotations

import math

from ranktrial.synthesis.moderators import DOCUMENTS, TaskFacts

NAME = "corpus-size"
DESCRIPTION = "log10 of the number of documents"
LABEL = "Documents (log₁₀)"
NEEDS: tuple[str, ...] = (DOCUMENTS,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """log10 of the number of documents: sizes differ by orders of magnitude."""
    return math.log10(facts.collection["documents"])
