"""Prediction intervals: the mixture against its definition by simulation, and what holds for every kind."""

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.heterogeneity import q_root, q_statistic
from ranktrial.statistics.independent_tasks import confidence_distribution, meta_analysis

Y = np.array([0.08, -0.01, 0.05, 0.12, 0.03])
V = np.array([0.0004, 0.0001, 0.003, 0.0009, 0.0002])
KINDS = ("confidence-distribution", "k-2", "k-1")


def test_the_confidence_distribution_of_tau_is_that_of_the_generalised_q():
    """Drawn by its definition: u from chi2(k - 1), tau2 where Q is u."""
    taus, shares = confidence_distribution(Y, np.diag(V))
    assert shares.sum() == pytest.approx(1, rel=1e-12)
    assert shares[-1] == pytest.approx(stats.chi2(4).sf(q_statistic(Y, V)), rel=1e-12)
    drawn = np.array([q_root(Y, V, u) for u in stats.chi2(4).rvs(20_000, random_state=3)]) ** 0.5
    for value in (0.03, 0.06, 0.1, 0.2):
        of_draws = np.exp(-((drawn / value) ** 2))
        assert (shares * np.exp(-((taus / value) ** 2))).sum() == pytest.approx(
            of_draws.mean(), abs=4 * of_draws.std() / len(drawn) ** 0.5
        )


def test_the_interval_is_the_quantile_of_what_it_says():
    """Drawn: an estimate about the mean, and tau from its confidence distribution."""
    meta = meta_analysis(Y, V)
    half = (meta.summary.ci_high - meta.summary.ci_low) / 2
    generator = np.random.default_rng(4)
    taus, shares = confidence_distribution(Y, np.diag(V))
    tau = generator.choice(taus, 200_000, p=shares)
    drawn = generator.standard_normal(200_000) * np.hypot(half / stats.norm.ppf(0.975), tau)
    low, high = meta.prediction_interval
    assert meta.prediction_df is None
    assert (high - low) / 2 == pytest.approx(np.quantile(np.abs(drawn), 0.95), rel=0.02)
    assert (high + low) / 2 == pytest.approx(meta.summary.effect, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interval", ["equal-weights", "knapp-hartung", "normal", "robust"])
def test_it_is_never_narrower_than_the_interval_of_the_mean(kind, interval):
    generator = np.random.default_rng(1)
    for k in (4, 5, 9):
        for tau in (0.0, 0.02, 0.1):
            v = generator.uniform(0.0001, 0.002, k)
            meta = meta_analysis(generator.normal(0, np.sqrt(v + tau**2)), v, interval=interval, prediction=kind)
            low, high = meta.prediction_interval
            assert low <= meta.summary.ci_low and high >= meta.summary.ci_high


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_none_with_fewer_than_four_tasks(kind):
    assert meta_analysis(Y[:3], V[:3], prediction=kind).prediction_interval is None
    assert meta_analysis(Y[:4], V[:4], prediction=kind).prediction_interval is not None


def test_equal_effects_have_one():
    low, high = meta_analysis([0.1] * 4, [0.001] * 4).prediction_interval
    assert low < 0.1 < high
    low, high = meta_analysis([0.1] * 4, [0.001] * 4, interval="knapp-hartung-unmodified").prediction_interval
    assert (low, high) == (0.1, 0.1)
