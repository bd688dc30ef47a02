"""The interval of the unweighted mean of the effects, from their scatter; reads and writes nothing.

All tasks have equal weight, so that no weight depends on the effect: if measures are bounded and most differences are
0, a task's variance is correlated with its effect, and weights by precision bias the mean towards 0. The scatter of the
effects includes all differences between tasks:

    M +- t(k - 1) s / sqrt(k),    s^2 = sum (Y - M)^2 / (k - 1).

Tasks with common queries have a mean covariance c, which their scatter does not show: the variance is then s^2 / k + c,
with Satterthwaite's degrees of freedom under the model; those of c are the fewest of the tasks. If collections are a
level, it is CR2's, over the collections. If the effects differ less than expected from sampling error (Cochran's Q
below the 2.5% quantile of chi2, whatever alpha), the interval is at least the normal one of their sampling variances.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from ranktrial.statistics.heterogeneity import without_rounding
from ranktrial.statistics.least_squares import Fit, cr2, equally_weighted, gls, structures
from ranktrial.statistics.summaries import Part, Summary, total, widest_summary

NAME = "equal-weights"
DESCRIPTION = "for the unweighted mean of the tasks' effects, from their spread"
LABEL = "equal weights"
AGREEMENT = 0.025  # P(Q as small) at which tasks agree more than sampling error explains

fit = equally_weighted


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- t(k - 1) s / sqrt(k); if Q is small, the wider of it and the normal interval."""
    found = fit(y, np.diag(variances + tau2), sampling=np.diag(variances))
    return widest_summary(found.mean, of_fit(found), alpha)


def of_fit(found: Fit) -> tuple[Part, ...]:
    """The variance of the mean and its degrees of freedom; from the scatter of collections if these are a level."""
    part = cr2(found) if len(structures(found.collections)) > 1 else _scatter(found)
    df = len(found.y) - 1
    if gls(found.y, found.sampling).q >= 2 * scipy.special.gammaincinv(df / 2, AGREEMENT):
        return (part,)
    return part, Part(float(found.weights @ found.sampling @ found.weights), math.inf)


def _scatter(found: Fit) -> Part:
    """s^2 / k plus the mean covariance of tasks."""
    k, omega = len(found.y), found.omega
    residuals = without_rounding(found.residuals, found.y, np.diag(omega))
    between = float((residuals**2).sum()) / (k - 1) / k
    off_diagonal = omega - np.diag(np.diag(omega))
    if not off_diagonal.any():
        return Part(between, k - 1)
    centred = omega - omega.mean(axis=0)
    df = float(np.trace(centred) ** 2 / np.trace(centred @ centred))
    common = max(0.0, float(off_diagonal.sum()) / (k * (k - 1)))
    return total([Part(between, df), Part(common, found.sampling_df)])
