"""Intervals of a task: against SciPy, R's boot and enumeration; which kind a task gets; units that are clusters."""

from __future__ import annotations

import json
import math
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.effect_sizes import effect_size
from scripts.synthesis.effects import all_effects, effect_named
from scripts.synthesis.task_interval import task_interval
from scripts.synthesis.task_intervals import Sample, TaskInterval, all_task_intervals, bca, bootstrap_t, kind_for
from scripts.synthesis.task_results import Scores, rows, task_result, task_warnings
from tests.synthesis.test_meta_analysis import numbers_of

ORACLE = Path(__file__).parent / "oracle"
BOOT = json.loads((ORACLE / "boot.json").read_text())
X, Y = np.array(BOOT["x"]), np.array(BOOT["y"])
SETTINGS = Settings("c", "t", "m", "MD", "REML", "knapp-hartung", "t", 0.05, 1, True, 100_000, 7, False)
SKEWED = np.random.default_rng(3).beta(0.4, 2.0, (2, 60))


def interval(kind: str, x=X, y=Y, effect: str = "MD", units=None, **changes) -> TaskInterval:
    settings = replace(SETTINGS, task_interval=kind, effect=effect, **changes)
    found, warning = task_interval(x, y, effect_size(x, y, effect, settings.ddof), settings, units)
    assert warning is None
    return found


def sample(effect: str) -> Sample:
    size = effect_size(X, Y, effect)
    compute = effect_named(effect).compute
    return Sample(X, Y, np.arange(len(X)), size.estimate, size.variance, len(X) - 1,
                  lambda x, y, _: compute(x, y, 1, True), 0.05, 1, 100, 399)  # fmt: skip


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
    found = interval("bca", x, y, effect, resamples=999)
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
    jackknife = np.array([one.compute(X[units != u], Y[units != u], units[:-1])[0] for u in units])
    found, ordered = bca.from_resamples(one, estimates, jackknife), np.sort(estimates)
    for end, expected in zip((found.ci_low, found.ci_high), BOOT[stored], strict=True):
        left, right = np.searchsorted(ordered, end), np.searchsorted(ordered, end, side="right")
        assert ordered[left - 2] <= expected <= ordered[right + 1]


def test_stored_values_are_what_boot_computes_now():
    if which("Rscript") is None or subprocess.run(["Rscript", "-e", "library(boot)"], capture_output=True).returncode:
        pytest.skip("R's boot is not installed")
    result = subprocess.run(["Rscript", ORACLE / "boot.R"], capture_output=True, text=True, check=True)
    assert numbers_of(json.loads(result.stdout)) == pytest.approx(numbers_of(BOOT), rel=1e-10)


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

    def compute(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> tuple[float, float] | str:
        sums, sizes = np.bincount(units, x - y), np.bincount(units)
        return effect_named("MD").compute(sums / sizes, np.zeros(len(sums)), 1, True)

    settings = replace(SETTINGS, task_interval=kind)
    size = effect_size(x, y, "MD")
    twice, _ = task_interval(np.repeat(x, 2), np.repeat(y, 2), size, settings, doubled, compute=compute)
    assert (twice.ci_low, twice.ci_high) == pytest.approx((once.ci_low, once.ci_high), rel=1e-9)
    assert twice.p_value == pytest.approx(once.p_value, rel=1e-9)


def test_a_correlation_has_a_normal_interval_whatever_is_asked_for_but_bca():
    kinds = {name: kind_for(name, effect_named("CORR")) for name in all_task_intervals()}
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
    found, warning = task_interval(x, y, size, replace(SETTINGS, task_interval=kind))
    assert found == interval("t", x, y)
    assert why in warning and warning.endswith("it is the t interval instead")


def test_a_correlation_in_the_file_is_r_with_its_interval():
    table = rows({"a": task_result(*map(one_seed, (Y, X)), replace(SETTINGS, effect="CORR"))}, {"a": 1.0})
    half, r = 1.959963984540054 / 3, np.corrcoef(X, Y)[0, 1]
    expected = (r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    assert tuple(table.loc[0, ["effect", "ci_low", "ci_high"]]) == pytest.approx(expected, rel=1e-12)


def one_seed(values: np.ndarray) -> Scores:
    return Scores(pd.DataFrame(values[:, None]), None)


def test_fewer_than_ten_queries_are_said():
    def result(n: int):
        values = np.linspace(0, 1, n)
        return task_result(one_seed(values), one_seed(values**2), SETTINGS)

    results = {"a": result(9), "b": result(10), "c": result(1)}
    assert task_warnings(results) == ["fewer than 10 queries: a (9); tests and intervals of so few are rough"]
