"""The influence of tasks that depend on one another: against R's rma.mv, metafor's influence, and by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.independent_tasks import CONFIDENCE_DISTRIBUTION
from ranktrial.statistics.seeds import SeedEffects, SeedSource
from ranktrial.statistics.sensitivity import dependent_influences
from tests.support import r_numbers
from tests.support.r_numbers import INTERVALS

CASES = r_numbers.stored("rma_mv_moderators")
INDEPENDENT = [
    pytest.param(case, fit, id=f"{case['name']}-{fit['test']}")
    for case in r_numbers.stored("influence")
    for fit in case["fits"]
    if fit["estimator"] == "REML" and fit["test"] != "adhoc" and case["name"] in ("seven", "three", "outlier")
]


def dependence_of(case: dict, seed_effects: tuple[SeedEffects, ...] = ()) -> Dependence:
    return Dependence(np.array(case["v"]), (99.0,) * len(case["yi"]), tuple(case["collection"]), seed_effects)


MANY = 12  # tasks beyond which all refits take a minute


@pytest.mark.parametrize("case", [
    pytest.param(case, id=case["name"], marks=[pytest.mark.slow] if len(case["yi"]) > MANY else []) for case in CASES
])  # fmt: skip
def test_agrees_with_rma_mv(case):
    """Refits without a task, its Cook's distances and dfbetas, to the precision of its optimiser."""
    found = dependent_influences(np.array(case["yi"]), dependence_of(case), "REML", "normal", 0.05)
    of_tasks = [found[int(task) - 1] for task in case["tasks"]]
    effects, se = (np.array([getattr(one.without.summary, name) for one in of_tasks]) for name in ("effect", "se"))
    assert np.allclose(effects, case["effect_without"], rtol=1e-6)
    assert np.allclose(se, case["se_without"], rtol=1e-6)
    for name in ("cooks_distance", "dfbetas"):
        ours = np.array([getattr(one, name) for one in of_tasks])
        assert np.allclose(ours, case[name], rtol=1e-5, atol=1e-5 * np.abs(case[name]).max()), name
        theirs = case[f"metafor_{name}"]  # its own function gives up where a refit does not converge
        if theirs and None not in theirs:
            assert np.allclose(ours, theirs, rtol=1e-4, atol=1e-5 * np.abs(theirs).max()), name


@pytest.mark.parametrize(("case", "fit"), INDEPENDENT)
def test_with_a_covariance_of_almost_nothing_it_is_metafors_influence(case, fit):
    v = np.diag(case["vi"])
    v[0, 1] = v[1, 0] = 1e-9 * min(case["vi"])
    dependence = Dependence(v, (99.0,) * len(v), tuple(range(len(v))))
    assert not dependence.independent
    found = dependent_influences(np.array(case["yi"]), dependence, "REML", INTERVALS[fit["test"]], 0.05)
    for name in ("rstudent", "dfbetas", "cooks_distance", "covariance_ratio", "hat", "baujat_x", "baujat_y"):
        ours, theirs = np.array([getattr(one, name) for one in found]), np.array(fit[name])
        assert np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max()), name
    assert [one.dffits for one in found] == [None] * len(v)


def test_a_deleted_residual_knows_what_its_task_shares_and_seed_variance():
    """Two twins and three others: what the twin says of a task is no surprise. By hand for one task."""
    y, k = np.array([0.10, 0.11, 0.02, 0.05, 0.00]), 5
    sampling = 0.0004 * np.eye(k)
    sampling[0, 1] = sampling[1, 0] = 0.0003
    of_seeds = SeedSource("t", 4, np.full((k, k), 0.0002) + 0.0006 * np.eye(k), np.zeros((k, k)))
    seed_effect = SeedEffects(of_seeds, np.full((k, 4), 1 / 4), np.ones(k), np.zeros(k))
    dependence = Dependence(sampling, (99.0,) * k, tuple(range(k)), (seed_effect,))
    found = dependent_influences(y, dependence, "REML", "knapp-hartung", 0.05)[0]
    others = [1, 2, 3, 4]
    without = dependent_meta_analysis(
        y[others], dependence.of_subset(others), "REML", "knapp-hartung", 0.05, CONFIDENCE_DISTRIBUTION
    )
    assert found.without == without
    omega = sampling + (0.0006 / 4 + without.tau2) * np.eye(k)
    w = np.linalg.inv(omega[1:, 1:])
    c = np.array([1.0, *(-w.sum(axis=1) / w.sum())])
    mean = -c[1:] @ y[1:]
    q = (y[1:] - mean) @ w @ (y[1:] - mean) / 3
    scale = q if stats.t(3).ppf(0.975) * math.sqrt(q) > stats.norm.ppf(0.975) else 1.0
    variance = scale * (c @ omega @ c - (c**2).sum() * 0.0006 / 4) + c @ seed_effect.matrix() @ c
    assert found.rstudent == pytest.approx((y[0] - mean) / math.sqrt(variance), rel=1e-9)
    whole = dependent_meta_analysis(y, dependence, "REML", "knapp-hartung", 0.05, CONFIDENCE_DISTRIBUTION)
    assert found.cooks_distance == pytest.approx((whole.summary.effect - mean) ** 2 / whole.summary.variance, rel=1e-9)
    assert whole.summary.ci_high >= whole.given_seeds.ci_high


def test_influence_needs_three_tasks():
    with pytest.raises(ValueError, match="at least 3"):
        dependent_influences(np.array([0.1, 0.2]), Dependence(np.eye(2), (9.0, 9.0), (0, 1)), "REML", "normal", 0.05)
