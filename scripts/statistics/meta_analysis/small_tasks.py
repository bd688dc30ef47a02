"""Shrinkage of the variances of tasks with few queries towards that of all tasks; reads and writes nothing.

The variance of a few queries may be small by chance, together with the effect, if they are easy or did not change: a
task with two queries may get the largest weight, dominate the mean, and contribute to Q without bound. Smyth (2004),
Linear models and empirical Bayes methods for assessing differential expression, Statistical Applications in Genetics
and Molecular Biology 3(1), article 3:

    V_i' = (df_i s_i^2 + d_0 s^2) / (df_i + d_0) / n_i,    s_i^2 = n_i V_i,    s^2 = sum df_i s_i^2 / sum df_i,

with the prior degrees of freedom d_0 fixed, for tasks of fewer than 50 queries (or clusters of them).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scripts.statistics.dependence.structure import Dependence

SHRUNK = "shrunk"
FEW, PRIOR = 50, 20.0


def shrunk(variances: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """V', of sampling variances with their degrees of freedom, both of shape (k,)."""
    n = degrees + 1
    of_query = n * variances
    pooled = (degrees * of_query).sum() / degrees.sum()
    return np.where(n < FEW, (degrees * of_query + PRIOR * pooled) / (degrees + PRIOR) / n, variances)


def with_shrunk_variances(dependence: Dependence) -> Dependence:
    """The same effects with these variances and unchanged correlations; unchanged if no task is small."""
    own, degrees = np.diag(dependence.sampling), np.array(dependence.degrees)
    if len(own) < 2 or not (degrees + 1 < FEW).any():
        return dependence
    variances = shrunk(own, degrees)
    scale = np.sqrt(variances / own)
    sampling = dependence.sampling * np.outer(scale, scale)
    np.fill_diagonal(sampling, variances)  # to the last digit
    return replace(dependence, sampling=sampling, shrunk=True)
