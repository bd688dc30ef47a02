"""Who wins a query: counts and the probability of superiority by hand, by SciPy, and from files."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scripts.statistics.task.superiority import superiority, without_rounding
from tests.synthesis.test_compare import metrics


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


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_rounding_is_a_tie_at_any_size_of_values(scale):
    """The mean of three equal seeds differs from the value of one in its last digits."""
    control = pd.Series(np.random.default_rng(1).uniform(0, 1, 200) * scale)
    treatment = (control + control + control) / 3
    assert (treatment != control).any() and superiority((treatment - control).to_numpy(), 0.05).ties < 200
    assert superiority(without_rounding(treatment.to_numpy(), control.to_numpy()), 0.05).ties == 200
    apart = without_rounding(control.to_numpy() * (1 + 1e-12), control.to_numpy())
    assert superiority(apart, 0.05).wins == 200


@pytest.mark.parametrize(("settings", "wins"), [({}, 1), ({"lower_is_better": True}, 2)])
def test_from_files_over_seeds_and_paired_by_id(tmp_path, settings, wins):
    control = [metrics(tmp_path, "a", "c", 0, {"1": 0.5, "2": 0.5, "3": 0.5, "4": 0.5})]
    treatment = [metrics(tmp_path, "a", "t", 1, {"2": 0.9, "1": 0.2, "3": 0.4, "4": 0.4}),
                 metrics(tmp_path, "a", "t", 2, {"1": 0.2, "2": 0.9, "3": 0.6, "4": 0.5})]  # fmt: skip
    reported = json.dumps({"measure": "P@1", "alpha": 0.05} | settings)
    command = [sys.executable, "scripts/synthesis/superiority_table.py", "--control", *control, "--treatment", *treatment,
               "--table", tmp_path / "q.tsv", "--differences", tmp_path / "d.tsv", "--settings", reported]  # fmt: skip
    subprocess.run(command, check=True, env={"PYTHONPATH": ".", "PATH": "/usr/bin:/bin"})
    row = pd.read_csv(tmp_path / "q.tsv", sep="\t").iloc[0]
    assert (row["task"], row["n"], row["wins"], row["ties"]) == ("a", 4, wins, 1)
    differences = pd.read_csv(tmp_path / "d.tsv", sep="\t", dtype=str)
    assert list(differences.columns) == ["task", "query_id", "difference"] and list(differences["query_id"]) == list(
        "1234"
    )
    assert differences["difference"].astype(float).to_numpy() == pytest.approx([-0.3, 0.4, 0.0, -0.05])
