"""Curves for their figure; reads curves/{curve}.json, writes nothing."""

from __future__ import annotations

from ranktrial.records.curves import ALL, CurvesRecord, Point
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.transfer.curve_answers import Curves

Ends = tuple[float | None, float | None]


def ends(point: Point, interval: str) -> Ends:
    """The ends of a point's bar: the range over its samples, or their t interval; none for one sample."""
    samples = list(point.samples.values())
    if len(samples) < 2:
        return None, None
    if interval == "t":
        low, high = point.t_interval
        return low, high
    return min(samples), max(samples)


def all_queries(record: CurvesRecord, target: str) -> int | None:
    """How many training queries `all` are on a target; the most where its curves differ."""
    sizes = [point.size for point in record.points if (point.target, point.queries) == (target, ALL)]
    return max(sizes, default=None)


def notes(record: CurvesRecord, names: Curves) -> tuple[str, ...]:
    """How to read the figure."""
    several = any(len(point.samples) > 1 for point in record.points)
    bars = "the range of" if names.interval == "range" else f"the {form.percent(record.alpha)} t interval over"
    said = "Means over samples of training queries" if several else "One sample of training queries each"
    said += f"; bars are {bars} the samples" if several else ""
    if any(point.queries == 0 for point in record.points):
        said += ". At 0: the starting point itself, without a query of the target"
    return (f"{said}. The axis of queries is logarithmic. Dashed: {names.baseline}.",)
