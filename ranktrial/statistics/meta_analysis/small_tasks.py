"""Shrinkage of the variances of tasks with few queries towards that of all tasks; reads and writes nothing.

The variance of a few queries may be small by chance, together with the effect, if they are easy or did not change: a
task with two queries may get the largest weight, dominate the mean, and contribute to Q without bound. Smyth (2004),
Linear models and empirical Bayes methods for assessing differential expression, Statistical Applications in Genetics
and Molecular Biology 3(1), article 3:

    V_i' = (df_i s_i^2 + d_0 s^2) / (df_i + d_0) / n_i,    s_i^2 = n_i V_i,    s^2 = sum df_i s_i^2 / sum df_i,

for tasks of fewer than 50 queries (or clusters of them). The prior degrees of freedom d_0 are his estimate: with
psi the digamma function and the k values e_i = log s_i^2 - psi(df_i / 2) + log(df_i / 2),

    psi'(d_0 / 2) = sum (e_i - mean)^2 / (k - 1) - mean of psi'(df_i / 2),

infinite if the right side is not above 0. So variances that agree are pooled, and those that truly differ are left
alone. Effects whose variance is not that of one query divided by their number (of a correlation, 1 / (n - 3); with a
model's part) take no part.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.dependence.structure import Dependence

SHRUNK = "shrunk"
FEW = 50


def prior_degrees(of_query: np.ndarray, degrees: np.ndarray) -> float:
    """d_0 of the variances of one query with their degrees of freedom, both of shape (k,), k >= 2."""
    half = degrees / 2
    e = np.log(of_query) - scipy.special.digamma(half) + np.log(half)
    between = float(e.var(ddof=1) - scipy.special.polygamma(1, half).mean())
    return 2 * _inverse_trigamma(between) if between > 0 else math.inf


def _inverse_trigamma(value: float) -> float:
    """x with psi'(x) = value > 0, by Newton's method on 1 / psi', which is nearly linear (Smyth 2004, appendix)."""
    x = 0.5 + 1 / value
    while True:
        trigamma = float(scipy.special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(scipy.special.polygamma(2, x))
        x += step
        if abs(step) <= 1e-12 * x:
            return x


def shrunk(variances: np.ndarray, degrees: np.ndarray, queries: np.ndarray, units: np.ndarray) -> np.ndarray:
    """V', of sampling variances with their degrees of freedom, numbers of queries and of clusters, all (k,), k >= 2."""
    of_query = queries * variances
    pooled = (degrees * of_query).sum() / degrees.sum()
    prior = prior_degrees(of_query, degrees)
    expected = pooled if math.isinf(prior) else (degrees * of_query + prior * pooled) / (degrees + prior)
    return np.where(units < FEW, expected / queries, variances)


def with_shrunk_variances(dependence: Dependence) -> Dependence:
    """The same effects with these variances and unchanged correlations; unchanged if no task is small."""
    counted = [(task, counts) for task, counts in enumerate(dependence.counts) if counts is not None]
    if len(counted) < 2 or all(counts.units >= FEW for _, counts in counted):
        return dependence
    own, places = np.diag(dependence.sampling), [task for task, _ in counted]
    queries, units = (
        np.array(numbers, dtype=float) for numbers in zip(*(counts for _, counts in counted), strict=True)
    )
    variances = own.copy()
    variances[places] = shrunk(own[places], np.array(dependence.degrees)[places], queries, units)
    scale = np.sqrt(variances / own)
    sampling = dependence.sampling * np.outer(scale, scale)
    np.fill_diagonal(sampling, variances)  # to the last digit
    return replace(dependence, sampling=sampling, shrunk=True)
