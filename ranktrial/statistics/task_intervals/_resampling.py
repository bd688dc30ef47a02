"""Resamples of a task's units with replacement: estimate and variance of each; reads and writes nothing.

Many resamples at once: those with the same number of queries are rows of one array. Memory is bounded by a block. An
interval and its p-value use one quantile function of the resamples, in opposite directions, so that p < alpha exactly
where the interval excludes the null.
"""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.task_intervals import Sample

_NONE = 0.01  # share of resamples that may have no effect
_BLOCK = 1 << 18  # random numbers drawn at once
_ROWS = 1 << 16  # queries of resamples computed at once, to fit into a cache


def resampled(sample: Sample, with_variance: bool = False) -> np.ndarray | str:
    """Estimate and variance of each resample, shape (resamples, 2); or a text why they are not sufficient.

    A resample may have no effect (all its differences are equal), or, which matters `with_variance`, a variance of 0
    (the sums of all its clusters are equal). A few such are left out, as in R's boot.
    """
    units = int(sample.units.max()) + 1
    members = np.argsort(sample.units, kind="stable")
    sizes = np.bincount(sample.units, minlength=units)
    starts = np.cumsum(sizes) - sizes
    generator = np.random.default_rng(sample.seed)
    results = np.full((sample.keys.resamples, 2), np.nan)
    block = max(1, _BLOCK // units)
    for first in range(0, sample.keys.resamples, block):
        drawn = generator.integers(0, units, (min(block, sample.keys.resamples - first), units))
        results[first : first + len(drawn)] = _computed(sample, drawn, members, starts, sizes)
    defined = results[np.isfinite(results).all(axis=1) & ((results[:, 1] > 0) | (not with_variance))]
    lacking = "variance" if np.isfinite(results).all() else "effect"
    missing = 1 - len(defined) / sample.keys.resamples
    return defined if missing <= _NONE else f"{100 * missing:.0f}% of its resamples have no {lacking}"


def _computed(
    sample: Sample, drawn: np.ndarray, members: np.ndarray, starts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Estimate and variance of the resamples `drawn` (rows, units), in groups with equal numbers of queries."""
    results = np.full((len(drawn), 2), np.nan)
    lengths = sizes[drawn].sum(axis=1)
    for length in np.unique(lengths).tolist():
        alike = np.flatnonzero(lengths == length)
        at_once = max(1, _ROWS // length)
        for rows in (alike[start : start + at_once] for start in range(0, len(alike), at_once)):
            queries, labels = _queries(drawn[rows], length, members, starts, sizes)
            results[rows] = sample.compute(sample.x[queries], sample.y[queries], labels)
    return results


def _queries(
    chosen: np.ndarray, length: int, members: np.ndarray, starts: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The `length` queries of the units drawn in each row, and new unit labels: a unit drawn twice counts as two."""
    rows, units = chosen.shape
    if len(members) == units:
        return members[chosen], np.broadcast_to(np.arange(units), chosen.shape)
    lengths = sizes[chosen].ravel()
    labels = np.repeat(np.tile(np.arange(units), rows), lengths)
    within = np.arange(len(labels)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    queries = members[np.repeat(starts[chosen].ravel(), lengths) + within]
    return queries.reshape(rows, length), labels.reshape(rows, length)


def least_level(count: int) -> float:
    """The level of the least of `count` resamples: a quantile below it is unknown."""
    return 1 / (count + 1)


def cannot_reach(count: int, alpha: float) -> str | None:
    """Why this many resamples have no end at alpha / 2, as text; None if they have one."""
    return f"{count} resamples have no end at {alpha:g}" if alpha / 2 <= least_level(count) else None


def levels_at(value: float, ordered: np.ndarray, levels: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest level at which the quantile function through `ordered` values at `levels`, between
    which it is linear, has this value; the same twice where it increases.
    """
    left, right = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
    if left < right:
        return float(levels[left]), float(levels[right - 1])
    if left in (0, len(ordered)):
        end = float(levels[0 if left == 0 else -1])
        return end, end
    below, above = ordered[left - 1], ordered[left]
    level = levels[left - 1] + (value - below) / (above - below) * (levels[left] - levels[left - 1])
    return float(level), float(level)


def without_each_unit(sample: Sample) -> np.ndarray | str:
    """The estimate without each unit, shape (G,), for the jackknife; or a text why it is undefined."""
    results = []
    for unit in range(int(sample.units.max()) + 1):
        kept = sample.units != unit
        labels = sample.units[kept]
        rest = (sample.x[kept], sample.y[kept], labels - (labels > unit))
        ((estimate, _),) = sample.compute(*(values[None] for values in rest))
        if np.isnan(estimate):
            return "without some queries it has no effect"
        results.append(float(estimate))
    return np.array(results)
