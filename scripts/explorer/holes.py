"""Holes: what a comparison would be if its unjudged documents near the top were relevant; reads and writes nothing.

A hole is a document that nobody judged and that stands, in any seed of either system, among the first documents of a
query: as many as the measure counts, or NEAR_TOP. trec_eval counts it as not relevant: the comparison as it stands is
the case where no hole is relevant. Three others are computed with the same measure, with grade 1 for some holes:

    all          all of them are relevant
    treatment    those that the treatment ranks higher are relevant (by 1 / log2(1 + rank), mean over seeds), others not
    control      those that the control ranks higher are
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scripts.explorer.values import NEAR_TOP, judged
from scripts.ir.measure_names import cutoff, parse
from scripts.ir.measures import evaluate
from scripts.ir.trec import Qrels, Run, ranking

CASES = ("all", "treatment", "control")
GRADE = 1


@dataclass(frozen=True)
class Holes:
    """By query: the number of holes, and treatment minus control in each case (shape: queries)."""

    number: np.ndarray
    differences: dict[str, np.ndarray]


def near_top(measure: str) -> int:
    """The number of documents among which holes are looked for."""
    return cutoff(parse(measure)) or NEAR_TOP


def holes(control: Sequence[Run], treatment: Sequence[Run], qrels: Qrels, measure: str) -> Holes:
    """The holes of two systems, each with the runs of its seeds."""
    first = near_top(measure)
    gains = {query: _gains(control, treatment, query, qrels[query], first) for query in qrels}
    sides = {"all": lambda gain: True, "treatment": lambda gain: gain > 0, "control": lambda gain: gain < 0}
    differences = {}
    for case, holds in sides.items():
        filled = {query: grades | _filled(gains[query], holds) for query, grades in qrels.items()}
        differences[case] = _mean(treatment, filled, measure) - _mean(control, filled, measure)
    return Holes(np.array([len(gains[query]) for query in qrels]), differences)


def _filled(gains: dict[str, float], holds) -> dict[str, int]:
    return {document: GRADE for document, gain in gains.items() if holds(gain)}


def _gains(
    control: Sequence[Run], treatment: Sequence[Run], query: str, grades: dict[str, int], first: int
) -> dict[str, float]:
    """Each hole of a query, with what the treatment would gain by it over the control."""
    gains: dict[str, float] = {}
    for sign, runs in ((1, treatment), (-1, control)):
        for run in runs:
            for rank, document in enumerate(ranking(run.get(query, {}))[:first], 1):
                if not judged(grades, document):
                    gains[document] = gains.get(document, 0) + sign / (len(runs) * math.log2(1 + rank))
    return gains


def _mean(runs: Sequence[Run], qrels: Qrels, measure: str) -> np.ndarray:
    """The values of a system, one per query: the mean over its seeds."""
    return sum(evaluate(run, qrels, [measure])[measure].to_numpy() for run in runs) / len(runs)


def cut(run: Run, measure: str, qrels: Qrels) -> Run:
    """The documents of a run that a measure looks at: where it has a cut-off, the first."""
    depth = cutoff(parse(measure))
    if depth is None:
        return run
    return {query: _first(run[query], depth) for query in qrels if query in run}


def _first(scores: dict[str, float], depth: int) -> dict[str, float]:
    return {document: scores[document] for document in ranking(scores)[:depth]}
