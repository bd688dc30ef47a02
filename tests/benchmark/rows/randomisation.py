"""20 paired randomisation tests of 100 queries with 100,000 draws: `scipy.stats.permutation_test`, and ours."""

from pathlib import Path

import numpy as np

from tests.benchmark.row import Result, Work

TITLE = "randomisation tests, against scipy.stats.permutation_test"
UNIT = "tests"
QUERIES, DRAWS = 100, 100_000
LARGEST_Z = 5.0  # of the distance of two p-values, each of so many draws


def prepare(folder: Path, small: bool) -> int:
    count = 2 if small else 20
    drawn = np.random.default_rng(1)
    np.save(folder / "values.npy", drawn.uniform(size=(count, 2, QUERIES)) + np.array([[0.05], [0.0]]))
    return count


def plain(folder: Path) -> Work:
    from scipy.stats import permutation_test

    values = np.load(folder / "values.npy")
    drawn = np.random.default_rng(1)

    def one(pair: np.ndarray) -> float:
        mean = {"statistic": lambda rows, axis: rows.mean(axis=axis), "vectorized": True}
        how = {"permutation_type": "samples", "n_resamples": DRAWS, "batch": 10_000, "rng": drawn}
        return permutation_test((pair[0] - pair[1],), **mean, **how).pvalue

    return lambda: {"p": np.array([one(pair) for pair in values])}


def ours(folder: Path) -> Work:
    from ranktrial.statistics.significance import randomisation_test

    values = np.load(folder / "values.npy")
    return lambda: {"p": np.array([randomisation_test(*pair, seed=1, permutations=DRAWS).p_value for pair in values])}


SIDES = {"plain": plain, "ours": ours}


def agree(side: str, plain: Result, ours: Result) -> str:
    error = np.sqrt((plain["p"] * (1 - plain["p"]) + ours["p"] * (1 - ours["p"])) / DRAWS)
    apart = float((np.abs(plain["p"] - ours["p"]) / error).max())
    assert apart < LARGEST_Z, f"p-values are {apart:.1f} standard errors apart"
    return f"p-values at most {apart:.1f} standard errors apart"
