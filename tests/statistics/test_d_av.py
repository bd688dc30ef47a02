"""d_av: by hand, against Bonett's variance where both standard deviations are equal, and by simulation."""

import math

import numpy as np
import pytest

from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.paired import Hedges

# Means 4 and 2, deviations 0, 2, -2, 0 and -1, 1, -1, 1, so variances 8/3 and 4/3, covariance 4/3, r^2 = 1/2.
TREATMENT, CONTROL = np.array([4.0, 6, 2, 4]), np.array([1.0, 3, 1, 3])


def bonett_se(means: tuple[float, float], sds: tuple[float, float], r: float, n: int) -> tuple[float, float]:
    """Estimate and standard error of Bonett (2008) for paired scores, by the root of the mean variance."""
    v1, v2, df = sds[0] ** 2, sds[1] ** 2, n - 1
    s2, covariance = (v1 + v2) / 2, r * sds[0] * sds[1]
    d = (means[0] - means[1]) / math.sqrt(s2)
    difference = v1 + v2 - 2 * covariance
    return d, math.sqrt(difference / (df * s2) + d**2 * (v1**2 + v2**2 + 2 * covariance**2) / (8 * df * s2**2))


def sample(n: int, means: tuple[float, float], sds: tuple[float, float], r: float) -> tuple[np.ndarray, np.ndarray]:
    """Treatment and control of size n with exactly these means, standard deviations (n - 1) and correlation."""
    basis = np.linalg.qr(np.column_stack([np.ones(n), np.arange(n), np.arange(n) ** 2]))[0][:, 1:] * math.sqrt(n - 1)
    treatment = means[0] + sds[0] * (r * basis[:, 0] + math.sqrt(1 - r**2) * basis[:, 1])
    return treatment, means[1] + sds[1] * basis[:, 0]


def test_by_hand():
    effect = effect_size(TREATMENT, CONTROL, "d_av", keys=Hedges(hedges=False))
    average = (math.sqrt(8 / 3) + math.sqrt(4 / 3)) / 2
    assert effect.effect == pytest.approx(2 / average, rel=1e-14)
    # the differences are 3, 3, 1, 1: variance 4/3; Var(S) = (8/3 + 4/3 + 2 (1/2) sqrt(32/9)) / (8 * 3)
    of_average = (4 + math.sqrt(32) / 3) / 24
    assert effect.variance == pytest.approx(4 / 3 / (3 * average**2) + 4 * of_average / average**4, rel=1e-14)


def test_the_correction_for_small_samples_is_hedges():
    d, g = (effect_size(TREATMENT, CONTROL, "d_av", keys=Hedges(hedges=hedges)) for hedges in (False, True))
    assert g.effect / d.effect == pytest.approx(1 - 3 / 11, rel=1e-14)
    assert g.variance / d.variance == pytest.approx((1 - 3 / 11) ** 2, rel=1e-14)


def test_standard_deviations_may_divide_by_n():
    one, zero = (effect_size(TREATMENT, CONTROL, "d_av", ddof=ddof, keys=Hedges(hedges=False)) for ddof in (1, 0))
    assert zero.effect == pytest.approx(one.effect * math.sqrt(4 / 3), rel=1e-14)


def test_bonetts_formula_here_is_that_of_his_package():
    """R package vcmeta, se.stdmean.ps(23.9, 25.1, 1.76, 2.01, .78, 25, 0) of its manual."""
    assert bonett_se((23.9, 25.1), (1.76, 2.01), 0.78, 25) == pytest.approx((-0.6352097, 0.1602852), abs=5e-8)


@pytest.mark.parametrize("r", [-0.4, 0.0, 0.6, 0.95])
def test_is_bonetts_where_both_standard_deviations_are_equal(r):
    effect = effect_size(*sample(25, (0.6, 0.4), (0.3, 0.3), r), "d_av", keys=Hedges(hedges=False))
    assert (effect.effect, effect.se) == pytest.approx(bonett_se((0.6, 0.4), (0.3, 0.3), r, 25), rel=1e-12)


def test_is_not_bonetts_where_they_differ():
    effect = effect_size(*sample(25, (0.6, 0.4), (0.3, 0.1), 0.5), "d_av", keys=Hedges(hedges=False))
    assert effect.effect == pytest.approx(1.0, rel=1e-12)  # 0.2 over the mean, 0.2; the root mean square is 0.224
    assert bonett_se((0.6, 0.4), (0.3, 0.1), 0.5, 25)[0] == pytest.approx(0.894, abs=5e-4)


@pytest.mark.parametrize(
    ("difference", "sds", "r"), [(0.0, (1.0, 1.0), 0.5), (1.5, (2.0, 0.5), -0.3), (-2.0, (1.0, 1.5), 0.95)]
)
def test_the_variance_is_that_of_simulated_samples(difference, sds, r):
    """The variance of 4,000 estimates has an error of 2.2% (sqrt(2/4,000)): four of these are allowed.

    What the delta method leaves out is of order 1/n, below 1% at n = 200.
    """
    n, times = 200, 4_000
    covariance = [[sds[0] ** 2, r * sds[0] * sds[1]], [r * sds[0] * sds[1], sds[1] ** 2]]
    draws = np.random.default_rng(11).multivariate_normal([difference, 0.0], covariance, (times, n))
    effects = [effect_size(x, y, "d_av") for x, y in zip(draws[:, :, 0], draws[:, :, 1], strict=True)]
    estimates = np.array([effect.effect for effect in effects])
    computed = np.mean([effect.variance for effect in effects])
    assert computed == pytest.approx(estimates.var(ddof=1), rel=0.09)
    truth = difference / np.mean(sds)
    assert estimates.mean() == pytest.approx(truth, abs=4 * math.sqrt(computed / times) + abs(truth) / (4 * (n - 1)))


SPREAD = np.array([0.1, 0.7, 0.3, 0.9])


@pytest.mark.parametrize(
    ("treatment", "control", "reason"),
    [
        ([1.0], [0.5], "1 query:"),
        ([0.1, 0.5], [0.4, 0.2], "J is 0"),
        (SPREAD + 0.1, SPREAD, "same for every query"),
        ([0.5] * 4, SPREAD, "treatment has the same value"),
        (SPREAD, [0.0] * 4, "control has the same value"),
    ],
)
def test_undefined_effects_say_why(treatment, control, reason):
    assert reason in effect_size(np.array(treatment), np.array(control), "d_av").undefined


def test_perfect_correlation_leaves_an_effect():
    assert effect_size(SPREAD * 0.3, SPREAD, "d_av").undefined is None
