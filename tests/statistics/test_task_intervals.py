"""Intervals of a task: against SciPy, R's boot and enumeration; which kind a task gets; units that are clusters."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from ranktrial.common.plugins import own_keys
from ranktrial.statistics.comparison import TaskScores, compare
from ranktrial.statistics.effects import all_effects, compute_rows, effect_named
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.task_intervals import (
    Sample,
    TaskInterval,
    _resampling,
    all_task_intervals,
    bca,
    bootstrap_t,
    method_for,
)
from ranktrial.statistics.task_intervals._resampling import resampled
from ranktrial.statistics.task_results import task_interval, task_result, task_warnings
from ranktrial.statistics.units import clustered, design_effects
from tests.statistics.test_meta_analysis import numbers_of
from tests.support import r_numbers

BOOT = r_numbers.stored("boot")
X, Y = np.array(BOOT["x"]), np.array(BOOT["y"])
METHOD = Method(seed=7)
SKEWED = np.random.default_rng(3).beta(0.4, 2.0, (2, 60))


def interval(kind: str, x=X, y=Y, effect: str = "MD", units=None, **changes) -> TaskInterval:
    method = replace(METHOD, task_interval=kind, effect=effect, **changes)
    found, warning = task_interval(x, y, effect_size(x, y, effect, method.ddof), method, units)
    assert warning is None
    return found


def sample(effect: str) -> Sample:
    size = effect_size(X, Y, effect)
    of_type = effect_named(effect)
    return Sample(X, Y, np.arange(len(X)), size.estimate, size.variance, len(X) - 1,
                  lambda x, y, _: compute_rows(of_type, x, y, 1, True), 0.05, 1, 100, 399)  # fmt: skip


def of_resamples(effect: str, indices: list[list[int]]) -> np.ndarray:
    compute = effect_named(effect).compute
    return np.array([compute(X[rows], Y[rows], 1, True) for rows in np.array(indices)]).T


def test_t_is_the_interval_and_p_value_of_the_paired_t_test():
    expected = stats.ttest_rel(X, Y)
    found = interval("t")
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected.confidence_interval(0.95)), rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.log10_p == pytest.approx(math.log10(expected.pvalue), rel=1e-12)


def test_normal_is_rangers():
    difference = X - Y
    half = stats.norm.ppf(0.975) * difference.std() / math.sqrt(len(X))
    found = interval("normal", ddof=0)
    ends = difference.mean() - half, difference.mean() + half
    assert (found.ci_low, found.ci_high) == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize("effect", ["SMD", "d_av"])
def test_t_of_a_standardised_difference_is_of_its_own_variance(effect):
    size, found = effect_size(X, Y, effect), interval("t", effect=effect)
    assert found.ci_high == pytest.approx(size.estimate + stats.t.ppf(0.975, 11) * size.se, rel=1e-12)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(size.estimate / size.se), 11), rel=1e-12)


@pytest.mark.parametrize("effect", ["MD", "CORR"])
def test_bca_of_the_same_resamples_is_scipys(effect):
    def statistic(x: np.ndarray, y: np.ndarray) -> float:
        return np.mean(x - y) if effect == "MD" else math.atanh(np.corrcoef(x, y)[0, 1])

    x, y = SKEWED
    expected = stats.bootstrap((x, y), statistic, paired=True, vectorized=False, n_resamples=999, method="BCa",
                               random_state=np.random.default_rng(7))  # fmt: skip
    found = interval("bca", x, y, effect, own={"resamples": 999})
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)


def test_the_studentised_bootstrap_of_the_same_resamples_is_that_of_r():
    found = bootstrap_t.from_resamples(sample("MD"), *of_resamples("MD", BOOT["md_indices"]))
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(BOOT["stud"]), rel=1e-12)


@pytest.mark.parametrize(
    ("effect", "stored", "indices"), [("MD", "bca_md", "md_indices"), ("CORR", "bca_z", "z_indices")]
)
def test_bca_of_the_same_resamples_is_that_of_r_but_for_its_way_between_two_of_them(effect, stored, indices):
    """R interpolates between order statistics on the normal scale, and counts (B + 1) of them; so one step apart."""
    one, estimates = sample(effect), of_resamples(effect, BOOT[indices])[0]
    units = np.arange(len(X))
    compute = effect_named(effect).compute
    jackknife = np.array([compute(X[units != u], Y[units != u], 1, True)[0] for u in units])
    found, ordered = bca.from_resamples(one, estimates, jackknife), np.sort(estimates)
    for end, expected in zip((found.ci_low, found.ci_high), BOOT[stored], strict=True):
        left, right = np.searchsorted(ordered, end), np.searchsorted(ordered, end, side="right")
        assert ordered[left - 2] <= expected <= ordered[right + 1]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 25])
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("own", [{}, {"hedges": False}])
@pytest.mark.parametrize("effect", list(all_effects()))
def test_many_samples_at_once_are_as_one_at_a_time(effect, own, ddof, n):
    """With rows that have no effect: equal systems, a constant shift, one constant system, systems in proportion."""
    g = np.random.default_rng(n)
    x, y = g.uniform(0, 1, (2, 60, n))
    x[40:45], x[45:50], x[50:53], y[53:56], x[56:60] = y[40:45], y[45:50] + 0.25, 0.5, 0.125, 2 * y[56:60]
    of_type = effect_named(effect)
    keys = own_keys(of_type, own)
    found = compute_rows(of_type, x, y, ddof, keys)
    for row in range(60):
        one = of_type.compute(x[row], y[row], ddof, keys)
        expected = (np.nan, np.nan) if isinstance(one, str) else one
        assert found[row] == pytest.approx(expected, rel=1e-11, nan_ok=True), (row, one)


def test_an_effect_type_that_knows_one_sample_at_a_time_is_asked_so():
    def compute(x, y, ddof, keys):
        return "nothing" if x[0] > 0.5 else (x.mean() - y.mean(), 1.0 + ddof)

    x, y = np.array([[0.1, 0.3], [0.9, 0.0]]), np.zeros((2, 2))
    found = compute_rows(SimpleNamespace(compute=compute), x, y, 1, True)
    assert found[0].tolist() == [0.2, 2.0] and np.isnan(found[1]).all()


@pytest.mark.parametrize("effect", ["MD", "SMD"])
@pytest.mark.parametrize("sizes", [[1] * 9, [1, 2, 5, 1, 3, 2], [3] * 6], ids=["queries", "uneven", "even"])
def test_resamples_in_blocks_are_those_one_at_a_time(effect, sizes, monkeypatch):
    """The same draws, and each resample's effect and design effect, in whatever blocks."""
    units = np.random.default_rng(2).permutation(np.repeat(np.arange(len(sizes)), sizes))
    x, y = np.random.default_rng(3).uniform(0, 1, (2, len(units)))
    effect_type = effect_named(effect)

    def compute(x, y, labels):
        difference = x - y
        results = compute_rows(effect_type, x, y, 1, own_keys(effect_type, {}))
        factors = design_effects(difference - difference.mean(axis=1, keepdims=True), labels)
        return results * np.column_stack([np.ones(len(x)), factors])

    one = Sample(x, y, units, 0.1, 1.0, 5.0, compute, 0.05, 4, 100, own_keys(bca, {"resamples": 250}))
    found = resampled(one)
    drawn = np.random.default_rng(4).integers(0, len(sizes), (250, len(sizes)))
    for number, chosen in enumerate(drawn):
        members = [np.flatnonzero(units == unit) for unit in chosen]
        queries, labels = np.concatenate(members), np.repeat(np.arange(len(chosen)), [len(own) for own in members])
        estimate, variance = effect_type.compute(x[queries], y[queries], 1, own_keys(effect_type, {}))
        difference = x[queries] - y[queries]
        variance *= clustered(difference - difference.mean(), labels).design_effect
        assert found[number] == pytest.approx((estimate, variance), rel=1e-11)
    monkeypatch.setattr(_resampling, "_ROWS", 40)
    assert (resampled(one) == found).all()


def test_stored_values_are_what_boot_computes_now():
    assert numbers_of(r_numbers.computed("boot", packages=("boot",))) == pytest.approx(numbers_of(BOOT), rel=1e-10)


def p_of_shift(x: np.ndarray, y: np.ndarray, shift: float) -> float:
    """The exact randomisation test of all flips, by SciPy."""
    return stats.permutation_test((x - shift, y), lambda a, b: np.mean(a - b), permutation_type="samples",
                                  n_resamples=np.inf).pvalue  # fmt: skip


def test_the_randomisation_interval_holds_the_shifts_that_the_test_does_not_reject():
    x, y = np.round(X[3:] + np.linspace(0, 0.02, 9) ** 2, 6), Y[3:]
    found = interval("randomisation", x, y)
    width = found.ci_high - found.ci_low
    for end, outwards in ((found.ci_low, -1), (found.ci_high, 1)):
        assert p_of_shift(x, y, end - outwards * 1e-6 * width) > 0.05 >= p_of_shift(x, y, end + outwards * 1e-6 * width)
    assert found.p_value == p_of_shift(x, y, 0.0)


def test_drawn_flips_give_nearly_the_interval_of_all_flips():
    exact, drawn = interval("randomisation", X, Y), interval("randomisation", X, Y, permutations=4000)
    assert (drawn.ci_low, drawn.ci_high) == pytest.approx((exact.ci_low, exact.ci_high), abs=0.01)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(exact.p_value / 4000))


@pytest.mark.parametrize("permutations", [500, 4000])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_randomisation_interval_is_of_the_same_flips_as_the_test(digits, size, permutations):
    """Also with ties, clusters that do not change, and fewer changed ones than random flips are needed for."""
    g, compared = np.random.default_rng(6), 0
    for n in range(8, 56, 2):
        y, names = np.round(g.random(n), digits), [f"q{j}" for j in range(n)]
        x = y + np.round(np.where(np.arange(n) // size % 2, 0, g.normal(0.2, 0.6, n)), digits)
        task = TaskScores("t", y, x, names, clusters={name: f"u{j // size}" for j, name in enumerate(names)})
        method = replace(METHOD, task_interval="randomisation", permutations=permutations)
        found = compare([task], method).tasks["t"]
        if found.interval and found.interval.kind == "randomisation":
            compared, p = compared + 1, found.randomisation.p_value
            assert found.interval.p_value == p
            assert (p < 0.05) == (not found.interval.ci_low <= 0 <= found.interval.ci_high)
    assert compared > 10


@pytest.mark.parametrize("kind", list(all_task_intervals()))
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_the_p_value_is_the_level_at_which_the_interval_ends_at_0(kind, shift):
    x, y = SKEWED[0] + shift * SKEWED[1], SKEWED[1]
    p = interval(kind, x, y).p_value
    assert 0.001 < p < 1
    above, below = interval(kind, x, y, alpha=p * 1.02 + 0.002), interval(kind, x, y, alpha=p * 0.98 - 0.0005)
    assert not above.ci_low < 0 < above.ci_high and below.ci_low <= 0 <= below.ci_high


@pytest.mark.parametrize("kind", ["bca", "bootstrap-t", "randomisation"])
def test_clusters_are_drawn_and_flipped_whole(kind):
    """Queries that come in equal pairs are half as many: the interval is that of one of each pair."""
    x, y = SKEWED
    once = interval(kind, x, y)
    doubled = np.repeat(np.arange(60), 2)

    def compute(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> np.ndarray:
        means = np.array(
            [np.bincount(own, d) / np.bincount(own) for own, d in zip(units, x - y, strict=True)]
        )  # of each cluster
        return compute_rows(effect_named("MD"), means, np.zeros_like(means), 1, True)

    method = replace(METHOD, task_interval=kind)
    size = effect_size(x, y, "MD")
    twice, _ = task_interval(np.repeat(x, 2), np.repeat(y, 2), size, method, doubled, compute=compute)
    assert (twice.ci_low, twice.ci_high) == pytest.approx((once.ci_low, once.ci_high), rel=1e-9)
    assert twice.p_value == pytest.approx(once.p_value, rel=1e-9)


def test_a_correlation_has_a_normal_interval_whatever_is_asked_for_but_bca():
    kinds = {name: method_for(name, effect_named("CORR")) for name in all_task_intervals()}
    assert kinds.pop("bca") == "bca" and set(kinds.values()) == {"normal"}
    z, found = effect_size(X, Y, "CORR"), interval("t", effect="CORR")
    assert found.kind == "normal" and found.ci_low == pytest.approx(z.estimate - 1.959963984540054 / 3, rel=1e-12)
    assert all(all_task_intervals()["t"].fits(effect) == effect.HAS_DIFFERENCE for effect in all_effects().values())


@pytest.mark.parametrize(
    ("kind", "x", "y", "why"),
    [
        ("randomisation", X[:4], Y[:4] / 2, "16 flips cannot reject at 0.05"),
        ("bca", np.array([0.1] * 5 + [0.6]), np.full(6, 0.1), "% of its resamples have no effect"),
        ("bootstrap-t", np.array([0.1] * 5 + [0.6]), np.full(6, 0.1), "% of its resamples have no effect"),
    ],
)
def test_where_there_is_no_such_interval_it_is_t_and_said(kind, x, y, why):
    size = effect_size(x, y, "MD")
    found, warning = task_interval(x, y, size, replace(METHOD, task_interval=kind))
    assert found == interval("t", x, y)
    assert why in warning and warning.endswith("it is the t interval instead")


def test_a_correlation_is_reported_as_r_with_its_interval():
    found = task_result(Y[:, None], X[:, None], replace(METHOD, effect="CORR"))
    half, r = 1.959963984540054 / 3, np.corrcoef(X, Y)[0, 1]
    expected = (r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    assert (found.effect.effect, *found.ends) == pytest.approx(expected, rel=1e-12)


def test_fewer_than_ten_queries_are_said():
    def result(n: int):
        values = np.linspace(0, 1, n)[:, None]
        return task_result(values, values**2, METHOD)

    results = {"a": result(9), "b": result(10), "c": result(1)}
    for units in ("queries", "tasks"):
        said = f"fewer than 10 {units}: a (9); tests and intervals of so few are rough"
        assert task_warnings(results, units) == [said]
