"""The data of a figure of costs: each treatment's effect over one control, its costs, and the Pareto front.

Reads nothing but what it is given; writes nothing. Costs are end to end: they include those of the input systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import mean
from typing import NamedTuple

NOISE = 0.1  # a time that is measured again differs by so much, even on an idle machine
BESIDE = 0.5  # cores that other work kept busy, from which on a time is said to be measured beside it


class Cost(NamedTuple):
    """A cost: the mean over tasks and seeds, and the lowest and highest of these."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """A system: its effect over the control (0 for the control itself) with its interval, and its costs.

    `latency_ms` is the median time of one query, `training_seconds` that of all trainings (0 for a system without);
    None if it was not measured. So are the sizes of its index and of its weights.
    """

    label: str
    effect: float
    ci_low: float
    ci_high: float
    latency_ms: Cost | None
    training_seconds: Cost | None
    is_control: bool = False
    index_mb: Cost | None = None
    weights_mb: Cost | None = None


def cost(values: Sequence[float]) -> Cost | None:
    """The mean and the range of what was measured; None if nothing was."""
    return Cost(mean(values), min(values), max(values)) if values else None


def latency(rows: Sequence[dict]) -> Cost | None:
    """The median latency of a system's rows of the table of costs; of a single one its quartiles are the range."""
    found = cost([row["end_to_end_p50_ms"] for row in rows if row["end_to_end_p50_ms"] is not None])
    if found is None or len(rows) > 1:
        return found
    return Cost(found.mean, rows[0]["end_to_end_p25_ms"], rows[0]["end_to_end_p75_ms"])


def point(label: str, rows: list[dict], summary: dict | None) -> Point:
    """A system's point, from its rows of the table of costs and its summary effect (None for the control)."""
    ends = [summary.effect, summary.ci_low, summary.ci_high] if summary else [0.0] * 3
    named = ("end_to_end_training_seconds", "index_mb", "weights_mb")
    trained, index, weights = (cost([row[name] for row in rows if row.get(name) is not None]) for name in named)
    return Point(label, *ends, latency(rows), trained, summary is None, index, weights)


def beats(one: Point, other: Point, name: str) -> bool:
    """Whether a system costs no more than another and has no smaller effect, one of them beyond noise.

    Effects differ beyond noise if their intervals do not overlap, costs if their ranges are at least a tenth apart.
    """
    its, others = getattr(one, name), getattr(other, name)
    if its.mean > others.mean or one.effect < other.effect:
        return False
    return bool(its.high * (1 + NOISE) < others.low or one.ci_low > other.ci_high)


def pareto_front(points: Sequence[Point], name: str) -> set[int]:
    """The places of the points that no other beats in effect and in the cost `name`, which all of them have."""
    beaten = {place for (place, point), (_, other) in permutations(enumerate(points), 2) if beats(other, point, name)}
    return set(range(len(points))) - beaten


ALONE = "Searches and rankings ran one at a time, with no other job of the experiment running."


def side_by_side(other_cores: Sequence[float]) -> str:
    """The number of jobs that were timed while other work kept cores busy, as text; empty if there are none."""
    busy = [cores for cores in other_cores if cores >= BESIDE]
    if not busy:
        return ""
    jobs = f"{len(busy)} of the {len(other_cores)} jobs in which this could be measured"
    return f"{jobs} ran beside other work, which kept up to {max(busy):.1f} cores busy, and took longer than alone"
