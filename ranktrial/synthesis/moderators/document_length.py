"""The length of documents; reads and writes nothing."""

from __future__ import annotations

import math

from ranktrial.synthesis.moderators import DOCUMENTS, TaskFacts

NAME = "document-length"
DESCRIPTION = "log10 of the mean number of words per document"
LABEL = "Words per document (log₁₀)"
NEEDS: tuple[str, ...] = (DOCUMENTS,)
CATEGORICAL = False


def value(facts: TaskFacts) -> float:
    """log10 of the mean number of words (split at white space): lengths differ by orders of magnitude."""
    return math.log10(facts.collection["mean_document_words"])
