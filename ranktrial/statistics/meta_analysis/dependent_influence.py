"""The influence of each task on the summary of dependent effects and of effects with seed variance.

Reads and writes nothing. As influence.py, with the summary of dependent_meta_analysis.py, of all tasks and without
each. Omega is the covariance of all effects with the components estimated without task i; c'Y = Y_i - M_-i with c = 1
at task i minus the weights of the others in M_-i, and V(c) is the variance of c'Y: s2 c'Omega c plus seed variance
(structure.of_mean).

    rstudent   (Y_i - M_-i) / sqrt(V(c)); V(c) is smaller for a task that shares queries with others
    DFBETAS    (M - M_-i) / sqrt(V(w)), w the weights of all tasks under Omega, as metafor's dfbetas of an rma.mv
    Cook's D   (M - M_-i)^2 / V_M, as its cooks.distance             COVRATIO  V_M,-i / V_M
    Baujat     x = (Y_i - M)^2 / (V_i + tau2), y = (M - M_-i)^2 / V_M,-i

h is the task's weight. DFFITS, which for a mean is the same as DFBETAS except for the components, is left empty.
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.dependence.structure import Dependence, of_mean
from ranktrial.statistics.intervals import fit_of
from ranktrial.statistics.least_squares.satterthwaite import Part, widest
from ranktrial.statistics.least_squares.variance_components import omega_of, structures
from ranktrial.statistics.meta_analysis.dependent import dependent_meta_analysis
from ranktrial.statistics.meta_analysis.dependent_tasks import parts_of
from ranktrial.statistics.meta_analysis.independent import MetaAnalysis
from ranktrial.statistics.meta_analysis.influence import MIN_TASKS, Influence, is_influential, ratio
from ranktrial.statistics.meta_analysis.prediction import CONFIDENCE_DISTRIBUTION


def dependent_influences(
    estimates: np.ndarray, dependence: Dependence, estimator: str, interval: str, alpha: float
) -> list[Influence]:
    """The influence of each of k >= 3 tasks."""
    y, k = np.asarray(estimates, dtype=float), len(estimates)
    if k < MIN_TASKS:
        raise ValueError(f"influence needs at least {MIN_TASKS} tasks, not {k}")
    how = (estimator, interval, alpha, CONFIDENCE_DISTRIBUTION)
    whole = dependent_meta_analysis(y, dependence, *how)
    found = []
    for task in range(k):
        others = [other for other in range(k) if other != task]
        without = dependent_meta_analysis(y[others], dependence.of_subset(others), *how)
        found.append(_influence(y, dependence, task, whole, without, interval))
    return found


def _influence(
    y: np.ndarray, dependence: Dependence, task: int, whole: MetaAnalysis, without: MetaAnalysis, interval: str
) -> Influence:
    others = np.arange(len(y)) != task
    omega = _omega(dependence, without)
    collections = np.array(dependence.collections)[others].tolist()
    fit, block = fit_of(interval), np.ix_(others, others)
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    of_others = fit(y[others], omega[block], collections, sampling[block])
    part = widest(parts_of(of_others, interval, len(structures(collections)))[1], without.alpha)
    scale = part.variance / of_others.variance
    contrast = np.eye(len(y))[task]
    contrast[others] = -of_others.weights
    deviation = _variance(contrast, scale, omega, dependence)
    shift = whole.summary.effect - without.summary.effect
    dfbetas = ratio(shift, math.sqrt(_variance(fit(y, omega).weights, scale, omega, dependence)))
    cook, hat = ratio(shift**2, whole.summary.variance), whole.weights[task]
    return Influence(
        without=without,
        rstudent=ratio(y[task] - without.summary.effect, math.sqrt(deviation)),
        dffits=None,
        dfbetas=dfbetas,
        cooks_distance=cook,
        covariance_ratio=ratio(without.summary.variance, whole.summary.variance),
        hat=hat,
        baujat_x=float((y[task] - whole.summary.effect) ** 2 / _omega(dependence, whole)[task, task]),
        baujat_y=ratio(shift**2, without.summary.variance),
        influential=is_influential(None, dfbetas, cook, hat, len(y)),
    )


def _omega(dependence: Dependence, meta: MetaAnalysis) -> np.ndarray:
    """The covariance of all effects over queries and tasks with the components of `meta`."""
    z = structures(dependence.collections)
    components = meta.tau2_levels or (meta.tau2 or 0.0,)
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    return omega_of(sampling, z[: len(components)], components[: len(z)])


def _variance(weights: np.ndarray, scale: float, omega: np.ndarray, dependence: Dependence) -> float:
    """The variance of the sum of effects with these weights, with seed variance."""
    model = float(weights @ omega @ weights)
    return of_mean(Part(scale * model, math.inf), model, dependence, weights).variance
