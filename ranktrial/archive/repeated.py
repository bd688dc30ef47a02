"""How archive B differs from archive A and how well it reproduces it (ranktrial/statistics/reproduction.py).

Runs that both have are compared as rankings and, per measure, by their scores per query; comparisons that both have, by
the means of control and treatment; and configuration, data, models, sources and packages by their values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from ranktrial.archive import layout
from ranktrial.archive.expected import read_configuration
from ranktrial.archive.moved import Side, number
from ranktrial.archive.shapes import read_record
from ranktrial.common.errors import UserError
from ranktrial.common.paths import below
from ranktrial.common.strict_json import read_json
from ranktrial.experiment import results_paths
from ranktrial.ir.trec import Run, ranking, read_run
from ranktrial.statistics.reproduction import (
    delta_relative_improvement,
    effect_ratio,
    kendalls_tau_union,
    rank_biased_overlap,
    root_mean_square_error,
)

NONE = "none"
MOST = 200_000  # values of a record, with aliases expanded
RunName = tuple[str, str, str]  # task, system, seed


@dataclass(frozen=True)
class Difference:
    """One value that differs, in A and in B (NONE if it does not exist there)."""

    section: str
    what: str
    a: str
    b: str


def flattened(value) -> dict[str, str]:
    """Nested mappings as one, with keys joined by dots; other values as JSON. Raises UserError above MOST values."""
    values: dict[str, str] = {}
    waiting = [("", value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict) and part:
            waiting += [(f"{key}.{name}" if key else str(name), inner) for name, inner in reversed(part.items())]
        else:
            values[key] = part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=str)
        if len(values) + len(waiting) > MOST:
            raise UserError(f"{key.partition('.')[0]}: contains more than {MOST} values")
    return values


def differing(section: str, a: dict[str, str], b: dict[str, str]) -> list[Difference]:
    """The keys whose values differ between `a` and `b`."""
    keys = [*a, *(key for key in b if key not in a)]
    return [Difference(section, key, a.get(key, NONE), b.get(key, NONE)) for key in keys if a.get(key) != b.get(key)]


def differences(a: Path, b: Path) -> list[Difference]:
    """All differences between two unpacked archives. Raises UserError for records that cannot be read."""
    result = differing("configuration", *(flattened(read_configuration(folder, layout.RESOLVED)) for folder in (a, b)))
    result += differing("data and models", *(flattened(read_record(folder, layout.IDENTITIES)) for folder in (a, b)))
    result += differing("sources", *(_sources(folder) for folder in (a, b)))
    result += differing("packages", *(_packages(folder) for folder in (a, b)))
    return result + differing("machine", *(_machines(folder) for folder in (a, b)))


def _sources(folder: Path) -> dict[str, str]:
    files = read_json(folder / layout.MANIFEST)["files"]
    commit = {"commit": read_record(folder, layout.ORIGIN)["commit"] or NONE}
    listed = {name: entry["sha256"][:12] for name, entry in files.items() if name.startswith(layout.WORKFLOW)}
    return commit | listed


def _packages(folder: Path) -> dict[str, str]:
    environments = read_record(folder, layout.PACKAGES)
    return {
        f"{name}: {key}": value
        for name, environment in environments.items()
        for key, value in flattened(environment).items()
    }


def _machines(folder: Path) -> dict[str, str]:
    """`rule: driver`, `rule: device` and `rule: processor` -> the values of all jobs of the rule."""
    machines: dict[str, set[str]] = {}
    for job in read_record(folder, layout.JOBS):
        machine = job["machine"] or {}
        for key, value in {"driver": job["driver"], **{k: machine.get(k) for k in ("device", "processor")}}.items():
            if value:
                machines.setdefault(f"{job['rule']}: {key}", set()).add(str(value))
    return {key: ", ".join(sorted(values)) for key, values in machines.items()}


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


def reproduced(repeated: Repeated, shown: int) -> list[str]:
    """Its lines: the first `shown` rankings and scores that differ, and all effects."""
    rankings = [row for row in repeated.rankings if row.rank_biased_overlap != 1]
    scores = [row for row in repeated.scores if row.root_mean_square_error]
    return [
        f"{len(repeated.rankings)} runs are in both archives; {len(rankings)} of them rank differently"
        f"{_where(rankings, shown, 'rankings')}.",
        *_table(
            ("task", "system", "seed", "Kendall's tau union", "rank-biased overlap"),
            (
                (
                    row.task,
                    row.system,
                    row.seed,
                    shown_number(row.kendalls_tau_union),
                    shown_number(row.rank_biased_overlap),
                )
                for row in rankings[:shown]
            ),
        ),
        f"Of {len(repeated.scores)} means of a measure, {len(scores)} have another value for some query"
        f"{_where(scores, shown, 'scores')}.",
        *_table(
            ("task", "system", "seed", "measure", "A", "B", "RMSE over queries"),
            (
                (
                    row.task,
                    row.system,
                    row.seed,
                    row.measure,
                    *map(shown_number, (row.a, row.b, row.root_mean_square_error)),
                )
                for row in scores[:shown]
            ),
        ),
        "Effect ratio: B's improvement of treatment over control in shares of A's (1: as large). Delta relative "
        "improvement: A's relative improvement minus B's (0: the same).",
        *_table(
            ("comparison", "task", "measure", "effect ratio", "delta relative improvement"),
            (
                (
                    row.comparison,
                    row.task,
                    row.measure,
                    shown_number(row.effect_ratio),
                    shown_number(row.delta_relative_improvement),
                )
                for row in repeated.effects
            ),
        ),
    ]


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The lines of a table between empty lines; one empty line if it has no row."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return ["", f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}", *lines, ""] if lines else [""]


def _where(rows: list, shown: int, table: str) -> str:
    return f" (the first {shown} below, all in {table}.tsv)" if len(rows) > shown else ""


def shown_number(value: float | None) -> str:
    """Four decimals; empty if there is no value."""
    return "" if value is None else f"{value:.4f}"


def cell(text: str) -> str:
    """Text of an archive as a cell of a table: 80 printable characters without markup."""
    text = "".join(character if character.isprintable() else " " for character in text[:80])
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
