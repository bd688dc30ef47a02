"""The interval of equal weights: against SciPy where tasks share nothing, against its variance where they do."""

import math

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.intervals import equal_weights
from ranktrial.statistics.least_squares import equally_weighted

Y = np.array([0.08, -0.01, 0.05, 0.12, 0.03])
V = np.array([0.0004, 0.0001, 0.003, 0.0009, 0.0002])


def test_of_independent_tasks_it_is_the_one_sample_t_test_of_their_effects():
    meta = meta_analysis(Y, V)
    expected = stats.ttest_1samp(Y, 0)
    assert (meta.interval, meta.summary.df) == ("equal-weights", 4)
    assert meta.summary.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    ends = (meta.summary.ci_low, meta.summary.ci_high)
    assert ends == pytest.approx(tuple(expected.confidence_interval(0.95)), rel=1e-12)
    assert meta.weights == pytest.approx([0.2] * 5)


def test_where_effects_differ_less_than_sampling_error_it_is_at_least_the_normal_one():
    y = np.array([0.0500, 0.0501, 0.0502])
    summary = meta_analysis(y, [0.0001] * 3).summary
    assert summary.df is None
    half = 1.959963984540054 * math.sqrt(0.0003) / 3
    assert (summary.ci_low, summary.ci_high) == pytest.approx((0.0501 - half, 0.0501 + half), rel=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_its_variance_holds_what_tasks_of_the_same_queries_have_in_common(correlation):
    """Over many draws the mean of the estimated variance is the variance of the mean, 1'Omega 1 / k^2."""
    k, generator = 4, np.random.default_rng(5)
    sampling = 0.0004 * (np.full((k, k), correlation) + (1 - correlation) * np.eye(k))
    omega = sampling + 0.001 * np.eye(k)
    draws = generator.multivariate_normal(np.full(k, 0.03), omega, 4000)
    found = [equal_weights.of_fit(equally_weighted(y, omega, [0] * k, sampling))[0].variance for y in draws]
    expected = omega.sum() / k**2
    assert np.mean(found) == pytest.approx(expected, abs=4 * np.std(found) / math.sqrt(len(found)))


def test_what_tasks_have_in_common_has_the_degrees_of_freedom_of_their_queries():
    """By hand: parts s^2 / k and c, of which c has those of the fewest queries, as on these tasks."""
    sampling = np.array([[4e-4, 3e-4, 0.0], [3e-4, 4e-4, 0.0], [0.0, 0.0, 4e-4]])
    y, common = np.array([0.05, 0.051, 0.02]), 6e-4 / 6
    dependence = Dependence(sampling, (39.0, 29.0, 5.0), (0, 0, 0))
    found = dependent_meta_analysis(y, dependence, "REML", "equal-weights", 0.05, "confidence-distribution")
    between = y.var(ddof=1) / 3
    omega = sampling + found.tau2 * np.eye(3)
    centred = omega - omega.mean(axis=0)
    df = np.trace(centred) ** 2 / np.trace(centred @ centred)
    (of_scatter, *_) = (part for part in found.summary.parts if part.df < 1e6)
    assert of_scatter.variance == pytest.approx(between + common)
    assert of_scatter.df == pytest.approx((between + common) ** 2 / (between**2 / df + common**2 / 29))


def test_with_collections_as_a_level_the_scatter_is_theirs():
    """Equal tasks within each collection add nothing: the interval is that of three collections."""
    of_collection = np.array([0.02, 0.05, 0.11])
    dependence = Dependence(np.diag([1e-6] * 6), (99.0,) * 6, (0, 0, 1, 1, 2, 2))
    y = np.repeat(of_collection, 2) + np.tile([1e-5, -1e-5], 3)
    found = dependent_meta_analysis(y, dependence, "REML", "equal-weights", 0.05, "confidence-distribution")
    expected = stats.ttest_1samp(of_collection, 0).confidence_interval(0.95)
    assert found.interval == "equal-weights" and found.summary.df == pytest.approx(2, rel=1e-6)
    assert (found.summary.ci_low, found.summary.ci_high) == pytest.approx(tuple(expected), rel=1e-4)
