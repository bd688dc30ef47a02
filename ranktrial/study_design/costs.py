"""What each system of a comparison costs, from tables/costs.tsv: hours per training, collection and query.

Reads and writes nothing. Hours are end to end, including those of input systems. BM25's index, mining, loading and a
warm-up are not in the table, and so not in the hours.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ranktrial.statistics.power.designs import SECONDS_AN_HOUR, Hours


def hours_of(costs: pd.DataFrame, system: str) -> Hours | None:
    """The hours of a system, each a mean over its tasks and seeds; None if it was not timed."""
    runs = costs[costs["system"] == system] if len(costs) else costs
    runs = runs[runs["queries_per_second"].notna()] if len(runs) else runs
    if not len(runs):
        return None
    trainings = runs.groupby("seed")["end_to_end_training_seconds"].first()  # they were trained once for all tasks
    trainings = trainings[trainings > 0]
    encoding = runs["end_to_end_encoding_seconds"].fillna(0.0).astype(float).mean()
    queries = runs["queries_per_second"].astype(float) * runs["seconds"].astype(float)
    query = (runs["end_to_end_seconds"].fillna(runs["seconds"]).astype(float) / queries).mean()
    training = float(trainings.mean()) / SECONDS_AN_HOUR if len(trainings) else None
    return Hours(training, float(encoding) / SECONDS_AN_HOUR, float(query) / SECONDS_AN_HOUR)


def devices(costs: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The devices on which these systems were timed."""
    return sorted(set(costs[costs["system"].isin(systems)]["device"].astype(str))) if len(costs) else []
