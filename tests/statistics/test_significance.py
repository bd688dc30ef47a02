"""Paired tests against SciPy, and adjusted p-values against hand-worked ones."""

import itertools
import math
import time
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.significance import (
    benjamini_hochberg,
    equivalence_test,
    holm,
    paired_t_test,
    randomisation_test,
)

GENERATOR = np.random.default_rng(3)
CONTROL = GENERATOR.random(60)
TREATMENT = np.clip(CONTROL + GENERATOR.normal(0.05, 0.2, 60), 0, 1)


def test_t_test_is_scipys():
    found, expected = paired_t_test(TREATMENT, CONTROL), stats.ttest_rel(TREATMENT, CONTROL)
    assert (found.t, found.p_value) == (pytest.approx(expected.statistic, rel=1e-12), pytest.approx(expected.pvalue))
    assert found.df == 59
    assert found.log10_p == pytest.approx(math.log10(expected.pvalue), rel=1e-10)


def test_t_test_does_not_underflow():
    control = np.tile([0.1, 0.2], 5000)
    found = paired_t_test(control + np.tile([0.5, 0.51], 5000), control)
    assert stats.ttest_rel(control + np.tile([0.5, 0.51], 5000), control).pvalue == 0
    assert found.p_value > 0
    assert found.log10_p < -10_000


def test_a_constant_difference_has_no_t_test():
    assert "same for every query" in paired_t_test(CONTROL + 0.1, CONTROL).undefined


def statistic(differences: np.ndarray, axis: int) -> np.ndarray:
    return differences.mean(axis=axis)


@pytest.mark.parametrize("n", [2, 7, 12])
def test_exact_randomisation_is_scipys(n):
    found = randomisation_test(TREATMENT[:n], CONTROL[:n], seed=0)
    differences = TREATMENT[:n] - CONTROL[:n]
    expected = stats.permutation_test((differences,), statistic, permutation_type="samples", vectorized=True)
    assert found.exact and found.permutations == 2**n
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_drawn_randomisation_agrees_with_the_exact_one():
    """Within four standard errors of a binomial share of 100,000."""
    exact = randomisation_test(TREATMENT[:17], CONTROL[:17], seed=0, permutations=2**17)
    drawn = randomisation_test(TREATMENT[:17], CONTROL[:17], seed=0, permutations=100_000)
    assert exact.exact and not drawn.exact
    assert abs(drawn.p_value - exact.p_value) < 4 * math.sqrt(exact.p_value * (1 - exact.p_value) / 100_000)
    assert drawn.p_value * 100_001 == pytest.approx(round(drawn.p_value * 100_001), abs=1e-6)


def test_randomisation_is_seeded():
    first, again, other = (randomisation_test(TREATMENT, CONTROL, seed).p_value for seed in (1, 1, 2))
    assert first == again != other


def test_randomisation_never_gives_zero():
    found = randomisation_test(np.full(100, 0.9), np.full(100, 0.1), seed=0, permutations=999)
    assert found.p_value == 1 / 1000


def test_rounding_does_not_break_ties():
    """Counted in tenths, 46 of the 64 flips are as extreme as the data; in doubles 8 of them fall short by rounding."""
    tenths = np.array([7, -6, -8, 7, -9, 1])
    signs = np.array(list(itertools.product((1, -1), repeat=6)))
    assert (np.abs(signs @ tenths) >= abs(tenths.sum())).sum() == 46
    assert randomisation_test(tenths / 10, np.zeros(6), seed=0).p_value == 46 / 64


def test_equal_systems_are_not_significant():
    found = randomisation_test(CONTROL, CONTROL, seed=0)
    assert (found.p_value, found.exact) == (1.0, True)


def test_hundred_thousand_permutations_of_ten_thousand_queries_take_seconds_and_little_memory():
    difference = np.random.default_rng(0).normal(0.004, 0.3, 10_000)
    tracemalloc.start()
    start = time.perf_counter()
    found = randomisation_test(difference, np.zeros(10_000), seed=0)
    seconds = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.permutations == 100_000
    assert found.p_value == pytest.approx(paired_t_test(difference, np.zeros(10_000)).p_value, abs=0.01)
    assert seconds < 20
    assert peak < 10_000_000  # the signs alone would be 1e9


def test_equivalence_is_two_one_sided_t_tests():
    found = equivalence_test(TREATMENT, CONTROL, margin=0.1)
    lower = stats.ttest_rel(TREATMENT, CONTROL - 0.1, alternative="greater").pvalue
    upper = stats.ttest_rel(TREATMENT, CONTROL + 0.1, alternative="less").pvalue
    assert found.p_non_inferiority == pytest.approx(lower, rel=1e-9)
    assert found.p_equivalence == pytest.approx(max(lower, upper), rel=1e-9)
    assert max(lower, upper) == pytest.approx(upper)  # the treatment is better, so the upper margin decides


def test_interval_of_equivalence_touches_the_margin_where_p_is_alpha():
    p = equivalence_test(TREATMENT, CONTROL, margin=0.1).p_equivalence
    found = equivalence_test(TREATMENT, CONTROL, margin=0.1, alpha=p)
    assert max(-found.ci_low, found.ci_high) == pytest.approx(0.1, rel=1e-9)


def test_equivalence_without_variance_and_without_margin():
    assert equivalence_test(CONTROL, CONTROL, margin=0.1).undefined
    with pytest.raises(ValueError):
        equivalence_test(TREATMENT, CONTROL, margin=0)


def test_holm_by_hand():
    assert holm([0.01, None, 0.04, 0.03, 0.005]) == pytest.approx([0.03, None, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([None]) == [None]


def test_benjamini_hochberg_is_scipys():
    p = [0.01, 0.04, 0.03, 0.005, 0.8, 0.041]
    assert benjamini_hochberg(p) == pytest.approx(list(stats.false_discovery_control(p)))
    assert benjamini_hochberg([None, 0.02, 0.03]) == pytest.approx([None, 0.03, 0.03])
