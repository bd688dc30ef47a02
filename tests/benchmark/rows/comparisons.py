"""1,000 comparisons of two systems on 20 tasks of 100 queries, from values to summaries: scipy's t-tests and
DerSimonian-Laird's formulas written out, and ours, which also has intervals, and the summaries without each task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.benchmark.row import Result, Work

if TYPE_CHECKING:
    from ranktrial.synthesis.comparing import Settings
    from ranktrial.synthesis.metrics_files import Scores

TITLE = "comparisons of 20 tasks, against scipy and the formulas written out"
UNIT = "comparisons"
SHAPE = (20, 2, 100)  # tasks, systems, queries


def prepare(folder: Path, small: bool) -> int:
    count = 3 if small else 1000
    values = np.random.default_rng(1).uniform(size=(count, *SHAPE))
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


def settings() -> Settings:
    """Those of the comparisons, for ours."""
    from ranktrial.synthesis.comparing import Settings

    return Settings(
        control="c", treatment="t", measure="nDCG@10", estimator="DL", interval="normal", task_interval="normal",
        permutations=1, seed=1, dependence="independent", clusters="query",
    )  # fmt: skip


def pairs(tasks: np.ndarray) -> dict[str, tuple[Scores, Scores]]:
    """Control and treatment of each task, for ours."""
    import pandas as pd

    from ranktrial.synthesis.metrics_files import Scores

    index = [f"q{number}" for number in range(tasks.shape[-1])]
    of = [[Scores(pd.DataFrame({0: column}, index=index), None) for column in task] for task in tasks]
    return {f"t{n}": (control, treatment) for n, (control, treatment) in enumerate(of)}


def ours(folder: Path) -> Work:
    from ranktrial.synthesis.comparing import compared

    values, given = np.load(folder / "values.npy"), settings()

    def one(tasks: np.ndarray) -> tuple[float, float, float]:
        found = compared(pairs(tasks), given).synthesis.meta
        return found.summary.effect, found.summary.se, found.tau2

    return lambda: {"summaries": np.array([one(tasks) for tasks in values])}


SIDES = {"plain": plain, "ours": ours}


def agree(side: str, plain: Result, ours: Result) -> str:
    np.testing.assert_allclose(ours["summaries"], plain["summaries"], rtol=1e-9, atol=1e-12)
    return "the same effects, standard errors and tau2"
