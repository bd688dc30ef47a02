"""What a comparison is over, in words: collections and queries of retrieval, tasks and samples of any other scores.

The measure tells which: those that ir-measures computes, and other common names of these, are of retrieval.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ranktrial.ir.measure_names import canonical

OF_OTHERS = ("Accuracy",)  # in ir-measures a measure of ranked pairs, elsewhere the share of correct samples
FURTHER = re.compile(r"(.*[^a-z])?(ndcg|mrr|map|recall|precision|hits?|hit_rate|success)(@|_at_)\d+|mrr", re.IGNORECASE)


@dataclass(frozen=True)
class Nouns:
    """The words, in singular and plural."""

    collection: str
    collections: str
    query: str
    queries: str

    def say(self, text: str) -> str:
        """A text of ours, which speaks of collections and queries and has no names, in these words."""
        words = re.compile(r"\b(collections?|query|queries)\b", re.IGNORECASE)
        return words.sub(lambda found: _like(found[0], getattr(self, found[0].lower())), text)

    def of_queries(self, number: int) -> str:
        """A number of queries."""
        return f"{number:,} {self.query if number == 1 else self.queries}"


RETRIEVAL = Nouns("collection", "collections", "query", "queries")
SCORES = Nouns("task", "tasks", "sample", "samples")
LEADERBOARD = Nouns("collection", "collections", "task", "tasks")  # a value is the score of a task


def _like(word: str, other: str) -> str:
    """The other word, with a capital if the word has one."""
    return other.capitalize() if word[0].isupper() else other


@cache
def nouns_of(measure: str, of_tasks: bool) -> Nouns:
    """The words for values of a measure, or of several ("nDCG@10, AP", "nDCG@10 and AP"): of retrieval, if one is.

    `of_tasks`: of a leaderboard.
    """
    if of_tasks:
        return LEADERBOARD
    return RETRIEVAL if any(map(_is_of_retrieval, re.split(r", | and ", measure))) else SCORES


def _is_of_retrieval(measure: str) -> bool:
    return (canonical(measure) or OF_OTHERS[0]) not in OF_OTHERS or FURTHER.fullmatch(measure) is not None
