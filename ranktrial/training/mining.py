"""Candidate negatives from the rankings of systems, and the filters that remove false negatives.

The names and rules of the filters are those of sentence-transformers' `mine_hard_negatives`, which applies them in this
order. Reads the runs of sources; writes no files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import Run, ranking, read_run
from ranktrial.training.labelled import Collection, Labelled

BM25 = "bm25"
RULES = ("absolute_margin", "relative_margin", "max_score", "min_score")


class Candidate(NamedTuple):
    """A document ranked by a source; `rank` is its rank there, from 1."""

    document: str
    source: str
    rank: int


@dataclass(frozen=True)
class Bounds:
    """The permitted scores of negatives; None means no limit."""

    absolute_margin: float | None = None
    relative_margin: float | None = None
    max_score: float | None = None
    min_score: float | None = None

    def broken(self, score: float, positive: float) -> str | None:
        """The first rule that a candidate's score violates, given the lowest score of the query's positives; else None.

        A positive missing from the ranking of all documents has the score -inf: it is below all candidates, each of
        which then violates a margin.
        """
        if self.absolute_margin is not None and score + self.absolute_margin > positive:
            return "absolute_margin"
        if self.relative_margin is not None and (
            positive == -inf or score > positive - abs(positive) * self.relative_margin
        ):
            return "relative_margin"
        if self.max_score is not None and score > self.max_score:
            return "max_score"
        if self.min_score is not None and score < self.min_score:
            return "min_score"
        return None


@dataclass
class Mined:
    """The remaining candidates of each query, the best first, and counts.

    `candidates` is the number before filtering, `without_positive` the number of queries with a positive that is not in
    the ranking, and `filtered` the number of candidates that each rule removed.
    """

    left: dict[str, list[Candidate]] = field(default_factory=dict)
    candidates: int = 0
    without_positive: int = 0
    filtered: Counter[str] = field(default_factory=Counter)


def runs_of(sources: list[str], first_stage: list[Path], runs: list[Path]) -> dict[str, Run]:
    """The run of each source: BM25's, and those of the systems in order."""
    systems = iter(runs)
    return {source: read_run(first_stage[0] if source == BM25 else next(systems)) for source in sources}


def in_turn(rankings: Mapping[str, list[str]], first: int, last: int | None) -> list[Candidate]:
    """The documents at ranks `first` to `last` (from 0, excluding `last`) of the sources, interleaved.

    The first document of each source in the given order, then the second of each, and so on; a document is kept at its
    first occurrence.
    """
    ranges = [
        [Candidate(document, source, rank) for rank, document in enumerate(ranked[:last], 1)][first:]
        for source, ranked in rankings.items()
    ]
    found: dict[str, Candidate] = {}
    for tier in zip_longest(*ranges):
        for candidate in filter(None, tier):
            found.setdefault(candidate.document, candidate)
    return list(found.values())


def candidates(
    read: Collection, found: Labelled, runs: Mapping[str, Run], first: int, last: int | None
) -> dict[str, list[Candidate]]:
    """Each query's candidates in the runs, by source, without documents that are relevant or must not be negatives."""
    allowed = set(read.pool)
    listed = {}
    for query, unfit in found.unfit.items():
        rankings = {source: ranking(one.get(query, {})) for source, one in runs.items()}
        listed[query] = [
            one for one in in_turn(rankings, first, last) if one.document in allowed and one.document not in unfit
        ]
    return listed


def finding(
    found: Labelled, listed: dict[str, list[Candidate]], scores: Run, within: int | None
) -> tuple[Labelled, dict[str, list[Candidate]], int]:
    """The positives ranked by scores at most `within` among their query's candidates.

    Also returns the candidates of the remaining queries, and the number of queries without such a positive. A candidate
    with the same score does not lower a positive's rank. Raises UserError if no query remains.
    """
    if within is None:
        return found, listed, 0
    kept = {}
    for query, positives in found.positives.items():
        others = [scores[query][one.document] for one in listed[query]]
        ranks = {name: 1 + sum(other > scores[query][name] for other in others) for name in positives}
        kept[query] = [name for name in positives if ranks[name] <= within]
    left = {query: positives for query, positives in kept.items() if positives}
    lost = len(kept) - len(left)
    if not left:
        raise UserError(f"none of the {lost} training queries finds its document within rank {within}")
    return found._replace(positives=left), {query: listed[query] for query in left}, lost


def filtered(
    listed: Mapping[str, list[Candidate]],
    positives: Mapping[str, list[str]],
    scores: Run,
    bounds: Bounds,
    rescored: bool,
) -> Mined:
    """The candidates that violate no rule. `scores` contains those of candidates and, if known, of positives.

    Of several positives, the one with the lowest score counts. With `rescored`, the candidates are then ordered by
    these scores, which come from another system (ties broken as in trec_eval).
    """
    mined = Mined()
    for query, ones in listed.items():
        of_query = scores.get(query, {})
        positive = min(of_query.get(document, -inf) for document in positives[query])
        mined.without_positive += positive == -inf
        left = []
        for one in ones:
            rule = bounds.broken(of_query[one.document], positive)
            mined.filtered.update([rule] if rule else [])
            left += [] if rule else [one]
        if rescored:
            by_name = {one.document: one for one in left}
            left = [by_name[name] for name in ranking({name: of_query[name] for name in by_name})]
        mined.left[query] = left
        mined.candidates += len(ones)
    return mined
