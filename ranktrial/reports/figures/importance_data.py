"""The importance of each feature to a ranker, as the mean over its seeds: for figures and pages.

Reads the tables of importance (rankers/{source}/{system}/seed-{seed}.importance.tsv); writes nothing.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.tables import IMPORTANCE, read_table


def read_importance(path: Path) -> pd.DataFrame:
    """One seed's table."""
    return read_table(path, *IMPORTANCE)


def mean_importance(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The means of the tables by feature, in the order of what the measure loses without it."""
    whole = pd.concat(tables).groupby("feature", sort=False).mean()
    return whole.sort_values("permutation", ascending=False, kind="stable")
