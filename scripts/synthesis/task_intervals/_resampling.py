"""Resamples of a task's units, drawn with replacement: estimate and variance of each; reads and writes nothing.

One resample at a time: an effect of any type is computed as on the sample, and memory is that of a few samples.
"""

from __future__ import annotations

import numpy as np

from scripts.synthesis.task_intervals import Sample

_NONE = 0.01  # share of resamples that may have no effect
_BLOCK = 1 << 18  # random numbers drawn at once


def resampled(sample: Sample) -> np.ndarray | str:
    """Estimate and variance of each resample, shape (resamples, 2); or why they do not suffice, in words.

    A resample may have no effect (all its differences are equal). Few of them are left out, as R's boot does.
    """
    units = int(sample.units.max()) + 1
    members = np.argsort(sample.units, kind="stable")
    sizes = np.bincount(sample.units, minlength=units)
    starts = np.cumsum(sizes) - sizes
    generator = np.random.default_rng(sample.seed)
    results = np.full((sample.resamples, 2), np.nan)
    block = max(1, _BLOCK // units)
    for first in range(0, sample.resamples, block):
        drawn = generator.integers(0, units, (min(block, sample.resamples - first), units))
        for number, chosen in enumerate(drawn, first):
            queries, labels = _queries(chosen, members, starts, sizes)
            result = sample.compute(sample.x[queries], sample.y[queries], labels)
            if not isinstance(result, str):
                results[number] = result
    defined = results[np.isfinite(results).all(axis=1)]
    missing = 1 - len(defined) / sample.resamples
    return defined if missing <= _NONE else f"{100 * missing:.0f}% of its resamples have no effect"


def _queries(
    chosen: np.ndarray, members: np.ndarray, starts: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The queries of the chosen units, and a new label for each: a unit drawn twice is two units."""
    labels = np.arange(len(chosen))
    if len(members) == len(sizes):
        return members[chosen], labels
    lengths = sizes[chosen]
    labels = np.repeat(labels, lengths)
    within = np.arange(len(labels)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return members[np.repeat(starts[chosen], lengths) + within], labels


def without_each_unit(sample: Sample) -> np.ndarray | str:
    """The estimate without each unit, shape (G,), for the jackknife; or why there is none, in words."""
    results = []
    for unit in range(int(sample.units.max()) + 1):
        kept = sample.units != unit
        labels = sample.units[kept]
        result = sample.compute(sample.x[kept], sample.y[kept], labels - (labels > unit))
        if isinstance(result, str):
            return f"without some queries it has no effect: {result}"
        results.append(result[0])
    return np.array(results)
