"""Holes: the result of a comparison if its unjudged documents were relevant; reads and writes nothing.

A hole is an unjudged document that is, in any seed of either system, among the documents of a query that the measure
counts: the first k for nDCG@k, all for AP. trec_eval counts it as not relevant: the comparison itself is the case in
which no hole is relevant. Three other cases are computed with the same measure, in which some holes have the highest
grade of the task's judgements:

    all          all of them are relevant
    treatment    those that the treatment ranks higher (by 1 / log2(1 + rank), mean over seeds) are relevant, others not
    control      those that the control ranks higher are relevant, others not

The lowest and the highest difference that judgements can give are sought among more ways to judge the holes of a query
(`extremes`): in the order of that gain, the first m are relevant or the last m, for all m, or each alone. For P, RBP,
nDCG, RR and Success with one seed, no other way gives a lower or a higher difference; for R and AP, few do, by little.

Rank-biased precision has a residual beyond the run, p^d after d documents. If the holes of a system are relevant, so
are all documents after the run: its value then includes the whole residual of Moffat and Zobel (2008, TOIS 27(1),
section 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np

from ranktrial.ir.measure_names import by_subtopic, cutoff, follows_instructions, parse
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import Qrels, Run, judged, ranking, top

ALL, OF_TREATMENT, OF_CONTROL = "all", "treatment", "control"
CASES: dict[str, Callable[[float], bool]] = {  # whether a hole is relevant, by the gain of the treatment from it
    ALL: lambda gain: True,
    OF_TREATMENT: lambda gain: gain > 0,
    OF_CONTROL: lambda gain: gain < 0,
}
EFFORT = 1_000_000  # documents and judgements read to find extremes: for deep rankings of many queries, fewer ways
FEWEST_WAYS = 7
SKIP_UNJUDGED = ("Bpref", "Judged", "infAP", "NumQ", "NumRel")


@dataclass(frozen=True)
class Case:
    """The values of both systems in a case (each of shape: queries, seeds)."""

    control: np.ndarray
    treatment: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        """Treatment minus control by query, each the mean over its seeds."""
        difference: np.ndarray = self.treatment.mean(axis=1) - self.control.mean(axis=1)
        return difference


@dataclass(frozen=True)
class Holes:
    """By query (shape: queries, in the order of the qrels): the holes, and all documents that count; and the cases."""

    number: np.ndarray
    documents: np.ndarray
    cases: dict[str, Case]


def has_holes(measure: str) -> bool:
    """Whether a measure counts unjudged documents as not relevant, and judgements by document are known: not one by
    subtopic, of judged documents only (`judged_only=True`), or that skips unjudged ones by definition.
    """
    parsed = parse(measure)
    skips = parsed.NAME in SKIP_UNJUDGED or parsed.params.get("judged_only", False)
    return not (skips or by_subtopic(measure) or follows_instructions(measure))


def holes(control: Sequence[Run], treatment: Sequence[Run], qrels: Qrels, measure: str) -> Holes:
    """The holes of two systems, each with the runs of its seeds."""
    parsed = parse(measure)
    of_all = {query: _gains(control, treatment, query, cutoff(parsed)) for query in qrels}
    gains, grade = _of_holes(of_all, qrels), _highest_grade(parsed, qrels)
    after_control, after_treatment = (_tails(runs, qrels, parsed) for runs in (control, treatment))
    cases = {}
    for case, holds in CASES.items():
        filled = {query: grades | _filled(gains[query], holds, grade) for query, grades in qrels.items()}
        cases[case] = Case(
            values(control, filled, measure) + after_control * (case != OF_TREATMENT),
            values(treatment, filled, measure) + after_treatment * (case != OF_CONTROL),
        )
    number, documents = (np.array([len(of[query]) for query in qrels]) for of in (gains, of_all))
    return Holes(number, documents, cases)


def extremes(control: Sequence[Run], treatment: Sequence[Run], qrels: Qrels, measure: str) -> tuple[Case, Case]:
    """Each query judged in the way with the lowest difference, and in that with the highest."""
    parsed = parse(measure)
    gains = _of_holes({query: _gains(control, treatment, query, cutoff(parsed)) for query in qrels}, qrels)
    grade, ranked = _highest_grade(parsed, qrels), (*control, *treatment)
    read = sum(len(scores) for run in ranked for scores in run.values()) + sum(map(len, qrels.values()))
    ways = {query: _ways(gains[query], max(FEWEST_WAYS, EFFORT // max(read, 1))) for query in qrels}
    cases = []
    for number in range(max(map(len, ways.values()))):
        chosen = {query: of_query[min(number, len(of_query) - 1)] for query, of_query in ways.items()}
        filled = {query: grades | dict.fromkeys(chosen[query], grade) for query, grades in qrels.items()}
        cases.append(Case(values(control, filled, measure), values(treatment, filled, measure)))
    lowest, highest = (_chosen(cases, choose) for choose in (np.argmin, np.argmax))
    after_control, after_treatment = (_tails(runs, qrels, parsed) for runs in (control, treatment))
    return (
        Case(lowest.control + after_control, lowest.treatment),
        Case(highest.control, highest.treatment + after_treatment),
    )


def _ways(gains: Mapping[str, float], most: int) -> list[list[str]]:
    """The holes that are relevant, in each way to judge them: at most so many, of which some are always tried."""
    order = sorted(gains, key=lambda document: -gains[document])
    above, below = (sum(sign * gain > 0 for gain in gains.values()) for sign in (1, -1))
    always = [[], order, order[:above], order[len(order) - below :], *([one] for one in order[:1] + order[-1:])]
    places = range(1, len(order))
    ways = [*(order[:m] for m in places), *(order[m:] for m in places), *([one] for one in order[1:-1])]
    count = min(len(ways), max(0, most - len(always)))
    some = [ways[place] for place in np.linspace(0, len(ways) - 1, count).astype(int).tolist()]
    return list(map(list, dict.fromkeys(map(tuple, always + some))))


def _chosen(cases: Sequence[Case], choose: Callable[..., np.ndarray]) -> Case:
    """For each query, the case whose difference is chosen."""
    place = choose([case.difference for case in cases], axis=0)
    every = np.arange(len(place))
    control, treatment = (np.stack([getattr(case, side) for case in cases]) for side in ("control", "treatment"))
    return Case(control[place, every], treatment[place, every])


def _of_holes(gains: Mapping[str, Mapping[str, float]], qrels: Qrels) -> dict[str, dict[str, float]]:
    """The gains of the unjudged documents of each query."""
    return {
        query: {document: gain for document, gain in of_query.items() if not judged(qrels[query], document)}
        for query, of_query in gains.items()
    }


def _highest_grade(measure: ir_measures.Measure, qrels: Qrels) -> int:
    return max(int(measure.params.get("rel", 1)), *(grade for grades in qrels.values() for grade in grades.values()))


def _filled(gains: Mapping[str, float], holds: Callable[[float], bool], grade: int) -> dict[str, int]:
    return {document: grade for document, gain in gains.items() if holds(gain)}


def _gains(control: Sequence[Run], treatment: Sequence[Run], query: str, first: int | None) -> dict[str, float]:
    """Each document of a query that counts, with the gain of the treatment over the control if it were relevant."""
    gains: dict[str, float] = {}
    for sign, runs in ((1, treatment), (-1, control)):
        for run in runs:
            for rank, document in enumerate(ranking(run.get(query, {}))[:first], 1):
                gains[document] = gains.get(document, 0) + sign / (len(runs) * math.log2(1 + rank))
    return gains


def _tails(runs: Sequence[Run], qrels: Qrels, measure: ir_measures.Measure) -> np.ndarray:
    """The residuals: what documents after the end of each ranking could add to a measure (shape: queries, runs)."""
    if measure.NAME != "RBP":
        return np.zeros((len(qrels), len(runs)))
    depths = [[len(ranking(run.get(query, {}))[: cutoff(measure)]) for run in runs] for query in qrels]
    tails: np.ndarray = measure["p"] ** np.array(depths, dtype=float)
    return tails


def values(runs: Sequence[Run], qrels: Qrels, measure: str) -> np.ndarray:
    """The values of a system (shape: queries, runs)."""
    return np.stack([evaluate(run, qrels, [measure])[measure].to_numpy() for run in runs], axis=1)


def cut(run: Run, measure: str, qrels: Qrels) -> Run:
    """The documents of a run that a measure counts: the first ones, if it has a cut-off."""
    depth = cutoff(parse(measure))
    if depth is None:
        return run
    return {query: top(run[query], depth) for query in qrels if query in run}
