"""d_av: the mean difference over the mean of both systems' standard deviations, for tasks whose measures differ.

d_av = D / S, D = mean(x - y), S = (s_x + s_y) / 2 (Lakens 2013, Frontiers in Psychology 4:863, equation 10, after
Cumming 2012, Understanding the New Statistics, chapter 11).

The variance is Bonett's (2008, Confidence intervals for standardized linear contrasts of means, Psychological Methods
13(2), 99-109) for paired scores,

    V = s_D^2 / (df S^2) + d^2 (s_x^4 + s_y^4 + 2 s_xy^2) / (8 df S^4),    df = n - 1, s_D^2 the variance of x - y,

with its second part, which is d^2 Var(S) / S^2, for this S: Bonett standardises by the root of the mean variance. By
the delta method, Var(s_x) = s_x^2 / (2 df) and Cov(s_x, s_y) = r^2 s_x s_y / (2 df) of bivariate normal scores, so

    Var(S) = (s_x^2 + s_y^2 + 2 r^2 s_x s_y) / (8 df).

Both are the same if s_x = s_y. Reads and writes nothing.
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.paired import Hedges, hedges_correction, standardisable, standardisable_rows

NAME = "d_av"
DESCRIPTION = "mean difference over the mean of both standard deviations"
Keys = Hedges

HAS_DIFFERENCE = True
SHARED_SCALE = True
IN_UNITS_OF_MEASURE = False
TAU_SCALE = 0.5

LABEL = "Standardised difference (d_av)"
SHORT_LABEL = "Std. diff. (d_av)"
AXIS = "Difference in {measure} over the mean standard deviation (d_av)"
QUESTION = "Does {treatment} beat {control} in {measure}?"
ANSWERS = ("yes, higher", "no, lower")
FINDING = "mean {measure} of {treatment} {relation} that of {control} by {size} standard deviations"
NOUN = "standardised difference"
STATISTIC = "effect / standard error"


def compute(x: np.ndarray, y: np.ndarray, ddof: int, keys: Hedges) -> tuple[float, float] | str:
    """d_av and its variance, corrected for small samples if `hedges`; or a text why undefined.

    It is undefined if differences have no variance, or if a system has none.
    """
    n = len(x)
    difference = standardisable(x, y, ddof, keys.hedges)
    if isinstance(difference, str):
        return difference
    df = n - 1
    mean, variance_of_mean = difference
    sd_x, sd_y = math.sqrt(x.var(ddof=ddof)), math.sqrt(y.var(ddof=ddof))
    covariance = ((x - x.mean()) * (y - y.mean())).sum() / (n - ddof)
    average_sd = (sd_x + sd_y) / 2
    d = mean / average_sd
    of_average_sd = (sd_x**2 + sd_y**2 + 2 * covariance**2 / (sd_x * sd_y)) / (8 * df)
    variance = (variance_of_mean * n / df + d**2 * of_average_sd) / average_sd**2
    j = hedges_correction(n) if keys.hedges else 1.0
    return j * d, j**2 * variance


def compute_rows(x: np.ndarray, y: np.ndarray, ddof: int, keys: Hedges) -> np.ndarray:
    """The same of many samples."""
    n = x.shape[1]
    if n < 2:
        return np.full((len(x), 2), np.nan)
    df = n - 1
    mean, variance_of_mean = standardisable_rows(x, y, ddof, keys.hedges)
    sd_x, sd_y = x.std(axis=1, ddof=ddof), y.std(axis=1, ddof=ddof)
    centred = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    covariance = (next(centred) * next(centred)).sum(axis=1) / (n - ddof)
    average_sd = (sd_x + sd_y) / 2
    d = mean / average_sd
    of_average_sd = (sd_x**2 + sd_y**2 + 2 * covariance**2 / (sd_x * sd_y)) / (8 * df)
    variance = (variance_of_mean * n / df + d**2 * of_average_sd) / average_sd**2
    j = hedges_correction(n) if keys.hedges else 1.0
    return np.column_stack([j * d, j**2 * variance])


def caution(x: np.ndarray, y: np.ndarray) -> str | None:
    """Nothing."""
    return None


def reported(value: float) -> float:
    """The difference itself."""
    return float(value)


def caption(measure: str, keys: Hedges) -> str:
    """What a square of the forest plot is."""
    correction = "corrected for small samples" if keys.hedges else "not corrected for small samples"
    return f"mean difference in {measure} over the mean of both standard deviations (d_av, {correction})"
