"""The common parts of effects of paired samples: mean difference, Hedges' correction, and undefined cases.

Arrays are treatment `x` and control `y`, one value per query, paired position by position.

The common parts of effects of many paired samples of one size: the same for all rows at once.

Bootstrap intervals compute an effect thousands of times. `x` and `y` have shape (rows, n); a
row with an undefined effect is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

_EPS = np.finfo(float).eps


@dataclass(frozen=True, kw_only=True)
class Hedges:
    """The keys of a comparison that standardised differences read."""

    hedges: Annotated[bool, "apply Hedges' correction for small samples"] = True


SAME_DIFFERENCE = "the difference is the same for every query"


def mean_difference(x: np.ndarray, y: np.ndarray, ddof: int) -> tuple[float, float] | str:
    """D and V_D (Borenstein, chapter 4; Ranger, equation 1), or a text why undefined."""
    if len(x) < 2:
        return f"{queries(len(x))}: the variance needs at least 2"
    difference = x - y
    if constant(difference, x, y):
        return SAME_DIFFERENCE
    return difference.mean(), difference.var(ddof=ddof) / len(x)


def standardisable(x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool) -> tuple[float, float] | str:
    """D and V_D of systems whose difference can be standardised, or a text why it cannot."""
    difference = mean_difference(x, y, ddof)
    if isinstance(difference, str):
        return difference
    if hedges and len(x) == 2:
        return "2 queries: the small-sample correction J is 0"
    return constant_system(x, y) or difference


def hedges_correction(n: int) -> float:
    """J of n pairs: 1 - 3 / (4 (n - 1) - 1) (Borenstein 4.22; Ranger, equation 5)."""
    return 1 - 3 / (4 * (n - 1) - 1)


def queries(n: int) -> str:
    """The number of queries, as text."""
    return f"{n} query" if n == 1 else f"{n} queries"


def constant(values: np.ndarray, *parts: np.ndarray) -> bool:
    """Whether values differ only by the rounding of the numbers from which they were computed."""
    return bool(constant_rows(values[None], *(part[None] for part in parts))[0])


def constant_system(x: np.ndarray, y: np.ndarray) -> str | None:
    """The system with the same value for all queries, as text; None if there is none."""
    for name, values in (("treatment", x), ("control", y)):
        if constant(values, values):
            return f"the {name} has the same value for every query"
    return None


def directions(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Both systems centred, with norm 1, and the length that |u - v| may have due to rounding."""
    u, v, rounding = x - x.mean(), y - y.mean(), 0.0
    for centred, values in ((u, x), (v, y)):
        norm = np.linalg.norm(centred)
        centred /= norm
        rounding += 8 * _EPS * math.sqrt(len(x)) * np.abs(values).max() / norm
    return u, v, rounding


def mean_differences(x: np.ndarray, y: np.ndarray, ddof: int) -> tuple[np.ndarray, np.ndarray]:
    """D and V_D of each row."""
    n = x.shape[1]
    if n < 2:
        return np.full(len(x), np.nan), np.full(len(x), np.nan)
    difference = x - y
    undefined = constant_rows(difference, x, y)
    means, variances = difference.mean(axis=1), difference.var(axis=1, ddof=ddof) / n
    return np.where(undefined, np.nan, means), np.where(undefined, np.nan, variances)


def standardisable_rows(x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool) -> tuple[np.ndarray, np.ndarray]:
    """D and V_D of the rows whose difference can be standardised."""
    means, variances = mean_differences(x, y, ddof)
    if hedges and x.shape[1] == 2:
        return means * np.nan, variances * np.nan
    undefined = constant_rows(x, x) | constant_rows(y, y)
    return np.where(undefined, np.nan, means), np.where(undefined, np.nan, variances)


def constant_rows(values: np.ndarray, *parts: np.ndarray) -> np.ndarray:
    """Whether the values of each row differ only by the rounding of the numbers from which they were computed, to 32
    bits if all of these have no more.
    """
    largest, spread = np.max([np.abs(part).max(axis=1) for part in parts], axis=0), np.ptp(values, axis=1)
    found: np.ndarray = spread <= 8 * _EPS * largest
    for row in np.flatnonzero(~found & (spread <= np.finfo(np.float32).eps * largest)):
        found[row] = all((part[row] == part[row].astype(np.float32)).all() for part in parts)
    return found


def directions_rows(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both systems of each row centred, with norm 1, and the length that |u - v| may have due to rounding."""
    directions, rounding = [], np.zeros(len(x))
    for values in (x, y):
        centred = values - values.mean(axis=1, keepdims=True)
        norms = np.linalg.norm(centred, axis=1)
        directions.append(centred / norms[:, None])
        rounding += 8 * _EPS * math.sqrt(x.shape[1]) * np.abs(values).max(axis=1) / norms
    return directions[0], directions[1], rounding
