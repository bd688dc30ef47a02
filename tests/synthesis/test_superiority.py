"""Who wins a query: counts and the probability of superiority by hand, by SciPy, and from files."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ranktrial.statistics.superiority import superiority, without_rounding
from scripts.synthesis.tables import queries
from tests.support.calling import call
from tests.synthesis.test_compare import metrics

SETTINGS = {"control": "c", "treatment": "t", "measure": "P@1", "alpha": 0.05}


def test_by_hand():
    found = superiority(np.array([0.5, 0.2, 0.0, -0.1]), 0.05)
    assert (found.wins, found.ties, found.losses, found.superiority) == (2, 1, 1, 0.625)


@pytest.mark.parametrize("seed", range(5))
def test_the_probability_is_the_mean_over_pairs_of_scipys_two_sample_one(seed):
    """Mann and Whitney's U of two samples of one value each is 1, 1/2 or 0; over n pairs their mean is PS."""
    x, y = np.random.default_rng(seed).integers(0, 4, (2, 30)) / 4
    u = [stats.mannwhitneyu([a], [b], method="exact").statistic for a, b in zip(x, y, strict=True)]
    found = superiority(x - y, 0.05)
    assert found.superiority == pytest.approx(np.mean(u), rel=1e-14)
    assert found.wins + found.ties + found.losses == 30
    assert superiority(y - x, 0.05).superiority == pytest.approx(1 - found.superiority, rel=1e-14)


@pytest.mark.parametrize(("wins", "n", "alpha"), [(0, 10, 0.05), (7, 10, 0.05), (10, 10, 0.1), (130, 400, 0.01)])
def test_without_ties_the_interval_is_wilsons(wins, n, alpha):
    found = superiority(np.where(np.arange(n) < wins, 0.1, -0.1), alpha)
    theirs = stats.binomtest(wins, n).proportion_ci(1 - alpha, method="wilson")
    assert (found.ci_low, found.ci_high) == pytest.approx((theirs.low, theirs.high), rel=1e-12, abs=1e-15)


def test_with_ties_the_interval_covers_at_least_as_often_as_it_says():
    """5,000 samples of 60 queries, 40% ties; the bound is four standard errors of a proportion of .95 below it."""
    draws = np.random.default_rng(1).choice([1.0, 0.0, -1.0], p=[0.4, 0.4, 0.2], size=(5000, 60))
    found = [superiority(sample, 0.05) for sample in draws]
    coverage = np.mean([one.ci_low <= 0.6 <= one.ci_high for one in found])
    assert coverage > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 5000)


def test_copies_of_queries_in_clusters_add_nothing():
    gains = np.random.default_rng(3).choice([1.0, 0.0, -1.0], p=[0.6, 0.1, 0.3], size=40)
    alone, copied = superiority(gains, 0.05), superiority(gains.repeat(5), 0.05, np.arange(40).repeat(5))
    assert copied.ci_low < alone.ci_low and copied.ci_high > alone.ci_high, "t in place of z"
    assert copied.ci_high - copied.ci_low == pytest.approx(alone.ci_high - alone.ci_low, rel=0.06)
    assert superiority(gains, 0.05, np.arange(40)) == alone


def test_clusters_that_agree_wholly_count_once_each_and_one_cluster_says_nothing():
    won = superiority(np.ones(100), 0.05, np.arange(20).repeat(5))
    assert won.ci_low == pytest.approx(20 / (20 + stats.t.ppf(0.975, 19) ** 2)) and won.ci_high == 1
    assert superiority(np.array([1.0, -1.0, 1.0]), 0.05, np.zeros(3, int))[-2:] == (0.0, 1.0)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_with_clusters_the_interval_covers_as_often_as_it_says(correlation):
    """400 samples of 20 clusters of 5; three binomial errors below .95."""
    generator, units, true = np.random.default_rng(4), np.arange(20).repeat(5), stats.norm.cdf(0.6)
    common = generator.standard_normal((400, 20)).repeat(5, axis=1)
    samples = 0.6 + np.sqrt(correlation) * common + np.sqrt(1 - correlation) * generator.standard_normal((400, 100))
    found = [superiority(sample, 0.05, units) for sample in samples]
    assert np.mean([one.ci_low <= true <= one.ci_high for one in found]) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)


def test_the_clusters_of_a_file_are_those_of_the_interval(tmp_path):
    values = dict(zip(map(str, range(40)), np.random.default_rng(5).choice([0.0, 1.0], 40), strict=True))
    files = {"control": metrics(tmp_path, "a", "c", 0, dict.fromkeys(values, 0.5)),
             "treatment": metrics(tmp_path, "a", "t", 0, values),
             "table": tmp_path / "q.tsv", "differences": tmp_path / "d.tsv"}  # fmt: skip
    (tmp_path / "clusters.tsv").write_text("".join(f"{query}\tc{int(query) // 4}\n" for query in values))
    for given, units in (({}, None), ({"cluster_files": {"a": str(tmp_path / "clusters.tsv")}}, np.arange(40) // 4)):
        call(queries, SETTINGS | given, **files)
        row = pd.read_csv(tmp_path / "q.tsv", sep="\t").iloc[0]
        expected = superiority(np.array([*values.values()]) - 0.5, 0.05, units)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((expected.ci_low, expected.ci_high))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_rounding_is_a_tie_at_any_size_of_values(scale):
    """The mean of three equal seeds differs from the value of one in its last digits."""
    control = pd.Series(np.random.default_rng(1).uniform(0, 1, 200) * scale)
    treatment = (control + control + control) / 3
    assert (treatment != control).any() and superiority((treatment - control).to_numpy(), 0.05).ties < 200
    assert superiority(without_rounding(treatment.to_numpy(), control.to_numpy()), 0.05).ties == 200
    apart = control.to_numpy() + np.maximum(2e-12, control.to_numpy() * 1e-12)
    assert superiority(without_rounding(apart, control.to_numpy()), 0.05).wins == 200


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_equal_gains_are_ties_although_they_are_smaller_than_the_values(scale):
    starts, gain = np.random.default_rng(1).integers(0, 900, (2, 500)), np.arange(500) % 5 + 1
    treatment, control = ((start + gain) / 1000 * scale - start / 1000 * scale for start in starts)
    assert (treatment != control).any() and superiority(without_rounding(treatment, control), 0.05).ties == 500


@pytest.mark.parametrize(("settings", "wins"), [({}, 1), ({"lower_is_better": True}, 2)])
def test_from_files_over_seeds_and_paired_by_id(tmp_path, settings, wins):
    control = [metrics(tmp_path, "a", "c", 0, {"1": 0.5, "2": 0.5, "3": 0.5, "4": 0.5})]
    treatment = [metrics(tmp_path, "a", "t", 1, {"2": 0.9, "1": 0.2, "3": 0.4, "4": 0.4}),
                 metrics(tmp_path, "a", "t", 2, {"1": 0.2, "2": 0.9, "3": 0.6, "4": 0.5})]  # fmt: skip
    outputs = {"table": tmp_path / "q.tsv", "differences": tmp_path / "d.tsv"}
    call(queries, SETTINGS | settings, control=control, treatment=treatment, **outputs)
    row = pd.read_csv(tmp_path / "q.tsv", sep="\t").iloc[0]
    assert (row["task"], row["n"], row["wins"], row["ties"]) == ("a", 4, wins, 1)
    differences = pd.read_csv(tmp_path / "d.tsv", sep="\t", dtype=str)
    assert list(differences.columns) == ["task", "query_id", "difference"] and list(differences["query_id"]) == list(
        "1234"
    )
    assert differences["difference"].astype(float).to_numpy() == pytest.approx([-0.3, 0.4, 0.0, -0.05])
