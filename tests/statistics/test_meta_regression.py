"""Meta-regression against R's metafor: its stored output, and metafor itself where it is there already."""

import math

import numpy as np
import pytest

from ranktrial.statistics.design_matrix import design_of, levels, obstacle
from ranktrial.statistics.estimators import estimator_named, residual_estimator
from ranktrial.statistics.moderation import MetaRegression, arrangements, distinct, meta_regression, permutation_test
from tests.support import r_numbers
from tests.support.r_numbers import INTERVALS

CASES = r_numbers.stored("moderators")
FITS = r_numbers.fits(CASES, tuple(INTERVALS))


def data(case: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return design_of(case["mods"]).matrix, np.array(case["yi"]), np.array(case["vi"])


def ours(case: dict, fit: dict) -> MetaRegression:
    return meta_regression(*data(case), fit["estimator"], INTERVALS[fit["test"]], case["alpha"])


@pytest.mark.parametrize(("case", "fit"), FITS)
def test_agrees_with_metafor(case, fit):
    """To 8 digits; a tau2 far below every sampling variance, and a coefficient far below its error, have fewer."""
    found = ours(case, fit)
    se = np.array(fit["se"])
    coefficients = [found.coefficient(number) for number in range(found.p)]
    assert np.allclose([one.effect for one in coefficients], fit["coefficients"], rtol=1e-8, atol=1e-8 * se)
    assert np.allclose([one.se for one in coefficients], se, rtol=1e-8)
    assert np.allclose([one.ci_low for one in coefficients], fit["ci_low"], rtol=1e-8, atol=1e-8 * se)
    assert np.allclose([one.ci_high for one in coefficients], fit["ci_high"], rtol=1e-8, atol=1e-8 * se)
    assert np.allclose([one.p_value for one in coefficients], fit["p_values"], rtol=1e-6)
    assert math.isclose(found.tau2, fit["tau2"], rel_tol=1e-7, abs_tol=1e-8 * min(case["vi"]))
    for name in ("qe", "qm"):
        assert math.isclose(getattr(found, name), fit[name], rel_tol=1e-7)
        assert math.isclose(getattr(found, f"{name}_p_value"), fit[f"{name}_p_value"], rel_tol=1e-6)
    assert math.isclose(found.i2, fit["i2"], rel_tol=1e-7, abs_tol=1e-6)
    assert math.isclose(found.h2, fit["h2"], rel_tol=1e-7)
    assert np.allclose(found.weights, fit["weights"], rtol=1e-7)
    if found.r2 is not None:
        assert math.isclose(found.r2, fit["r2"], rel_tol=1e-7, abs_tol=1e-6)


@pytest.mark.parametrize("case", [case for case in CASES if "means" in case], ids=lambda case: case["name"])
def test_the_means_of_groups_are_those_of_metafors_model_without_intercept(case):
    fit = meta_regression(*data(case), "REML", "knapp-hartung", case["alpha"])
    (values,) = case["mods"].values()
    assert levels(values) == case["means"]["levels"]
    for number, level in enumerate(levels(values)):
        row = np.eye(fit.p)[0] + (np.eye(fit.p)[number] if number else 0)
        summary = fit.at(row)
        for name, expected in (("effect", "effect"), ("se", "se"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
            assert math.isclose(getattr(summary, name), case["means"][expected][number], rel_tol=1e-7), level
        assert math.isclose(summary.p_value, case["means"]["p_values"][number], rel_tol=1e-6)


@pytest.mark.parametrize(("case", "fit"), [fit for fit in FITS if "permutation" in fit.values[1]])
def test_exact_permutations_agree_with_metafor(case, fit):
    test = permutation_test(*data(case), fit["estimator"], INTERVALS[fit["test"]], 10_000, 1)
    assert test.exact
    assert math.isclose(test.p_value, fit["permutation"]["p_value"], rel_tol=1e-12)
    assert np.allclose(test.of_coefficients, fit["permutation"]["p_values"][1:], rtol=1e-12)


def test_sampled_permutations_estimate_the_exact_p_and_are_seeded():
    case = next(case for case in CASES if case["name"] == "seven_size")
    arguments = (*data(case), "DL", "knapp-hartung")
    exact = permutation_test(*arguments, 5040, 1)
    sampled = permutation_test(*arguments, 4000, 1)
    assert (exact.exact, exact.permutations, sampled.exact, sampled.permutations) == (True, 5040, False, 4000)
    error = math.sqrt(exact.p_value * (1 - exact.p_value) / 4000)
    assert 0 < abs(sampled.p_value - exact.p_value) < 4 * error
    assert sampled == permutation_test(*arguments, 4000, 1) != permutation_test(*arguments, 4000, 2)


@pytest.mark.parametrize("interval", ["normal", "knapp-hartung", "knapp-hartung-unmodified"])
@pytest.mark.parametrize("moderator", [[1.0, 2.0, 3.0, 4.0, 7.0], [0.0, 0.0, 1.0, 1.0, 1.0]])
def test_equal_effects_have_no_moderator(moderator, interval):
    """Whatever statistics rounding leaves, all permutations have the same: p is 1."""
    design, y = np.column_stack([np.ones(5), moderator]), np.full(5, 0.1 + 0.2)
    y[2] = 0.3
    found = permutation_test(design, y, np.array([1e-4, 3e-4, 2e-4, 1e-4, 5e-5]), "REML", interval, 1000, 1)
    assert found.p_value == 1 and found.of_coefficients == (1.0,)


def test_each_distinct_arrangement_comes_once():
    groups = np.array([0, 1, 0, 2, 1])
    dealt = [tuple(groups[order]) for order in arrangements(groups)]
    assert len(dealt) == len(set(dealt)) == distinct(groups) == 30
    assert all(sorted(order) == list(range(5)) for order in arrangements(groups))


@pytest.mark.parametrize("estimator", ["DL", "PM", "REML"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_without_moderators_what_is_left_is_tau2(estimator, case):
    y, v = np.array(case["yi"]), np.array(case["vi"])
    left = float(residual_estimator(estimator).residual_tau2(np.full((len(y), 1), len(y) ** -0.5), y, v))
    assert math.isclose(left, estimator_named(estimator).tau2(y, v), rel_tol=1e-9, abs_tol=1e-10 * min(v))


@pytest.mark.parametrize("estimator", ["DL", "PM", "REML"])
def test_many_designs_at_once_are_fitted_as_one_by_one(estimator):
    rng = np.random.default_rng(3)
    y, v = rng.normal(0, 0.1, 9), rng.uniform(0.001, 0.02, 9)
    designs = np.stack([np.linalg.qr(np.column_stack([np.ones(9), rng.normal(size=9)]))[0] for _ in range(50)])
    residual_tau2 = residual_estimator(estimator).residual_tau2
    together = residual_tau2(designs, y, v)
    assert np.allclose(together, [residual_tau2(design, y, v) for design in designs], rtol=1e-9, atol=1e-12)
    assert 0 < (together > 0).sum() < 50  # both ends of the search


def test_origin_and_unit_of_a_moderator_change_its_coefficient_alone():
    rng = np.random.default_rng(4)
    x, y, v = rng.normal(size=10), rng.normal(0, 0.1, 10), rng.uniform(0.001, 0.02, 10)
    near = meta_regression(design_of({"x": list(x)}).matrix, y, v, "REML", "knapp-hartung", 0.05)
    far = meta_regression(design_of({"x": list(1e6 + 1e-3 * x)}).matrix, y, v, "REML", "knapp-hartung", 0.05)
    assert math.isclose(far.qm, near.qm, rel_tol=1e-5) and math.isclose(far.tau2, near.tau2, rel_tol=1e-5)
    assert math.isclose(far.coefficients[1] * 1e-3, near.coefficients[1], rel_tol=1e-5)


def test_a_moderator_that_explains_nothing_is_found_as_often_as_the_level_says():
    """400 simulated experiments of five tasks: the t-test holds its level, within 4 standard errors; the z-test does not."""
    rng = np.random.default_rng(7)
    design, variances = design_of({"x": list(rng.normal(size=5))}).matrix, rng.uniform(1e-4, 1.5e-3, 5)
    effects = rng.normal(0, np.sqrt(variances + 0.05**2), (400, 5))

    def found(interval: str) -> float:
        fits = (meta_regression(design, y, variances, "DL", interval, 0.05) for y in effects)
        return float(np.mean([fit.qm_p_value < 0.05 for fit in fits]))

    error = math.sqrt(0.05 * 0.95 / 400)
    assert abs(found("knapp-hartung") - 0.05) < 4 * error
    assert found("normal") > 0.05 + 4 * error


@pytest.mark.parametrize(
    ("moderators", "reason"),
    [
        ({"x": [1.0, 2.0, 3.0]}, "3 tasks have an effect; a moderator needs at least 4"),
        ({"x": []}, "0 tasks have an effect; a moderator needs at least 4"),
        ({"kind": ["a", "b", "c", "a"]}, "4 tasks are too few for 3 coefficients: at least 5 are needed"),
        ({"x": [2.0] * 6}, "x is the same on all tasks"),
        (
            {"x": [1.0, 2, 3, 4, 5, 7], "z": [3.0, 5, 7, 9, 11, 15]},
            "x and z are collinear: one follows from the others",
        ),
        ({"x": [1.0, 2, 3, 4, 5, 7], "kind": ["a", "b", "b", "a", "a", "b"]}, None),
        ({"x": [6.0, 6.0000001, 6, 6, 6.0000002]}, None),
    ],
)
def test_what_cannot_be_fitted_is_said(moderators, reason):
    assert obstacle(moderators) == reason


@pytest.mark.long
def test_the_stored_numbers_are_those_of_metafor_here():
    now = r_numbers.computed("moderators", "quick", packages=("metafor",))
    for stored, computed in zip(CASES, now, strict=True):
        for fit, again in zip(stored["fits"], computed["fits"], strict=True):
            assert np.allclose(fit["coefficients"], again["coefficients"], rtol=1e-6)
            assert np.allclose(fit["se"], again["se"], rtol=1e-6)
