"""Meta-regression of effects that depend on one another against R's rma.mv, and with seed variance by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.method import Method
from ranktrial.statistics.moderation import (
    Effects,
    MetaRegression,
    dependent_meta_regression,
    meta_regression,
    model,
    too_few_collections,
)
from ranktrial.statistics.seeds import SeedEffects, SeedSource
from tests.support import r_numbers

CASES = r_numbers.stored("rma_mv_moderators")
BY_NAME = {case["name"]: case for case in CASES}


def dependence_of(case: dict) -> Dependence:
    return Dependence(np.array(case["v"]), (99.0,) * len(case["yi"]), tuple(case["collection"]))


def design_of(case: dict) -> np.ndarray:
    return np.column_stack([np.ones(len(case["yi"])), np.array(case["mods"])])


def fitted(case: dict, interval: str = "normal", estimator: str = "REML") -> MetaRegression:
    return dependent_meta_regression(
        design_of(case), np.array(case["yi"]), dependence_of(case), estimator, interval, 0.05
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_agrees_with_rma_mv(case):
    """To the precision of its optimiser."""
    found, se = fitted(case), np.array(case["se"])
    coefficients = [found.coefficient(number) for number in range(found.p)]
    assert np.allclose([one.effect for one in coefficients], case["coefficients"], rtol=1e-5, atol=1e-6 * se)
    assert np.allclose([one.se for one in coefficients], se, rtol=1e-6)
    assert np.allclose([one.ci_low for one in coefficients], case["ci_low"], rtol=1e-5, atol=1e-5 * se)
    assert np.allclose([one.p_value for one in coefficients], case["p_values"], rtol=1e-4)
    assert found.tau2 == pytest.approx(sum(case["sigma2"]), rel=1e-5, abs=1e-8)
    assert found.qm == pytest.approx(case["qm"], rel=1e-5) and found.qm_error_df is None
    assert found.qm_p_value == pytest.approx(case["qm_p_value"], rel=1e-4)
    assert found.qe == pytest.approx(case["qe"], rel=1e-9)
    assert found.qe_p_value == pytest.approx(case["qe_p_value"], rel=1e-7)


@pytest.mark.long
@pytest.mark.slow  # R takes half a minute
def test_metafor_still_says_so():
    for stored, now in zip(CASES, r_numbers.computed("rma_mv_moderators", packages=("metafor",)), strict=True):
        for name in ("coefficients", "se", "effect_without", "cooks_distance", "dfbetas"):
            assert np.allclose(stored[name], now[name], rtol=1e-5, atol=1e-7), name


@pytest.mark.parametrize("interval", ["normal", "knapp-hartung", "knapp-hartung-unmodified"])
def test_with_a_diagonal_matrix_it_is_the_model_of_independent_tasks(interval):
    """A covariance of almost nothing takes the other way through the code and ends at the same numbers."""
    case = BY_NAME["two_moderators"]
    variances = np.diag(np.array(case["v"]))
    nearly = np.diag(variances)
    nearly[0, 1] = nearly[1, 0] = 1e-16
    dependence = replace(dependence_of(case), sampling=nearly)
    assert not dependence.independent
    how = ("REML", interval, 0.05)
    found = dependent_meta_regression(design_of(case), np.array(case["yi"]), dependence, *how)
    expected = meta_regression(design_of(case), np.array(case["yi"]), variances, *how)
    assert np.allclose(found.coefficients, expected.coefficients, rtol=1e-7)
    assert np.allclose(found.covariance, expected.covariance, rtol=1e-7)
    assert np.allclose(found.linear @ np.array(case["yi"]), found.coefficients, rtol=1e-9)
    assert np.allclose(expected.linear @ np.array(case["yi"]), expected.coefficients, rtol=1e-9)
    for name in ("df", "qm_df", "qe_df", "qm_error_df"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("qm", "qm_p_value", "qe", "tau2", "tau2_of_all", "i2", "h2", "scale"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6), name


def test_degrees_of_freedom_are_of_collections_where_these_are_a_level():
    found = fitted(BY_NAME["corpora"], "knapp-hartung")
    assert found.df == 4 - 2 and found.qe_df == 8 - 2
    assert too_few_collections(dependence_of(BY_NAME["corpora"]), 4) == (
        "the tasks are of 4 corpora; a model with 4 coefficients needs at least 5"
    )
    assert too_few_collections(dependence_of(BY_NAME["one_corpus"]), 4) is None  # each task is its own


@pytest.mark.parametrize(
    ("collections", "marked", "level"),
    [
        ([0, 0, 1, 2, 3, 4, 5, 6], [[0]], False),  # each other task is of its own collection
        ([0, 0, 1, 1, 2, 3, 4, 5, 6, 7], [[0], [2]], False),
        ([0, 0, 1, 1, 2, 3, 4, 5, 6], [[0], [4]], True),
        ([0, 0, 1, 1, 2, 3, 4, 5, 6, 7], [[0, 1], [2, 3]], True),  # tasks that differ within a collection
    ],
)
def test_collections_are_a_level_only_where_the_moderators_leave_it_apart_from_tasks(collections, marked, level):
    k, generator = len(collections), np.random.default_rng(3)
    labels, y = np.array(collections), generator.normal(0, 0.2, k)
    columns = [np.isin(np.arange(k), places).astype(float) for places in marked]
    design = np.column_stack([np.ones(k), *columns])
    sampling = 0.01 * np.eye(k) + 0.002 * (labels[:, None] == labels)
    how = (design, y), ("REML", "knapp-hartung", 0.05)
    found = dependent_meta_regression(*how[0], Dependence(sampling, (99.0,) * k, tuple(collections)), *how[1])
    alone = dependent_meta_regression(*how[0], Dependence(sampling, (99.0,) * k, tuple(range(k))), *how[1])
    assert found.df == (labels.max() + 1 if level else k) - design.shape[1]
    assert level or found.coefficients == pytest.approx(alone.coefficients, rel=1e-12)


def seed_effect(k: int, common: float, alone: float = 0.0, seeds: int = 3) -> SeedEffects:
    """Of a system with `seeds` seeds on k tasks; B - R has `common` beside the diagonal, `alone` more on it."""
    source = SeedSource("t", seeds, np.full((k, k), common) + alone * np.eye(k), np.zeros((k, k)))
    return SeedEffects(source, np.full((k, seeds), 1 / seeds), np.ones(k), np.zeros(k))


@pytest.mark.parametrize("name", ["one_corpus", "two_moderators"])
@pytest.mark.parametrize("interval", ["normal", "knapp-hartung"])
def test_a_seed_effect_that_all_tasks_share_moves_the_intercept_and_not_a_slope(name, interval):
    case = BY_NAME[name]
    k = len(case["yi"])
    given = fitted(case, interval)
    dependence = replace(dependence_of(case), seed_effects=(seed_effect(k, 0.0009),))
    found = dependent_meta_regression(design_of(case), np.array(case["yi"]), dependence, "REML", interval, 0.05)
    assert found.coefficients == pytest.approx(given.coefficients, rel=1e-12)
    intercept, before = found.coefficient(0), given.coefficient(0)
    assert intercept.variance == pytest.approx(before.variance + 0.0009 / 3, rel=1e-9)
    parts = [(before.variance, before.df or math.inf), (0.0003, 2)]
    expected_df = sum(v for v, _ in parts) ** 2 / sum(v**2 / df for v, df in parts)
    assert intercept.df == pytest.approx(expected_df, rel=1e-9)
    for number in range(1, found.p):
        assert found.coefficient(number).variance == pytest.approx(given.coefficient(number).variance, rel=1e-6)
    assert found.qm == pytest.approx(given.qm, rel=1e-5)
    assert found.qm_p_value == pytest.approx(given.qm_p_value, rel=1e-4)


def test_seed_variance_of_tasks_alone_is_in_every_coefficient_and_in_the_test_of_all():
    """By hand: Cov b = scale A (S + tau2) A' + A L A', L of the seeds, where tasks have nothing else in common."""
    case = BY_NAME["two_moderators"]
    k, y, design = len(case["yi"]), np.array(case["yi"]), design_of(case)
    of_seeds = seed_effect(k, 0.0004, alone=0.0006)
    sampling = np.diag(np.diag(np.array(case["v"])))
    dependence = Dependence(sampling, (99.0,) * k, tuple(range(k)), (of_seeds,))
    found = dependent_meta_regression(design, y, dependence, "PM", "knapp-hartung", 0.05)
    assert found.estimator == "PM"  # of independent tasks each estimator can be had
    omega = sampling + (0.0006 / 3 + found.tau2) * np.eye(k)
    w = np.linalg.inv(omega)
    a = np.linalg.inv(design.T @ w @ design) @ design.T @ w
    residuals = y - design @ a @ y
    scale = max(1.0, residuals @ w @ residuals / (k - 3))
    covariance = a @ (scale * (sampling + found.tau2 * np.eye(k)) + of_seeds.matrix()) @ a.T
    for number in range(3):
        one = found.coefficient(number)
        assert one.variance == pytest.approx(covariance[number, number], rel=1e-8)
        from_seeds = a[number] @ of_seeds.matrix() @ a[number]
        between = one.variance - from_seeds
        assert one.df == pytest.approx(one.variance**2 / (between**2 / (k - 3) + from_seeds**2 / 2), rel=1e-6)
    b = (a @ y)[1:]
    statistic = b @ np.linalg.inv(covariance[1:, 1:]) @ b / 2
    df = min(found.coefficient(number).df for number in (1, 2))
    assert found.qm == pytest.approx(statistic, rel=1e-7) and found.qm_error_df == pytest.approx(df)
    assert found.qm_p_value == pytest.approx(stats.f.sf(statistic, 2, df), rel=1e-7)


def test_a_record_says_what_it_holds_and_what_its_permutation_test_does_not():
    case = BY_NAME["two_moderators"]
    y, v = np.array(case["yi"]), np.diag(np.array(case["v"]))
    tasks = tuple(f"t{number}" for number in range(len(y)))
    values = {"a": [row[0] for row in case["mods"]]}
    method = Method(estimator="DL", interval="knapp-hartung", permutations=200, seed=1)
    dependent = model(Effects(tasks, y, v, float, dependence_of(case)), values, method)
    assert dependent.fit.permuted_as_independent and dependent.fit.estimator == "REML"
    alone = model(Effects(tasks, y, v), values, method)
    assert not alone.fit.permuted_as_independent and alone.fit.estimator == "DL"
    assert dependent.fit.coefficients[1].se != pytest.approx(alone.fit.coefficients[1].se, rel=1e-3)
    three = BY_NAME["corpora"]
    few = replace(dependence_of(three), collections=(0, 0, 1, 1, 1, 1, 2, 2))
    words = {"a": list("xyzwxyzw")}
    record = model(Effects(tasks[:8], np.array(three["yi"]), np.ones(8), float, few), words, method)
    assert record.problem == "the tasks are of 3 corpora; a model with 4 coefficients needs at least 5"
