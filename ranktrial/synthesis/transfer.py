"""Studies of transfer: the values of their systems, curves over training queries, the matrix of sources and targets.

The values of the systems of a study of transfer: by target, query, system and seed.

Reads metrics/{task}/{system}/seed-{seed}.tsv. A target's systems are compared on the queries that all of them
have.

Curves over the number of training queries: each point's samples and its comparisons; reads nothing.

A point is a system trained from one starting point with a number of the target's queries; its seeds are its samples.
The starting point itself is the point with 0 queries.

The matrix of sources and targets: each cell's mean, and the tests behind its marks.

Mokrii, Boytsov and Braslavski (2021), table 1: # marks pseudo-labels against the baseline, * a transferred model
against pseudo-labels, both by a paired t-test. Adjusted p-values are Holm's over all tests of one kind in the matrix.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy import special

from ranktrial.common.projection import filled
from ranktrial.experiment.results_paths import fields_of
from ranktrial.experiment.synthesis_records import ZERO, CurvePoint, MatrixCell
from ranktrial.records.curves import ALL, AgainstStart, Baseline, CurvesRecord, Pair
from ranktrial.records.curves import Point as Measured
from ranktrial.statistics.measure_scale import Range, range_of
from ranktrial.statistics.significance import difference_of, holm
from ranktrial.synthesis.metrics_files import by_task_and_system, on_common_queries, read_scores


@dataclass(frozen=True)
class Values:
    """A system on a target: `table` has one row per query and one column per seed, whose names are `seeds`."""

    table: np.ndarray
    seeds: tuple[str, ...]

    @property
    def queries(self) -> np.ndarray:
        """The mean over the seeds of each query."""
        return np.asarray(self.table.mean(axis=1))

    @property
    def samples(self) -> dict[str, float]:
        """The mean over the queries of each seed."""
        return dict(zip(self.seeds, map(float, self.table.mean(axis=0)), strict=True))

    def of_seed(self, seed: int | None) -> Values:
        """The values of one seed; all values for None, and if there is no such seed."""
        if seed is None or str(seed) not in self.seeds:
            return self
        place = self.seeds.index(str(seed))
        return Values(self.table[:, place : place + 1], (str(seed),))

    @property
    def mean(self) -> float:
        """The mean over queries and seeds."""
        return float(self.table.mean())


def range_on(values: Mapping[str, Values], measure: str) -> Range | None:
    """The range of the measure on the scale of the values of a target's systems; None if it is unknown."""
    return range_of(measure, (system.table for system in values.values()))


def reach_on(values: Mapping[str, Values], measure: str) -> float | None:
    """The largest difference that the measure allows on that scale; None if it is unknown."""
    found = range_on(values, measure)
    return found.reach if found else None


def read_values(paths: list[Path], measure: str) -> tuple[dict[str, dict[str, Values]], list[str]]:
    """Target -> system -> values; and a text about queries left out."""
    found: dict[str, dict[str, Values]] = {}
    said = []
    for target, files in by_task_and_system(paths).items():
        tables = {system: read_scores(of_system, measure).values for system, of_system in files.items()}
        common, left_out = on_common_queries({name: table.mean(axis=1) for name, table in tables.items()}, target)
        said += [left_out] if left_out else []
        found[target] = {
            system: Values(
                table.loc[common.index].to_numpy(), tuple(fields_of("metrics", path)["seed"] for path in files[system])
            )
            for system, table in tables.items()
        }
    return found, said


OF_DIFFERENCE = ("difference", "ci_low", "ci_high", "p_value")


@dataclass(frozen=True)
class Point(CurvePoint):
    """A system's position on a curve, and its training."""

    checkpoint: Annotated[str, "{model}/{recipe}, whose training says how many queries all are"] = ""
    start_seed: Annotated[int | None, "of the start, from which all go on; none: each from its own"] = None


@dataclass(frozen=True)
class CurvesSettings:
    """Curves: the systems of their points, and the baseline, drawn as a line."""

    measure: Annotated[str, "column of the metrics files"]
    alpha: Annotated[float, "1 - alpha is the level of the intervals"]
    baseline: Annotated[str, "system"]
    points: list[Point]
    datasets: Annotated[dict[str, str], "target: its dataset"]


def curves_record(
    settings: CurvesSettings, values: Mapping[str, Mapping[str, Values]], sizes: Mapping[tuple[str, str], int]
) -> CurvesRecord:
    """The points by target and start, in ascending order; and the comparison of starting points with all queries.

    `sizes` are the numbers of queries in `all`, by target and start.
    """

    def size(point: Point) -> int:
        return sizes[point.target, point.start] if point.queries == ALL else int(point.queries)

    order = {key: place for place, key in enumerate(dict.fromkeys((p.target, p.start) for p in settings.points))}
    points = sorted(settings.points, key=lambda point: (order[point.target, point.start], size(point)))
    targets = dict.fromkeys(point.target for point in points)
    baselines = {target: values[target][settings.baseline] for target in targets}
    return CurvesRecord(
        measure=settings.measure,
        alpha=settings.alpha,
        baseline={target: Baseline(found.mean, len(found.table)) for target, found in baselines.items()},
        points=tuple(_point(point, size(point), settings, values[point.target]) for point in points),
        full=tuple(pair for target in targets for pair in _full(points, target, values[target], settings)),
    )


def _point(point: Point, size: int, settings: CurvesSettings, values: Mapping[str, Values]) -> Measured:
    own = values[point.system]
    means = list(own.samples.values())
    return filled(
        Measured,
        point,
        size=size,
        samples=own.samples,
        mean=own.mean,
        sd=statistics.stdev(means) if len(means) > 1 else None,
        n=len(own.table),
        t_interval=_t_interval(means, settings.alpha, range_on(values, settings.measure)),
        against_baseline=difference_of(
            own.queries, values[settings.baseline].queries, settings.alpha, reach_on(values, settings.measure)
        ),
        against_start=_against_start(point, settings, values),
    )


def _against_start(point: Point, settings: CurvesSettings, values: Mapping[str, Values]) -> AgainstStart | None:
    """A point minus its starting point; each seed starts from the same seed of the start, if it has several."""
    starts = (one for one in settings.points if (one.target, one.start, one.queries) == (point.target, point.start, 0))
    start = next(starts, None)
    if start is None or point.queries == 0:
        return None
    own, before = values[point.system], values[start.system].of_seed(point.start_seed)
    samples = {seed: mean - before.samples.get(seed, before.mean) for seed, mean in own.samples.items()}
    reach = reach_on(values, settings.measure)
    return AgainstStart(difference_of(own.queries, before.queries, settings.alpha, reach), samples)


def _t_interval(means: Sequence[float], alpha: float, measured: Range | None) -> tuple[float, float] | None:
    """The t interval of the mean over samples, within the range of the measure; None for one sample."""
    if len(means) < 2:
        return None
    half = float(-special.stdtrit(len(means) - 1, alpha / 2)) * statistics.stdev(means) / math.sqrt(len(means))
    ends = statistics.mean(means) - half, statistics.mean(means) + half
    return measured.cut(ends) if measured else ends


def _full(points: Sequence[Point], target: str, values: Mapping[str, Values], settings: CurvesSettings) -> list[Pair]:
    """All pairs of starting points with all queries of the target, with Holm's p-values over these pairs."""
    members = [point for point in points if point.target == target and point.queries == ALL]
    pairs = list(itertools.combinations(members, 2))
    how = settings.alpha, reach_on(values, settings.measure)
    found = [difference_of(values[one.system].queries, values[other.system].queries, *how) for one, other in pairs]
    adjusted = holm([difference.p_value for difference in found])
    return [
        Pair(target, one.start, other.start, difference, p_holm)
        for (one, other), difference, p_holm in zip(pairs, found, adjusted, strict=True)
    ]


def curves_rows(found: CurvesRecord) -> pd.DataFrame:
    """One line per point: the columns of tables/curves-{name}.tsv."""
    return pd.DataFrame([_row(point) for point in found.points])


def _row(point: Measured) -> dict[str, object]:
    start = point.against_start.difference if point.against_start else None
    against = {"baseline": point.against_baseline, "start": start}
    return {
        **{key: getattr(point, key) for key in ("target", "start", "queries", "size", "system", "mean")},
        "min": min(point.samples.values()),
        "max": max(point.samples.values()),
        "samples": len(point.samples),
        **{key: getattr(point, key) for key in ("sd", "n")},
        **{f"{role}_{key}": getattr(one, key, None) for role, one in against.items() for key in OF_DIFFERENCE},
    }


SOURCE, BASELINE, PSEUDO = "source", "baseline", "pseudo-labels"
# The test of a zero-shot cell of a kind: the other kind, and the mark of a significant difference.
TESTS = {(PSEUDO, BASELINE): "#", (SOURCE, PSEUDO): "*", (SOURCE, BASELINE): ""}
OF_TEST = ("difference", "ci_low", "ci_high", "t", "df", "p_value")


@dataclass(frozen=True)
class MatrixSettings:
    """A matrix: the systems of its cells, and the level of its marks."""

    measure: Annotated[str, "column of the metrics files"]
    alpha: Annotated[float, "a mark: p < alpha; 1 - alpha is the level of the intervals"]
    cells: Annotated[list[MatrixCell], "in the order of the rows"]


def matrix_rows(settings: MatrixSettings, values: Mapping[str, Mapping[str, Values]]) -> pd.DataFrame:
    """One row per cell, with its tests; cells that do not apply are empty."""
    cells, alpha = settings.cells, settings.alpha
    lines = [_line(cell, values[cell.target][cell.system]) for cell in cells]
    for (kind, against), mark in TESTS.items():
        tested = []
        for cell, line in zip(cells, lines, strict=True):
            other = _zero_shot(cells, against, cell.target)
            if cell.kind == kind and cell.shot == ZERO and other:
                own, its = (values[cell.target][name].queries for name in (cell.system, other.system))
                found = difference_of(own, its, alpha, reach_on(values[cell.target], settings.measure))
                line |= {f"{against}_{name}": value for name, value in asdict(found).items()}
                tested.append((line, found.p_value))
        adjusted = holm([p for _, p in tested])
        for (line, p), p_holm in zip(tested, adjusted, strict=True):
            line[f"{against}_p_holm"] = p_holm
            significant = [value is not None and value < alpha for value in (p, p_holm)]
            line["mark"] += mark * sum(significant)
    columns = [*_line(cells[0], values[cells[0].target][cells[0].system])]
    columns += [f"{against}_{name}" for against in (BASELINE, PSEUDO) for name in (*OF_TEST, "p_holm")]
    return pd.DataFrame(lines, columns=columns)


def _line(cell: MatrixCell, found: Values) -> dict[str, Any]:
    means = list(found.samples.values())
    return {
        "source": cell.row,
        "kind": cell.kind,
        "target": cell.target,
        "shot": cell.shot,
        "system": cell.system,
        "mean": found.mean,
        "sd": statistics.stdev(means) if len(means) > 1 else None,
        "seeds": len(means),
        "n": len(found.table),
        "mark": "",
    }


def _zero_shot(cells: Sequence[MatrixCell], kind: str, target: str) -> MatrixCell | None:
    return next((cell for cell in cells if (cell.kind, cell.target, cell.shot) == (kind, target, ZERO)), None)
