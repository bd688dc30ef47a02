"""The mean on these collections: Welch's interval of a stratified mean, by SciPy where it has one."""

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.comparison import compare
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.method import DEFAULTS, Method
from ranktrial.statistics.observed_tasks import EffectSize, dependence_of, observed_task
from ranktrial.statistics.seeds import SeedEffects, SeedSource, shares_of
from ranktrial.statistics.synthesise import fixed_mean, synthesise


def test_two_tasks_are_welchs_test():
    """The difference of two means has the variance of their sum, so one task with its sign turned is Welch's test."""
    generator = np.random.default_rng(1)
    first, second = generator.normal(0.1, 0.2, 12), generator.normal(0.05, 0.4, 30)
    tasks = {name: observed_task(x, 0 * x, range(len(x)), DEFAULTS) for name, x in (("a", first), ("b", second))}
    found = fixed_mean(np.array([first.mean(), second.mean()]), dependence_of(tasks, {}, []), 0.05)
    welch = stats.ttest_ind(first, -second, equal_var=False)
    low, high = welch.confidence_interval()
    assert (found.p_value, found.df) == pytest.approx((welch.pvalue, welch.df), rel=1e-12)
    assert (found.ci_low, found.ci_high) == pytest.approx((low / 2, high / 2), rel=1e-12)


def test_tasks_over_the_same_queries_are_the_paired_test_of_each_querys_mean():
    values = np.random.default_rng(2).normal(0.1, 0.3, (3, 20))
    tasks = {str(row): observed_task(one, 0 * one, range(20), DEFAULTS) for row, one in enumerate(values)}
    dependence = dependence_of(tasks, dict.fromkeys(tasks, "one corpus"), [])
    found = fixed_mean(values.mean(axis=1), dependence, 0.05)
    paired = stats.ttest_1samp(values.mean(axis=0), 0)
    low, high = paired.confidence_interval()
    assert found.df == 19
    assert (found.p_value, found.ci_low, found.ci_high) == pytest.approx((paired.pvalue, low, high), rel=1e-9)


def test_a_seed_effect_that_tasks_share_does_not_average_out():
    """Two tasks, four seeds: the same checkpoint is .02 better on both, so a quarter of its variance stays in the mean."""
    seed_effect = SeedEffects(
        SeedSource("t", 4, np.full((2, 2), 0.0004), np.zeros((2, 2))), shares_of([4, 4]), np.ones(2), np.zeros(2)
    )
    dependence = Dependence(np.diag([0.0001, 0.0003]), (99.0, 99.0), (0, 1), (seed_effect,))
    found = fixed_mean(np.array([0.1, 0.2]), dependence, 0.05)
    assert found.effect == pytest.approx(0.15, rel=1e-15)
    assert found.variance == pytest.approx((0.0001 + 0.0003) / 4 + 0.0004 / 4, rel=1e-12)


def test_it_covers_the_mean_of_these_tasks_whatever_they_differ_by():
    """Of two tasks too, where t(1) of the random-effects interval says nothing."""
    generator, truth = np.random.default_rng(3), np.array([0.3, -0.1])
    covered = []
    for _ in range(2000):
        samples = [generator.normal(mean, sd, n) for mean, sd, n in zip(truth, (0.1, 0.4), (25, 60), strict=True)]
        variances = np.diag([x.var(ddof=1) / len(x) for x in samples])
        mean = fixed_mean(np.array([x.mean() for x in samples]), Dependence(variances, (24.0, 59.0), (0, 1)), 0.05)
        covered.append(mean.ci_low <= truth.mean() <= mean.ci_high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)  # three standard errors


def test_one_task_is_its_own_mean_and_a_correlation_is_reported_as_r():
    control = np.array([0.1, 0.5, 0.3, 0.9, 0.2])
    gains = np.array([0.1, 0.0, 0.2, 0.1, 0.05])
    one = compare({"a": (control, control + gains)}).synthesis
    assert one.fixed_mean == one.meta.summary and one.meta.interval == "t"
    z = {str(value): EffectSize("CORR", 103, 0, 0, value, 0.01) for value in (0.2, 0.9)}
    assert synthesise(z, Method(effect="CORR")).fixed_mean.effect == pytest.approx(np.tanh(0.55), rel=1e-14)
