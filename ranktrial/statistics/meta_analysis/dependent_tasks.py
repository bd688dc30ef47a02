"""The mean of effects whose tasks share queries or a collection, with its interval and heterogeneity.

Reads and writes nothing. The sampling covariance is known; the variance between tasks, or between collections and
between the tasks of a collection, is estimated by restricted maximum likelihood (see variance_components.py). The
interval is the configured one; if it does not support dependent tasks, that of Knapp and Hartung is used. If
collections are a level, it is CR2, whose variance and degrees of freedom are both over collections, unless the variance
is treated as known.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ranktrial.statistics.dependence.structure import Dependence
from ranktrial.statistics.intervals import fit_of, has_own_weights, interval_named
from ranktrial.statistics.least_squares.gls import Fit, gls, projection
from ranktrial.statistics.least_squares.robust import cr2
from ranktrial.statistics.least_squares.satterthwaite import Part
from ranktrial.statistics.least_squares.variance_components import omega_of, reml, structures, tau2_interval

ESTIMATOR = "REML"
OTHERWISE, ROBUST, NORMAL = "knapp-hartung", "robust", "normal"


class Combined(NamedTuple):
    """`parts` are the variances of the mean by `interval`, given the seeds. `tau2` is the sum of `levels`, the
    variances between tasks and, with this level, between collections; `units` is the number of units of the highest.
    """

    fit: Fit
    fixed: Fit
    interval: str
    parts: tuple[Part, ...]
    tau2: float
    levels: tuple[float, ...]
    tau2_ci: tuple[float, float] | None
    typical: float
    units: int


def combined(y: np.ndarray, dependence: Dependence, interval: str, alpha: float) -> Combined:
    """Combine the effects `y`, shape (k,), k >= 2."""
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    z = structures(dependence.collections)
    levels = reml(y, sampling, z)
    fit = fit_of(interval)(y, omega_of(sampling, z, levels), dependence.collections, sampling)
    fit = replace(fit, sampling_df=_covariance_df(dependence))
    units = fit.n_collections if len(z) > 1 else len(y)
    kind, parts = parts_of(fit, interval, len(z))
    return Combined(
        fit=fit,
        fixed=gls(y, dependence.sampling),
        interval=kind,
        parts=parts,
        tau2=sum(levels),
        levels=levels,
        tau2_ci=tau2_interval(y, sampling, alpha) if len(z) == 1 else None,
        typical=(len(y) - 1) / float(np.trace(projection(sampling))),
        units=units,
    )


def _covariance_df(dependence: Dependence) -> float:
    """The degrees of freedom of the tasks' covariance: the fewest of tasks that covary, as in fixed_mean.py."""
    covaries = (dependence.sampling != 0).sum(axis=1) > 1
    return min((df for df, one in zip(dependence.degrees, covaries, strict=True) if one), default=math.inf)


def parts_of(fit: Fit, interval: str, levels: int) -> tuple[str, tuple[Part, ...]]:
    """The variances by an interval for a fit with this number of levels, and the name of the interval used.

    With a level of collections, a variance estimated from the tasks does not have the tasks' degrees of freedom, and
    with the few of the collections it would be too wide: CR2 estimates it from the collections. The normal interval
    treats its variance as known.
    """
    of_fit = getattr(interval_named(interval), "of_fit", None)
    parts: tuple[Part, ...] | None = of_fit(fit) if of_fit else None
    if parts is None:
        interval, parts = OTHERWISE, interval_named(OTHERWISE).of_fit(fit)  # type: ignore[attr-defined]
    assert parts is not None
    as_tasks = levels > 1 and interval != NORMAL and not has_own_weights(interval)
    return (ROBUST, (cr2(fit),)) if as_tasks else (interval, parts)
