"""A rule-based tagger of documents: the aspects and predicates of their comparative sentences.

A sentence is comparative if it has a comparative (better, more efficient), versus, or compared to. A bare more or less
("more information") counts only if "than" follows. Objects are not searched for, since it matters only whether the
document names those of the question (see features).
"""

from __future__ import annotations

import re

from ranktrial.ir.comparative import Structure
from ranktrial.ir.comparative.aspects import aspects_of, predicates_of
from ranktrial.ir.comparative.words import COMPARATIVES, DEGREES, tokens

_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|\n")
_COMPARING = re.compile(r"\b(?:versus|vs\.?|compared (?:to|with)|in comparison|as opposed to)(?!\w)", re.IGNORECASE)


def tag_document(text: str) -> Structure:
    """The aspects and predicates of a document's comparative sentences, in order, with repetitions."""
    aspects: list[str] = []
    predicates: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        written = tokens(sentence)
        found = [part for part in predicates_of(written) if _compares(part, sentence)]
        found += _COMPARING.findall(sentence)
        if found:
            predicates += found
            aspects += aspects_of(written)
    return Structure((), tuple(aspects), tuple(predicates))


def _compares(predicate: str, sentence: str) -> bool:
    """Whether a predicate makes its sentence comparative: a superlative does not, a bare degree only before "than"."""
    first, *adjective = predicate.lower().split()
    if first in DEGREES:
        return bool(adjective) or " than " in f" {sentence.lower()} "
    return first in COMPARATIVES or first.endswith("er")
