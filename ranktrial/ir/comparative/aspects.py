"""Aspects and predicates of a text: the respect of a comparison (price, for children), and the comparing words.

A predicate is a comparative or superlative with its degree word: better, more efficient, cheapest. An aspect is what
follows "for" or "in terms of", and the noun after more, less, better or worse: more sugar, a better camera.
"""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.ir.comparative.words import (
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    DEGREES,
    HIGHEST_DEGREES,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    SUBORDINATORS,
    compares,
    is_sign,
    tokens,
)

_NO_ASPECT = PREPOSITIONS | ADVERBS | ARTICLES | AUXILIARIES | PRONOUNS | QUESTION_WORDS | SUBORDINATORS | {"or", "and"}
_ADJECTIVES = ("ive", "ous", "ful", "ent", "ant", "able", "ible", "al", "ic", "less", "ing", "ed", "ular", "ly", "some")
LONGEST = 3  # words of an aspect


def predicates_of(written: list[str]) -> tuple[str, ...]:
    """The comparing words, with the adjective or adverb after more, less, most or least."""
    words = [word.lower() for word in written]
    found = []
    for at, word in enumerate(words):
        if compares(words, at):
            graded = word in DEGREES | HIGHEST_DEGREES and _is_adjective(words, at + 1)
            found.append(" ".join(written[at : at + 2]) if graded else written[at])
    return tuple(found)


def aspects_of(written: list[str], objects: Iterable[str] = ()) -> tuple[str, ...]:
    """The aspects of the text, without objects and parts of objects."""
    words = [word.lower() for word in written]
    of_objects = {word.lower() for name in objects for word in tokens(name)}
    found = []
    for at, word in enumerate(words):
        start = None
        if word == "for" or words[at : at + 3] == ["in", "terms", "of"]:
            start = at + (1 if word == "for" else 3)
        elif (word in DEGREES and not _is_adjective(words, at + 1)) or word in ("better", "worse", "best", "worst"):
            start = at + 1
        if start is not None and (aspect := _from(written, words, start, of_objects)):
            found.append(aspect)
    return tuple(dict.fromkeys(found))


def _is_adjective(words: list[str], at: int) -> bool:
    """Whether the word at this position has the ending of an adjective or adverb; there is no lexicon."""
    return at < len(words) and len(words[at]) > 4 and words[at].endswith(_ADJECTIVES)


def _from(written: list[str], words: list[str], start: int, of_objects: set[str]) -> str:
    while start < len(words) and words[start] in ARTICLES:
        start += 1
    end = start
    while end < min(len(words), start + LONGEST):
        if is_sign(words[end]) or words[end] in _NO_ASPECT or words[end] in of_objects or compares(words, end):
            break
        end += 1
    return " ".join(written[start:end])
