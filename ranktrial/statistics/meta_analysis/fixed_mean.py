"""The mean effect on these collections: tasks are strata of equal weight; reads and writes nothing.

Cochran (1977), Sampling Techniques, chapter 5: with the estimates Y of k tasks and their sampling covariance S,

    M = sum Y / k,    V = 1'S1 / k^2,

a t interval with the degrees of freedom of Welch and Satterthwaite. Tasks are taken as given, so differences between
them are not a source of uncertainty; queries are, and so are seeds if they are treated as random, which never narrow
the interval. Tasks whose effects covary are one part of V, with the smallest of their degrees of freedom.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.dependence.seeds_part import seeds_parts
from ranktrial.statistics.dependence.structure import Dependence
from ranktrial.statistics.least_squares.satterthwaite import Part, with_seeds
from ranktrial.statistics.meta_analysis.summaries import Summary, widest_summary


def fixed_mean(estimates: np.ndarray, dependence: Dependence, alpha: float) -> Summary:
    """The mean of `estimates`, shape (k,), k >= 1, with its (1 - alpha) interval."""
    weights = np.full(len(estimates), 1 / len(estimates))
    of_queries = _sampling_parts(dependence, weights)
    parts = with_seeds(of_queries, seeds_parts(dependence.seed_effects, weights))
    return widest_summary(float(np.mean(estimates)), parts, alpha)


def _sampling_parts(dependence: Dependence, weights: np.ndarray) -> list[Part]:
    """The part of each set of covarying tasks in the variance of the weighted mean."""
    count, label = scipy.sparse.csgraph.connected_components(dependence.sampling != 0)
    contribution = weights[:, None] * dependence.sampling * weights
    degrees = np.array(dependence.degrees)
    members = [label == number for number in range(count)]
    return [Part(float(contribution[np.ix_(one, one)].sum()), float(degrees[one].min())) for one in members]
