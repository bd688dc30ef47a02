"""Many systems at once: against enumeration by hand, R's multcomp and multcompView, SciPy, and by simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.multiple import (
    OVER_TASKS,
    STATISTICS,
    Family,
    against,
    all_pairs,
    differences,
    dunnett_p,
    family_warnings,
    groups,
    letter,
    letters,
    max_t_test,
    observed,
    rank_intervals,
    scope,
    scopes,
    tukey_p,
    variance_of_mean,
    variances,
    varying_rows,
)
from ranktrial.statistics.significance import randomisation_test
from tests.simulation.families import SITUATIONS, rates
from tests.simulation.families import drawn as simulated
from tests.support import r_numbers

STORED = r_numbers.stored("multiple")


def drawn(seed, n=30, levels=(0.0, 0.02, 0.05), noise=0.1):
    generator = np.random.default_rng(seed)
    return generator.normal(0.4, 0.2, (n, 1)) + np.array(levels) + generator.normal(0, noise, (n, len(levels)))


def test(tables, contrasts, statistic="t", alpha=0.05, permutations=5000):
    return max_t_test(tables, contrasts, statistic, alpha, permutations, seed=7)


test.__test__ = False


def by_hand(tables, contrasts, statistic):
    """The p-values of all permutations, one query after another, each statistic as its definition says."""

    def statistics(these):
        parts = []
        for i, j in zip(*contrasts, strict=True):
            each = [table[:, i] - table[:, j] for table in these]
            size = abs(sum(one.mean() for one in each) / len(each))
            se = math.sqrt(sum(one.var(ddof=1) / len(one) for one in each)) / len(each)
            parts.append(
                size if statistic == "difference" else 0 if size < 1e-12 else size / se if se > 1e-9 else math.inf
            )
        return np.array(parts)

    observed = statistics(tables)
    queries = [(place, row) for place, table in enumerate(tables) for row in range(len(table))]
    orders = list(itertools.permutations(range(tables[0].shape[1]))) if statistic == "difference" else [1, -1]
    maxima = []
    for chosen in itertools.product(orders, repeat=len(queries)):
        permuted = [table.copy() for table in tables]
        for (place, row), order in zip(queries, chosen, strict=True):
            values = tables[place][row]
            permuted[place][row] = values * order if statistic == "t" else values[list(order)]
        maxima.append(statistics(permuted).max())
    return (np.array(maxima)[:, np.newaxis] >= observed * (1 - 1e-9)).mean(axis=0)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("contrasts", [all_pairs(3), against(1, 3)], ids=["pairs", "control"])
@pytest.mark.parametrize("sizes", [{"difference": [4], "t": [9]}, {"difference": [2, 2], "t": [4, 5]}], ids=str)
def test_small_families_are_enumerated(statistic, contrasts, sizes):
    tables = [drawn(seed, n).round(3) for seed, n in enumerate(sizes[statistic])]
    found, every = test(tables, contrasts, statistic), {"difference": 6**4, "t": 2**9}[statistic]
    assert found.exact and found.permutations == every
    assert found.p_values == pytest.approx(by_hand(tables, contrasts, statistic), abs=1e-12)
    random = test(tables, contrasts, statistic, permutations=every - 1)
    assert not random.exact and np.abs(random.p_values - found.p_values).max() < 0.08


def test_two_systems_are_compared_by_the_randomisation_test():
    for seed in range(5):
        table = drawn(seed, 11, (0.0, 0.05))
        expected = randomisation_test(table[:, 1], table[:, 0], seed=1)
        assert test([table], all_pairs(2), "difference").p_values[0] == pytest.approx(expected.p_value, abs=1e-12)
        assert test([table], all_pairs(2), "t").p_values[0] == pytest.approx(expected.p_value, abs=1e-12)
        long = drawn(seed, 60, (0.0, 0.02))  # random flips, and the same ones
        expected = randomisation_test(long[:, 1], long[:, 0], seed=7, permutations=5000)
        assert not expected.exact and test([long], all_pairs(2), "t").p_values[0] == expected.p_value


@pytest.mark.parametrize("case", STORED["cases"], ids=lambda case: f"{len(case['values'])}x{len(case['values'][0])}")
def test_parametric_p_values_agree_with_multcomp_and_permuted_ones_are_close(case):
    table = np.array(case["values"])
    systems = table.shape[1]
    variance, df = variance_of_mean([table])
    for contrasts, p_of, name in ((all_pairs(systems), tukey_p, "tukey"), (against(0, systems), dunnett_p, "dunnett")):
        difference = differences([observed(table)], contrasts)[0]
        assert difference == pytest.approx(case[f"{name}_estimate"], abs=1e-12)
        p = p_of(difference, variance, df, systems)
        assert p == pytest.approx(case[f"{name}_p"], abs=5e-5)  # multcomp's integration is random
        if name == "tukey":
            assert p == pytest.approx(case["tukey_exact"], abs=1e-9)
        # Of normal data whose pairs all vary alike; true differences make the permuted differences larger.
        permuted = test([table], contrasts, "difference").p_values
        assert (permuted > p - 0.03).all() and (np.ptp(table.mean(axis=0)) > 0.1 or np.abs(permuted - p).max() < 0.04)


@pytest.mark.parametrize("systems", [2, 3, 12, 30])
@pytest.mark.parametrize("df", [1, 2, 5, 20, 200, 20000])
def test_tukey_is_the_studentised_range(systems, df):
    q = np.array([0.1, 1.0, 3.0, 5.0, 10.0])
    assert tukey_p(q, 1.0, df, systems) == pytest.approx(stats.studentized_range.sf(q, systems, df), abs=1e-9)


def test_one_way_layouts_agree_with_scipy():
    groups_of = [drawn(seed, 15, (0.05 * seed,))[:, 0] for seed in range(4)]
    variance, df = np.mean([group.var(ddof=1) for group in groups_of]) / 15, 4 * 14
    means = np.array([group.mean() for group in groups_of])
    tukey = stats.tukey_hsd(*groups_of).pvalue
    for later, earlier in zip(*all_pairs(4), strict=True):
        ours = tukey_p(means[[later]] - means[[earlier]], variance, df, 4)[0]
        assert ours == pytest.approx(tukey[later, earlier], abs=1e-9)
    dunnett = stats.dunnett(*groups_of[1:], control=groups_of[0], random_state=1).pvalue
    assert dunnett_p(means[1:] - means[0], variance, df, 4) == pytest.approx(dunnett, abs=2e-3)  # SciPy's is random
    assert dunnett_p(np.array([2.0]), 0.5, 20, 2)[0] == pytest.approx(2 * stats.t.sf(2, 20), rel=1e-10)


@pytest.mark.parametrize("case", STORED["letters"], ids=lambda case: f"{case['systems']}-{len(case['significant'])}")
def test_letters_are_those_of_multcompview(case):
    ours = letters(case["systems"], map(tuple, case["significant"]))
    assert columns(ours) == columns(case["letters"])
    if len(columns(ours)) <= case["systems"]:  # of more groups than systems it names some in another order
        assert ours == case["letters"]


def columns(given):
    """The groups that share a letter."""
    return frozenset(tuple(place for place, one in enumerate(given) if name in one) for name in set("".join(given)))


@pytest.mark.parametrize("seed", range(8))
def test_letters_say_which_systems_differ_and_cannot_be_joined_further(seed):
    generator = np.random.default_rng(seed)
    systems = 9
    pairs = list(itertools.combinations(range(systems), 2))
    reported = {pair for pair in pairs if generator.random() < 0.4}
    given = letters(systems, reported)
    for i, j in pairs:
        assert (not set(given[i]) & set(given[j])) == ((i, j) in reported)
    for group in groups(systems, reported):
        for other in set(range(systems)) - set(group):
            assert any(tuple(sorted((other, one))) in reported for one in group)


def test_rank_intervals():
    """0 differs from all, 1 and 2 from 3 and 4; 3 and 4 are open. The tuples are (better, worse)."""
    better = [(0, other) for other in (1, 2, 3, 4)] + [(1, 3), (1, 4), (2, 3), (2, 4)]
    assert rank_intervals(5, better) == [(1, 1), (2, 3), (2, 3), (4, 5), (4, 5)]
    assert rank_intervals(3, []) == [(1, 3)] * 3


def test_there_are_enough_letters():
    assert [letter(number) for number in (0, 25, 26, 51, 52, 104)] == ["a", "z", "A", "Z", ".a", "..a"]


FAMILY = Family(systems=["a", "b", "c"], permutations=999)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_an_interval_excludes_0_where_p_is_below_alpha(statistic):
    below = 0
    for seed in range(30):
        family = Family(systems=["a", "b", "c", "d"], statistic=statistic, alpha=0.2, permutations=199)
        found = scope("t", {"t": drawn(seed, 12, (0, 0.02, 0.06, 0.1))}, family)
        apart = found.test.p_values < 0.2
        low, high = found.difference - found.half_widths, found.difference + found.half_widths
        assert (apart == ((low > 0) | (high < 0))).all()
        below += apart.sum()
    assert 20 < below < 160


def test_critical_values_are_those_of_normal_theory_for_normal_data():
    table = drawn(3, 150, (0,) * 5)
    q = stats.studentized_range.ppf(0.95, 5, 149 * 4)
    assert test([table], all_pairs(5), "t").critical == pytest.approx(q / math.sqrt(2), rel=0.02)
    variance, _ = variance_of_mean([table])
    assert test([table], all_pairs(5), "difference").critical == pytest.approx(q * math.sqrt(variance), rel=0.03)


def test_over_tasks_each_task_weighs_the_same():
    tables = {"small": drawn(1, 5), "large": drawn(2, 500)}
    whole = scopes(tables, FAMILY)[-1]
    single = [scope(task, {task: table}, FAMILY) for task, table in tables.items()]
    assert whole.task == OVER_TASKS and whole.queries == 505
    assert whole.difference == pytest.approx(np.mean([one.difference for one in single], axis=0))
    assert whole.se == pytest.approx(np.sqrt(sum(one.se**2 for one in single)) / 2)
    first = tables["small"][:, 1] - tables["small"][:, 0]
    assert single[0].se[0] == pytest.approx(first.std(ddof=1) / math.sqrt(5), rel=1e-12)


def test_satterthwaite_degrees_of_freedom_are_those_of_welch_for_two_tasks():
    tables = [drawn(1, 8, (0.0, 0.0)), drawn(2, 30, (0.0, 0.0), noise=0.3)]
    variance, df = variance_of_mean(tables)
    first, second = (table[:, 1] - table[:, 0] for table in tables)
    welch = stats.ttest_ind(first, -second, equal_var=False)  # D is half the difference of first and -second
    assert df == pytest.approx(welch.df, rel=1e-10)
    p = tukey_p(np.array([(first.mean() + second.mean()) / 2]), variance, df, 2)[0]
    assert p == pytest.approx(welch.pvalue, abs=1e-10)


def test_a_tasks_draws_do_not_depend_on_the_other_tasks():
    tables = {name: drawn(seed, 40) for seed, name in enumerate("xyz")}
    alone = scope("y", {"y": tables["y"]}, FAMILY)
    among = scopes(tables, FAMILY)[1]
    assert (alone.test.p_values == among.test.p_values).all() and alone.test.critical == among.test.critical


def test_queries_on_which_all_are_equal_count_and_blocks_do_not_matter(monkeypatch):
    table = np.vstack([drawn(1, 20), np.full((20, 3), 0.5)])
    whole = observed(table)
    assert varying_rows(table).shape == (20, 3) and whole.queries == 40
    pair = table[:, 1] - table[:, 0]
    assert variances([whole], all_pairs(3))[0, 0] == pytest.approx(pair.var(ddof=1) / 40, rel=1e-10)
    before = test([table], all_pairs(3))
    label = test([table], all_pairs(3), "difference")
    monkeypatch.setattr("ranktrial.statistics.multiple._BLOCK", 1000)
    assert (test([table], all_pairs(3)).p_values == before.p_values).all()
    assert (test([table], all_pairs(3), "difference").p_values == label.p_values).all()


def test_the_family_keeps_its_error_rate_and_a_common_critical_difference_does_not():
    """200 repetitions: the standard error of a share of .05 is .015."""
    alike, unlike, *_ = SITUATIONS.values()
    for situation, statistic in ((alike, "t"), (alike, "difference"), (unlike, "t")):
        false, covered, _ = rates(*situation, statistic, repetitions=200, permutations=199)
        assert false < 0.09 and covered > 0.91
    assert rates(*unlike, "difference", repetitions=200, permutations=199)[0] > 0.09


def test_unlike_systems_are_warned_of():
    family = Family(systems=list("abcdef"), statistic="difference", permutations=199)
    table = simulated(np.random.default_rng(1), *SITUATIONS["equally good, five of sd .03, one of sd .3"])
    assert "differ by a factor of" in family_warnings(scopes({"t": table}, family), family)[0]


@pytest.mark.slow
def test_stored_values_are_what_r_computes_now():
    now = r_numbers.computed("multiple", packages=("multcomp", "multcompView"))
    assert now["letters"] == STORED["letters"]
    for computed, stored in zip(now["cases"], STORED["cases"], strict=True):
        for name, values in stored.items():
            assert np.array(computed[name]) == pytest.approx(np.array(values), abs=5e-5)
