"""Dependent effects against R: metafor's rma.mv, and clubSandwich's robust variance; stored, and computed where it is."""

import math

import numpy as np
import pytest

from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.least_squares import (
    FEWEST_COLLECTIONS,
    cr2,
    generalised_q,
    gls,
    omega_of,
    reml,
    structures,
    tau2_interval,
)
from tests.support import r_numbers

STORED = r_numbers.stored("rma_mv")
CASES = [pytest.param(case, id=case["name"]) for case in STORED["cases"]]
THREE_LEVELS = [param for param in CASES if param.values[0]["cr2_se"] is not None]


def levels(case: dict) -> tuple[np.ndarray, np.ndarray, list[int], list[np.ndarray]]:
    """Effects, their covariance, collections, and the structure of each component."""
    y, v = np.array(case["yi"]), np.array(case["v"])
    collections = [int(number) for number in case["collection"]]
    return y, v, collections, structures(collections)


def log_likelihood(y: np.ndarray, omega: np.ndarray) -> float:
    """The restricted log-likelihood with all its constants, as R prints it, from explicit inverses."""
    w = np.linalg.inv(omega)
    mean = (w @ y).sum() / w.sum()
    residuals = y - mean
    logs = np.linalg.slogdet(omega)[1] + math.log(w.sum()) - math.log(len(y))
    return -0.5 * ((len(y) - 1) * math.log(2 * math.pi) + logs + residuals @ w @ residuals)


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_rma_mv(case):
    """To 1e-7: rma.mv stops at 1e-8 of its likelihood, and so half the digits of a component are its own."""
    y, v, collections, z = levels(case)
    components = reml(y, v, z)
    assert components == pytest.approx(case["sigma2"], rel=1e-6, abs=1e-12)
    fit = gls(y, omega_of(v, z, components), collections)
    assert fit.mean == pytest.approx(case["effect"], rel=1e-7)
    assert fit.variance == pytest.approx(case["se"] ** 2, rel=1e-6)
    assert fit.weights == pytest.approx(case["weights"], abs=1e-7)
    fixed = gls(y, v)
    assert (fixed.mean, fixed.variance) == pytest.approx((case["fixed"], case["fixed_se"] ** 2), rel=1e-12)
    assert fixed.q == pytest.approx(case["q"], rel=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_likelihood_is_not_below_that_of_rma_mv(case):
    y, v, _, z = levels(case)
    assert log_likelihood(y, omega_of(v, z, case["sigma2"])) == pytest.approx(case["log_likelihood"], rel=1e-10)
    assert log_likelihood(y, omega_of(v, z, reml(y, v, z))) >= case["log_likelihood"] - 1e-12


@pytest.mark.parametrize("case", THREE_LEVELS)
def test_robust_variance_agrees_with_clubsandwich(case):
    """With the components of R, so that only this variance is compared."""
    y, v, collections, z = levels(case)
    robust = cr2(gls(y, omega_of(v, z, case["sigma2"]), collections))
    assert math.sqrt(robust.variance) == pytest.approx(case["cr2_se"], rel=1e-9)
    assert robust.df == pytest.approx(case["cr2_df"], rel=1e-9)


@pytest.mark.parametrize(("collections", "name"), [(None, "each"), ("collection", "cr2")])
def test_robust_variance_of_independent_tasks_agrees_with_clubsandwich(collections, name):
    case = STORED["independent"]
    labels = [int(number) for number in case[collections]] if collections else None
    omega = np.diag(np.array(case["vi"]) + case["tau2"])
    robust = cr2(gls(np.array(case["yi"]), omega, labels))
    assert math.sqrt(robust.variance) == pytest.approx(case[f"{name}_se"], rel=1e-10)
    assert robust.df == pytest.approx(case[f"{name}_df"], rel=1e-10)


def test_a_diagonal_matrix_is_the_model_of_independent_tasks():
    case = STORED["independent"]
    y, v = np.array(case["yi"]), np.array(case["vi"])
    expected = meta_analysis(y, v, "REML", "normal")
    (tau2,) = reml(y, np.diag(v), structures(range(7)))
    assert tau2 == pytest.approx(expected.tau2, rel=1e-10)
    fit = gls(y, np.diag(v + tau2))
    assert (fit.mean, fit.variance) == pytest.approx((expected.summary.effect, expected.summary.variance), rel=1e-10)
    assert tau2_interval(y, np.diag(v), 0.05) == pytest.approx(expected.tau2_ci, rel=1e-8)


def test_the_interval_of_tau2_ends_where_q_meets_the_quantiles():
    y, v, *_ = levels(STORED["cases"][1])
    low, high = tau2_interval(y, v, 0.05)
    assert generalised_q(y, v, low) == pytest.approx(9.348403604496148, rel=1e-10)  # R: qchisq(0.975, 3)
    assert generalised_q(y, v, high) == pytest.approx(0.2157952826238981, rel=1e-10)  # qchisq(0.025, 3)


def test_a_level_of_collections_needs_some_and_one_with_several_tasks():
    assert len(structures([0, 0, 1])) == 1 and FEWEST_COLLECTIONS == 3
    assert len(structures([0, 1, 2])) == 1
    task, collection = structures([0, 0, 1, 2])
    assert (task == np.eye(4)).all() and collection.sum() == 6


def test_correlated_tasks_count_less_than_independent_ones():
    together = gls(np.array([0.1, 0.1, 0.4]), np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]) * 0.01)
    assert together.mean == pytest.approx((0.1 * 2 / 1.9 + 0.4) / (2 / 1.9 + 1))


def test_a_matrix_that_is_none_of_a_covariance_and_one_cluster_are_refused():
    with pytest.raises(ValueError, match="positive definite"):
        gls(np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="two collections"):
        cr2(gls(np.array([0.1, 0.2]), np.eye(2), [0, 0]))


@pytest.mark.long
@pytest.mark.slow
def test_stored_values_are_what_r_computes_now():
    computed = r_numbers.computed("rma_mv", packages=("metafor", "clubSandwich"))
    both = zip([*computed["cases"], computed["independent"]], [*STORED["cases"], STORED["independent"]], strict=True)
    for now, stored in both:
        for key in ("effect", "se", "q", "cr2_se", "cr2_df", "each_se", "tau2"):
            if stored.get(key) is not None:
                assert now[key] == pytest.approx(stored[key], rel=1e-6, abs=1e-12)
