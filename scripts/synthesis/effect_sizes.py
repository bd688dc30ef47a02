"""The effect of treatment over control on one task: mean difference, standardised mean difference, correlation.

Reads and writes nothing: two arrays of one value a query, paired by query id by the caller, become an EffectSize.
Formulas: Borenstein, Hedges, Higgins and Rothstein (2009), Introduction to Meta-Analysis, chapters 4 and 6, for
paired designs, as in the Ranger paper (Sertkan et al. 2023, equations 1 to 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from scripts.synthesis.tails import normal_two_sided

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class EffectSize:
    """One task's effect.

    `estimate` and `variance` are on the scale of the synthesis, which for CORR is Fisher's z; `effect` is the same
    estimate as reported (r for CORR). All three are None, and `undefined` says why, where there is no such effect.
    """

    effect_type: str
    n: int
    control_mean: float | None
    treatment_mean: float | None
    estimate: float | None = None
    variance: float | None = None
    undefined: str | None = None

    @property
    def effect(self) -> float | None:
        """The estimate as reported: itself, or for CORR r = tanh(z)."""
        return None if self.estimate is None else reported(self.effect_type, self.estimate)

    @property
    def se(self) -> float | None:
        """The standard error, sqrt(variance)."""
        return None if self.variance is None else math.sqrt(self.variance)

    def interval(self, alpha: float) -> tuple[float, float] | None:
        """The normal (1 - alpha) confidence interval as reported (Ranger, equations 11 and 12)."""
        if self.estimate is None:
            return None
        half = -special.ndtri(alpha / 2) * self.se
        return reported(self.effect_type, self.estimate - half), reported(self.effect_type, self.estimate + half)

    @property
    def p_value(self) -> float | None:
        """The p-value that belongs to `interval`: two-sided, of estimate / se against the normal."""
        return None if self.estimate is None else normal_two_sided(self.estimate / self.se).p


def reported(effect_type: str, value: float) -> float:
    """A value on the scale of the synthesis, as it is reported: r = tanh(z) for CORR (Ranger, equation 8)."""
    return math.tanh(value) if effect_type == "CORR" else float(value)


def effect_size(
    treatment: np.ndarray, control: np.ndarray, effect_type: str, ddof: int = 1, hedges: bool = True
) -> EffectSize:
    """The effect of one task from `treatment` and `control`, each of shape (n,), paired position by position.

    effect_type: MD (mean difference), SMD (standardised mean difference), or CORR (correlation of the treatment with
    a gold standard, the control). ddof: standard deviations divide by n - ddof; 1 is the unbiased estimate, 0 is what
    Ranger does. hedges: correct SMD for small samples (Hedges' g). An effect that does not exist is returned as such,
    with its reason; ValueError is for input that is wrong (shapes differ, a value is not finite, an unknown type).
    """
    x, y = np.asarray(treatment, dtype=float), np.asarray(control, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"treatment and control must be vectors of one length, not {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("treatment and control must be finite")
    if effect_type not in _EFFECTS:
        raise ValueError(f"effect type {effect_type!r}: MD, SMD or CORR is wanted")
    n = len(x)
    means = (float(y.mean()), float(x.mean())) if n else (None, None)
    result = _EFFECTS[effect_type](x, y, ddof, hedges)
    if isinstance(result, str):
        return EffectSize(effect_type, n, *means, undefined=result)
    return EffectSize(effect_type, n, *means, *map(float, result))


def mean_difference(x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool = True) -> tuple[float, float] | str:
    """D and V_D (Borenstein, chapter 4; Ranger, equation 1), or why there is none."""
    if len(x) < 2:
        return f"{_queries(len(x))}: the variance needs at least 2"
    difference = x - y
    if _constant(difference, x, y):
        return "the difference is the same for every query"
    return difference.mean(), difference.var(ddof=ddof) / len(x)


def standardised_mean_difference(
    x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool = True
) -> tuple[float, float] | str:
    """d and V_d, or Hedges' g and V_g (Borenstein 4.22 to 4.28; Ranger, equations 2 to 5), or why there is none.

    S_within = sd(x - y) / sqrt(2 (1 - r)), so r = 1 or an r that does not exist leaves nothing to standardise with.
    """
    n = len(x)
    difference = mean_difference(x, y, ddof)
    if isinstance(difference, str):
        return difference
    if hedges and n == 2:
        return "2 queries: the small-sample correction J is 0"
    if constant := _constant_system(x, y):
        return constant
    u, v, rounding = _directions(x, y)
    twice_1_minus_r = ((u - v) ** 2).sum()  # keeps its digits where r is close to 1, as 2 (1 - r) would not
    if math.sqrt(twice_1_minus_r) <= rounding:
        return "the two systems are perfectly correlated (r = 1)"
    mean, variance = difference
    d = mean / math.sqrt(variance * n / twice_1_minus_r)
    v_d = (1 / n + d**2 / (2 * n)) * twice_1_minus_r
    j = 1 - 3 / (4 * (n - 1) - 1) if hedges else 1.0
    return j * d, j**2 * v_d


def correlation(x: np.ndarray, y: np.ndarray, ddof: int = 1, hedges: bool = True) -> tuple[float, float] | str:
    """Fisher's z of r and V_z (Borenstein, chapter 6; Ranger, equation 7), or why there is none; no `ddof` is left."""
    n = len(x)
    if n <= 3:
        return f"{_queries(n)}: the variance of Fisher's z needs at least 4"
    if constant := _constant_system(x, y):
        return constant
    u, v, rounding = _directions(x, y)
    minus, plus = np.linalg.norm(u - v), np.linalg.norm(u + v)  # sqrt(2 (1 - r)) and sqrt(2 (1 + r))
    if min(minus, plus) <= rounding:
        return f"the two systems are perfectly correlated (r = {1 if minus < plus else -1})"
    return math.log(plus / minus), 1 / (n - 3)


_EFFECTS = {"MD": mean_difference, "SMD": standardised_mean_difference, "CORR": correlation}


def _queries(n: int) -> str:
    return f"{n} query" if n == 1 else f"{n} queries"


def _constant(values: np.ndarray, *parts: np.ndarray) -> bool:
    """Whether values differ by no more than the rounding of the numbers they were computed from."""
    return np.ptp(values) <= 8 * _EPS * max(np.abs(part).max() for part in parts)


def _constant_system(x: np.ndarray, y: np.ndarray) -> str | None:
    for name, values in (("treatment", x), ("control", y)):
        if _constant(values, values):
            return f"the {name} has the same value for every query"
    return None


def _directions(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Both systems centred, with norm 1, and the length that |u - v| may have from rounding alone."""
    u, v, rounding = x - x.mean(), y - y.mean(), 0.0
    for centred, values in ((u, x), (v, y)):
        norm = np.linalg.norm(centred)
        centred /= norm
        rounding += 8 * _EPS * math.sqrt(len(x)) * np.abs(values).max() / norm
    return u, v, rounding
