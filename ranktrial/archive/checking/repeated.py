"""How well archive B reproduces archive A, by the measures of reproduction (ranktrial/statistics/reproduction.py).

Runs that both have are compared as rankings and, per measure, by their scores per query; comparisons that both have, by
the means of control and treatment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from ranktrial.archive.checking.moved import Side, number
from ranktrial.archive.crate import layout
from ranktrial.common.errors import UserError
from ranktrial.common.paths import below
from ranktrial.experiment import results_paths
from ranktrial.ir.trec import Run, ranking, read_run
from ranktrial.statistics.reproduction import (
    delta_relative_improvement,
    effect_ratio,
    kendalls_tau_union,
    rank_biased_overlap,
    root_mean_square_error,
)


@dataclass(frozen=True)
class RepeatedRun:
    """One run in both archives: means over the queries that both rank (None: tau is not defined for any)."""

    task: str
    system: str
    seed: str
    queries: int
    kendalls_tau_union: float | None
    rank_biased_overlap: float | None


@dataclass(frozen=True)
class RepeatedScores:
    """One measure of one run in both archives: the means and the error over the queries that both have."""

    task: str
    system: str
    seed: str
    measure: str
    queries: int
    a: float
    b: float
    root_mean_square_error: float


@dataclass(frozen=True)
class RepeatedEffect:
    """One comparison on one task in both archives: the effect in B against that in A."""

    comparison: str
    task: str
    measure: str
    effect_ratio: float | None
    delta_relative_improvement: float | None


@dataclass(frozen=True)
class Repeated:
    """How well B reproduces A, row by row."""

    rankings: list[RepeatedRun]
    scores: list[RepeatedScores]
    effects: list[RepeatedEffect]


RunName = tuple[str, str, str]  # task, system, seed


def repeated(a: Side, b: Side, shared: dict[str, tuple[dict, dict]]) -> Repeated:
    """All measures of reproduction of two archives; `shared` are the comparisons of both, with their jobs."""
    return Repeated(rankings(a, b), scores(a, b), effects(a, b, shared))


def files_of_runs(side: Side, path: str) -> dict[RunName, str]:
    """The files of an archive at this path of ranktrial/experiment/results_paths.py, by their run."""
    found = {}
    for name in sorted(side.manifest["files"]):
        if layout.kind_of(name, side.manifest["experiment"]) in ("run", "metric"):
            place, fields = results_paths.parse(name)
            if place == path:
                found[fields["task"], fields["system"], fields["seed"]] = name
    return found


def in_both(a: Side, b: Side, path: str) -> Iterator[tuple[RunName, str, str]]:
    """The runs of which both archives have a file at this path, with its name in each."""
    of_a, of_b = files_of_runs(a, path), files_of_runs(b, path)
    return ((run, of_a[run], of_b[run]) for run in of_a if run in of_b)


def rankings(a: Side, b: Side) -> list[RepeatedRun]:
    """One row per run that both archives hold."""
    rows = []
    for run, *names in in_both(a, b, "run"):
        original, again = map(_run, (a, b), names)
        pairs = [(ranking(original[query]), ranking(again[query])) for query in original if query in again]
        means = [_mean(measure(*pair) for pair in pairs) for measure in (kendalls_tau_union, rank_biased_overlap)]
        rows.append(RepeatedRun(*run, len(pairs), *means))
    return rows


def scores(a: Side, b: Side) -> list[RepeatedScores]:
    """One row per metrics file that both archives hold and measure that both have there."""
    rows = []
    for run, *names in in_both(a, b, "metrics"):
        original, again = map(_metrics, (a, b), names)
        for measure in original:
            if measure not in again:
                continue
            queries = [query for query in original[measure] if query in again[measure]]
            values = [np.array([of[measure][query] for query in queries]) for of in (original, again)]
            if queries:
                means = [float(side.mean()) for side in values]
                error = root_mean_square_error(*values)
                rows.append(RepeatedScores(*run, measure, len(queries), *means, error))
    return rows


def effects(a: Side, b: Side, shared: dict[str, tuple[dict, dict]]) -> list[RepeatedEffect]:
    """One row per comparison and task that both archives have."""
    rows = []
    for comparison, (job, _) in shared.items():
        original, again = (_means(side, comparison) for side in (a, b))
        for task in original:
            if task not in again:
                continue
            gains = [treatment - control for control, treatment in (original[task], again[task])]
            delta = delta_relative_improvement(original[task], again[task])
            rows.append(RepeatedEffect(comparison, task, job["settings"]["measure"], effect_ratio(*gains), delta))
    return rows


def _mean(values: Iterator[float | None]) -> float | None:
    """The mean of the defined values."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _run(side: Side, name: str) -> Run:
    try:
        return read_run(below(side.folder, name, "the archive"))
    except UserError as error:
        raise UserError(str(error).replace(f"{side.folder}/", "")) from None


def _metrics(side: Side, name: str) -> dict[str, dict[str, float]]:
    """Measure -> query -> value; empty cells are left out."""
    rows = side.rows(name, ("query_id",))
    measures = [column for column in rows[0] if column != "query_id"] if rows else []
    return {
        measure: {row["query_id"]: number(row[measure], name) for row in rows if row[measure]} for measure in measures
    }


def _means(side: Side, comparison: str) -> dict[str, tuple[float, float]]:
    """Task -> means of control and treatment."""
    name = side.effects_of(comparison)
    columns = ("control_mean", "treatment_mean")
    return {
        row["task"]: (number(row[columns[0]], name), number(row[columns[1]], name))
        for row in side.rows(name, ("task", *columns))
        if row[columns[0]] and row[columns[1]]
    }
