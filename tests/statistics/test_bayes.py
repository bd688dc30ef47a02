"""The Bayesian summary against R's integrate, stored and, where R is installed, computed again."""

import numpy as np
import pytest

from ranktrial.statistics.bayes import bayesian_summary
from tests.statistics.test_meta_analysis import numbers_of
from tests.support import r_numbers

CASES = r_numbers.stored("bayes")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_agrees_with_integrate(case):
    found = bayesian_summary(np.array(case["y"]), np.array(case["V"]), case["tau_scale"], case["alpha"])
    ours = [found.effect, found.sd, found.ci_low, found.ci_high, found.p_above_0, found.tau_median, *found.tau_ci]
    keys = ("effect", "sd", "ci", "p_above_0", "tau_median", "tau_ci", "prediction_interval")
    expected = numbers_of([case[key] for key in keys])
    assert [*ours, *found.prediction_interval] == pytest.approx(expected, rel=1e-7, abs=1e-9 * found.sd)


def test_of_one_task_tau_is_its_prior_and_the_effect_its_mean():
    found = bayesian_summary(np.array([0.3]), np.array([[0.01]]), 0.1)
    assert found.effect == pytest.approx(0.3, rel=1e-12)
    assert found.tau_median == pytest.approx(0.1 * 0.6744897501960817, rel=1e-9)  # of a half-normal distribution


def test_with_a_prior_at_0_it_is_the_fixed_effect():
    y, v = np.array([0.1, 0.3, 0.2]), np.array([0.01, 0.02, 0.03])
    found = bayesian_summary(y, np.diag(v), 1e-7)
    assert found.effect == pytest.approx((y / v).sum() / (1 / v).sum(), rel=1e-9)
    assert found.ci_high - found.effect == pytest.approx(1.959963984540054 / np.sqrt((1 / v).sum()), rel=1e-9)


def test_effects_far_beyond_the_prior_are_integrated_as_well():
    """tau of about 1 under a prior of scale 0.05: the posterior is where both give way."""
    y, v = np.array([-1.0, 0.0, 1.0, 2.0]), np.full(4, 1e-4)
    found = bayesian_summary(y, np.diag(v), 0.05)
    tau = np.linspace(1e-6, 2, 400_001)
    log = -0.5 * (3 * np.log(v[0] + tau**2) + 5 / (v[0] + tau**2) + (tau / 0.05) ** 2)
    mass = np.cumsum(np.exp(log - log.max()))
    median = tau[np.searchsorted(mass, mass[-1] / 2)]
    assert found.tau_median == pytest.approx(median, rel=1e-4) and found.effect == pytest.approx(0.5, rel=1e-9)


@pytest.mark.long
def test_stored_values_are_what_integrate_gives_now():
    quick = ["two", "one"]  # in the order of the file
    computed = r_numbers.computed("bayes", *quick)
    stored = [case for case in CASES if case["name"] in quick]
    for now, then in zip(computed, stored, strict=True):
        assert now.pop("name") == then["name"]
        assert numbers_of(now) == pytest.approx(numbers_of({**then, "name": []}), rel=1e-8)
