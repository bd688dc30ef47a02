"""Curves over the number of training queries: each point's samples and its comparisons; reads nothing.

A point is a system trained from one starting point with a number of the target's queries; its seeds are its samples.
The starting point itself is the point with 0 queries.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import pandas as pd
from scipy import special

from ranktrial.experiment.synthesis_records import CurvePoint
from ranktrial.records.curves import ALL, AgainstStart, Baseline, CurvesRecord, Pair
from ranktrial.records.curves import Point as Measured
from ranktrial.statistics.meta_analysis.measure_scale import Range
from ranktrial.statistics.multiple.corrections import holm
from ranktrial.statistics.task.differences import difference_of
from ranktrial.synthesis.transfer.values import Values, range_on, reach_on

NUMBERS = ("difference", "ci_low", "ci_high", "p_value")


@dataclass(frozen=True)
class Point(CurvePoint):
    """A system's position on a curve, and its training."""

    checkpoint: Annotated[str, "{model}/{recipe}, whose training says how many queries all are"] = ""
    start_seed: Annotated[int | None, "of the start, from which all go on; none: each from its own"] = None


@dataclass(frozen=True)
class Settings:
    """Curves: the systems of their points, and the baseline, drawn as a line."""

    measure: Annotated[str, "column of the metrics files"]
    alpha: Annotated[float, "1 - alpha is the level of the intervals"]
    baseline: Annotated[str, "system"]
    points: list[Point]
    datasets: Annotated[dict[str, str], "target: its dataset"]


def record(
    settings: Settings, values: Mapping[str, Mapping[str, Values]], sizes: Mapping[tuple[str, str], int]
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


def _point(point: Point, size: int, settings: Settings, values: Mapping[str, Values]) -> Measured:
    own = values[point.system]
    means = list(own.samples.values())
    return Measured(
        target=point.target,
        start=point.start,
        queries=point.queries,
        size=size,
        system=point.system,
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


def _against_start(point: Point, settings: Settings, values: Mapping[str, Values]) -> AgainstStart | None:
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


def _full(points: Sequence[Point], target: str, values: Mapping[str, Values], settings: Settings) -> list[Pair]:
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


def rows(found: CurvesRecord) -> pd.DataFrame:
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
        **{f"{role}_{key}": getattr(one, key, None) for role, one in against.items() for key in NUMBERS},
    }
