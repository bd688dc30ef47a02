"""The robust interval, clusters being collections (CR2 with Satterthwaite's degrees of freedom); reads and writes
nothing.

Pustejovsky and Tipton (2022), Meta-analysis with robust variance estimation, Prevention Science 23, 425-438. It is
valid even if the covariance of a collection's tasks is misspecified. If no tasks share a collection, each task is a
cluster.
"""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.least_squares import Fit, cr2, gls
from ranktrial.statistics.summaries import Part, Summary, t_summary

NAME = "robust"
DESCRIPTION = "from the spread of the collections' residuals (CR2), whatever the covariance of their tasks"
LABEL = "robust (CR2)"


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- t(df) sqrt(variance), both of CR2, with a cluster for each task."""
    fit = gls(y, np.diag(variances + tau2))
    part = cr2(fit)
    return t_summary(fit.mean, part.variance, part.df, alpha)


def of_fit(fit: Fit) -> tuple[Part, ...] | None:
    """Variance and degrees of freedom of the mean of dependent tasks; None if all are of one collection."""
    return (cr2(fit),) if fit.n_collections > 1 else None
