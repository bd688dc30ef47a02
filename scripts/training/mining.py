"""Candidates for negatives in the rankings of systems, and the filters that take false negatives out.

Names and rules of the filters are those of sentence-transformers' `mine_hard_negatives`, which applies them in this
order. Reads the runs of sources, and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import NamedTuple

from scripts.common.errors import UserError
from scripts.ir.trec import Run, ranking, read_run
from scripts.training.labelled import Collection, Labelled

BM25 = "bm25"
RULES = ("absolute_margin", "relative_margin", "max_score", "min_score")


class Candidate(NamedTuple):
    """A document that a source ranks; `rank` is that source's, from 1."""

    document: str
    source: str
    rank: int


@dataclass(frozen=True)
class Bounds:
    """The scores that a negative may have; None if nothing is said."""

    absolute_margin: float | None = None
    relative_margin: float | None = None
    max_score: float | None = None
    min_score: float | None = None

    def broken(self, score: float, positive: float) -> str | None:
        """The first rule that a candidate's score breaks, with the score of the query's lowest positive; None if none.

        A positive that the ranking of all documents lacks has the score -inf: it lies below all candidates, and each
        of them breaks a margin.
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
    """What is left of each query's candidates, the best first, how many each rule took out, and how many queries have a
    positive that the ranking lacks."""

    left: dict[str, list[Candidate]] = field(default_factory=dict)
    candidates: int = 0
    without_positive: int = 0
    filtered: Counter[str] = field(default_factory=Counter)


def runs_of(sources: list[str], first_stage: list[Path], runs: list[Path]) -> dict[str, Run]:
    """The run of each source: BM25's, and those of the systems in their order."""
    systems = iter(runs)
    return {source: read_run(first_stage[0] if source == BM25 else next(systems)) for source in sources}


def in_turn(rankings: Mapping[str, list[str]], first: int, last: int | None) -> list[Candidate]:
    """The documents at the ranks `first` to `last` (from 0, the last not counted) of each source, in turn.

    The first of each source in the order given, then the second of each …; a document counts where it comes first.
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
    """Each query's candidates in the runs, by source, without what is relevant to it or may be no negative at all."""
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
    """The positives at most at this rank among their query's candidates by scores, these candidates, and how many
    queries have no such positive. A candidate of the same score does not push a positive down."""
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
    """The candidates that break no rule. `scores` hold those of the candidates and, where known, of the positives.

    Of several positives the one with the lowest score counts. With `rescored` the candidates are then ordered by these
    scores (ties as trec_eval breaks them), as another system gave them.
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
