"""Corrections of p-values for testing several hypotheses: Holm, Benjamini and Hochberg; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's (1979) adjusted p-values, which control the family-wise error rate; None stays None and does not count."""

    def adjust(ordered: np.ndarray) -> np.ndarray:
        return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))

    return _adjusted(p_values, adjust)


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's (1995) adjusted p-values, which control the false discovery rate; None stays None."""

    def adjust(ordered: np.ndarray) -> np.ndarray:
        scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _adjusted(p_values, adjust)


CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}  # their names in columns of tables


def over_hypotheses(
    p_values: Sequence[float | None],
    hypotheses: Sequence[str],
    adjust: Callable[[Sequence[float | None]], list[float | None]],
) -> list[float | None]:
    """Each p-value adjusted (by `adjust`, such as Holm) for the number of hypotheses, each of which counts once.

    Several p-values may be of the same hypothesis, on other scales. Each is adjusted among the other hypotheses, each
    of which enters with its largest p-value. None stays None and does not count.
    """
    largest: dict[str, float] = {}
    for p, hypothesis in zip(p_values, hypotheses, strict=True):
        if p is not None:
            largest[hypothesis] = max(p, largest.get(hypothesis, p))
    found = []
    for p, hypothesis in zip(p_values, hypotheses, strict=True):
        family = largest | {hypothesis: p}
        found.append(None if p is None else adjust(list(family.values()))[list(family).index(hypothesis)])
    return found


def _adjusted(p_values: Sequence[float | None], adjust: Callable[[np.ndarray], np.ndarray]) -> list[float | None]:
    """Adjust the p-values that are not None, passed to `adjust` in ascending order."""
    present = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    result: list[float | None] = [None] * len(p_values)
    values = np.minimum(adjust(np.array([p for p, _ in present])), 1) if present else []
    for (_, index), value in zip(present, values, strict=True):
        result[index] = float(value)
    return result
