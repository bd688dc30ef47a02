"""The influence of each task on a random-effects summary: leave-one-out diagnostics and Baujat's plot.

Reads and writes nothing: returns one Influence per task from estimates and sampling variances. With M, tau2 and V_M of
all k tasks, an index -i for those without task i, and s2 = V_M sum W*, the scale of the interval (1 for a normal one):

    rstudent   (Y_i - M_-i) / sqrt(s2_-i (V_i + tau2_-i) + V_M,-i)
    DFFITS     (M - M_-i) / sqrt(s2_-i h_i (V_i + tau2_-i))            h_i = W*_i / sum W*
    DFBETAS    (M - M_-i) / sqrt(s2_-i / sum 1 / (V + tau2_-i))        the sum is over all k tasks
    Cook's D   (M - M_-i)^2 / V_M                                      COVRATIO  V_M,-i / V_M
    Baujat     x = (Y_i - M)^2 / (V_i + tau2), y = (M - M_-i)^2 / V_M,-i

Viechtbauer and Cheung (2010), Outlier and influence diagnostics for meta-analysis, Research Synthesis Methods 1(2),
112-125; Baujat, Mahe, Pignon and Hill (2002), Statistics in Medicine 21(18), 2641-2652; as in metafor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.meta_analysis.independent import MetaAnalysis, meta_analysis

MIN_TASKS = 3  # without one of them, heterogeneity can still be estimated


@dataclass(frozen=True)
class Influence:
    """One task's influence, on the scale of the synthesis; None if a variance of 0 leaves a number undefined.

    `without` is the meta-analysis of all other tasks. `influential` follows metafor's rule: |DFFITS| > 3 sqrt(1/(k-1)),
    or Cook's D beyond the median of chi2 with one degree of freedom, or h > 3/k, or |DFBETAS| > 1.
    """

    without: MetaAnalysis
    rstudent: float | None
    dffits: float | None
    dfbetas: float | None
    cooks_distance: float | None
    covariance_ratio: float | None
    hat: float
    baujat_x: float
    baujat_y: float | None
    influential: bool


def influences(
    estimates: np.ndarray, variances: np.ndarray, estimator: str, interval: str, alpha: float
) -> list[Influence]:
    """The influence of each of k >= 3 tasks, from `estimates` and sampling `variances` of shape (k,)."""
    y, v = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if len(y) < MIN_TASKS:
        raise ValueError(f"influence needs at least {MIN_TASKS} tasks, not {len(y)}")
    whole = meta_analysis(y, v, estimator, interval, alpha)
    others = [np.arange(len(y)) != task for task in range(len(y))]
    return [
        _influence(y, v, task, whole, meta_analysis(y[left], v[left], estimator, interval, alpha))
        for task, left in enumerate(others)
    ]


def _influence(y: np.ndarray, v: np.ndarray, task: int, whole: MetaAnalysis, without: MetaAnalysis) -> Influence:
    tau2 = without.tau2 or 0.0
    shift = whole.summary.effect - without.summary.effect
    scale = without.summary.variance * (1 / (np.delete(v, task) + tau2)).sum()
    residual = y[task] - without.summary.effect
    hat = whole.weights[task]
    dffits = ratio(shift, math.sqrt(scale * hat * (v[task] + tau2)))
    dfbetas = ratio(shift, math.sqrt(scale / (1 / (v + tau2)).sum()))
    deviation = scale * (v[task] + tau2) + without.summary.variance
    cook = ratio(shift**2, whole.summary.variance)
    return Influence(
        without=without,
        rstudent=ratio(residual, math.sqrt(deviation)),
        dffits=dffits,
        dfbetas=dfbetas,
        cooks_distance=cook,
        covariance_ratio=ratio(without.summary.variance, whole.summary.variance),
        hat=hat,
        baujat_x=float((y[task] - whole.summary.effect) ** 2 / (v[task] + (whole.tau2 or 0.0))),
        baujat_y=ratio(shift**2, without.summary.variance),
        influential=is_influential(dffits, dfbetas, cook, hat, len(y)),
    )


def is_influential(
    dffits: float | None, dfbetas: float | None, cooks_distance: float | None, hat: float, k: int
) -> bool:
    """Metafor's rule of thumb for a model with one coefficient; undefined values are ignored."""
    return (
        abs(dffits or 0.0) > 3 * math.sqrt(1 / (k - 1))
        or scipy.special.chdtr(1, cooks_distance or 0.0) > 0.5
        or hat > 3 / k
        or abs(dfbetas or 0.0) > 1
    )


def ratio(value: float, scale: float) -> float | None:
    """A quotient; None if the scale is 0."""
    return float(value / scale) if scale else None
