"""The influence of each task against R's metafor: stored values, and metafor itself where it is installed."""

import numpy as np
import pytest

from ranktrial.statistics.sensitivity import influences
from tests.support import r_numbers
from tests.support.r_numbers import INTERVALS

CASES = r_numbers.stored("influence")
DIAGNOSTICS = ("rstudent", "dffits", "dfbetas", "cooks_distance", "covariance_ratio", "hat", "baujat_x", "baujat_y")


@pytest.mark.parametrize(("case", "fit"), r_numbers.fits(CASES))
def test_agrees_with_metafor(case, fit):
    found = influences(np.array(case["yi"]), np.array(case["vi"]), fit["estimator"], INTERVALS[fit["test"]], 0.05)
    for name in DIAGNOSTICS:
        ours, theirs = np.array([getattr(one, name) for one in found]), np.array(fit[name])
        # a difference of two summaries has as many digits as it is large beside the largest
        assert np.allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max()), name
    for name in ("effect", "ci_low", "ci_high"):
        ours = np.array([getattr(one.without.summary, name) for one in found])
        assert np.allclose(ours, fit[name], rtol=1e-8, atol=1e-8 * np.ptp(case["yi"])), name
    assert np.allclose([one.without.q for one in found], fit["q"], rtol=1e-8)
    assert np.allclose([one.without.tau2 for one in found], fit["tau2"], rtol=1e-8, atol=1e-8 * min(case["vi"]))
    assert [one.influential for one in found] == [bool(value) for value in fit["influential"]]


def test_an_outlier_is_influential_and_its_neighbours_are_not():
    case = next(case for case in CASES if case["name"] == "outlier")
    found = influences(np.array(case["yi"]), np.array(case["vi"]), "REML", "normal", 0.05)
    assert [one.influential for one in found] == [False] * 4 + [True, False]
    assert max(found, key=lambda one: one.baujat_y or 0) is found[4]


@pytest.mark.long
@pytest.mark.slow  # R takes seconds
def test_metafor_still_says_so():
    for stored, now in zip(CASES, r_numbers.computed("influence", packages=("metafor",)), strict=True):
        for one, other in zip(stored["fits"], now["fits"], strict=True):
            for name in (*DIAGNOSTICS, "effect", "tau2", "q"):
                assert np.allclose(one[name], other[name], rtol=1e-8, atol=1e-8 * np.abs(one[name]).max()), name


def test_equal_effects_have_no_ratio_to_a_variance_of_zero():
    equal = influences(np.array([0.1, 0.1, 0.1]), np.array([0.01, 0.02, 0.03]), "DL", "knapp-hartung-unmodified", 0.05)
    assert [one.cooks_distance for one in equal] == [None] * 3 and not any(one.influential for one in equal)


def test_influence_needs_three_tasks():
    with pytest.raises(ValueError, match="at least 3"):
        influences(np.array([0.1, 0.2]), np.array([0.1, 0.2]), "DL", "normal", 0.05)
