"""1,000 comparisons of two systems on 20 tasks of 100 queries, from values to summaries: scipy's t-tests and
DerSimonian-Laird's formulas written out, and ours, which also has intervals, and the summaries without each task."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.benchmark.row import Result, Work

TITLE = "comparisons of 20 tasks, against scipy and the formulas written out"
UNIT = "comparisons"
TASKS, QUERIES = 20, 100


def prepare(folder: Path, small: bool) -> int:
    count = 3 if small else 1000
    values = np.random.default_rng(1).uniform(size=(count, TASKS, 2, QUERIES))
    np.save(folder / "values.npy", values)
    return count


def plain(folder: Path) -> Work:
    from scipy.stats import ttest_rel

    values = np.load(folder / "values.npy")

    def one(tasks: np.ndarray) -> tuple[float, float, float]:
        differences = [task[1] - task[0] for task in tasks]
        effects = np.array([difference.mean() for difference in differences])
        variances = np.array([difference.var(ddof=1) / len(difference) for difference in differences])
        for task in tasks:
            ttest_rel(task[1], task[0])
        weights = 1 / variances
        fixed = (weights * effects).sum() / weights.sum()
        q = (weights * (effects - fixed) ** 2).sum()
        c = weights.sum() - (weights**2).sum() / weights.sum()
        tau2 = max(0.0, (q - (len(effects) - 1)) / c)
        random = 1 / (variances + tau2)
        return (random * effects).sum() / random.sum(), 1 / np.sqrt(random.sum()), tau2

    return lambda: {"summaries": np.array([one(tasks) for tasks in values])}


def ours(folder: Path) -> Work:
    import pandas as pd

    from scripts.synthesis.comparing import compared
    from scripts.synthesis.comparison_settings import Settings
    from scripts.synthesis.task_results import Scores

    values = np.load(folder / "values.npy")
    settings = Settings(
        "c", "t", "nDCG@10", effect="MD", estimator="DL", interval="normal", task_interval="normal", alpha=0.05, ddof=1,
        hedges=False, permutations=1, seed=1, cumulative=False, dependence="independent", clusters="query",
    )  # fmt: skip
    index = [f"q{number}" for number in range(QUERIES)]

    def scores(column: np.ndarray) -> Scores:
        return Scores(pd.DataFrame({0: column}, index=index), None)

    def one(tasks: np.ndarray) -> tuple[float, float, float]:
        pairs = {f"t{n}": (scores(task[0]), scores(task[1])) for n, task in enumerate(tasks)}
        found = compared(pairs, settings).synthesis.meta
        return found.summary.effect, found.summary.se, found.tau2

    return lambda: {"summaries": np.array([one(tasks) for tasks in values])}


SIDES = {"plain": plain, "ours": ours}


def agree(side: str, plain: Result, ours: Result) -> str:
    np.testing.assert_allclose(ours["summaries"], plain["summaries"], rtol=1e-9, atol=1e-12)
    return "the same effects, standard errors and tau2"
