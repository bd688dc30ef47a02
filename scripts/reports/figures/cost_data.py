"""What a figure of costs shows: the effect of each treatment over one control, what it costs, and the Pareto front.

Reads nothing but what it is given; writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean


@dataclass(frozen=True)
class Point:
    """A system: its effect over the control (0 for the control itself) with its interval, and what it costs.

    `latency_ms` is the median time of one query, `training_seconds` that of fine-tuning (0 for a system without), both
    means over tasks and seeds; None where it was not measured. So are the sizes of its index and of its weights.
    """

    label: str
    effect: float
    ci_low: float
    ci_high: float
    latency_ms: float | None
    training_seconds: float | None
    is_control: bool = False
    index_mb: float | None = None
    weights_mb: float | None = None


def point(label: str, rows: list[dict], summary: dict | None) -> Point:
    """A system's point, from its rows of the table of costs and its summary effect (None for the control)."""
    ends = [summary[key] for key in ("effect", "ci_low", "ci_high")] if summary else [0.0] * 3
    latencies = [row["latency_p50_ms"] for row in rows if row["latency_p50_ms"] is not None]
    trained = [row["training_seconds"] or 0.0 for row in rows]
    costs = [mean(values) if values else None for values in (latencies, trained)]
    sizes = {name: [row[name] for row in rows if row.get(name)] for name in ("index_mb", "weights_mb")}
    of_sizes = {name: mean(values) if values else None for name, values in sizes.items()}
    return Point(label, *ends, *costs, is_control=summary is None, **of_sizes)


def pareto_front(points: list[tuple[float, float]]) -> list[int]:
    """The indices of the (cost, effect) points that none beats, cheapest first.

    A point is beaten by one that costs no more and has no smaller effect, and is better in one of the two.
    """
    front: list[int] = []
    best = float("-inf")
    for index in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        cost, effect = points[index]
        if effect > best:
            front.append(index)
            best = effect
        elif front and points[front[-1]] == (cost, effect):
            front.append(index)
    return front
