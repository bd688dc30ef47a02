"""The queries with the largest wins and losses of each comparison, over all its tasks; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from ranktrial.common.keys import JsonObject
from ranktrial.explorer.task_data import LISTED, Comparison, Data, Explored
from ranktrial.statistics.superiority import without_rounding

SHOWN = 10  # of each side
COLUMNS = ("comparison", "task", "query_id", "text", "control", "treatment", "difference")


def rows(name: str, one: Comparison, tasks: Mapping[str, Data]) -> Iterator[JsonObject]:
    """All queries of a comparison."""
    for task in one.tasks:
        control, treatment = (tasks[task].values[side][one.measure] for side in (one.control, one.treatment))
        for query in tasks[task].queries:
            text = " ".join(tasks[task].texts.get(query, "").split())[:LISTED] or None
            values = {"control": control[query], "treatment": treatment[query]}
            yield {"comparison": name, "task": task, "query_id": query, "text": text, **values}


def extremes(found: pd.DataFrame, lower_is_better: bool) -> pd.DataFrame:
    """The queries with the largest wins and losses; of equal ones, those of each task in turn."""
    difference = without_rounding(found["treatment"].to_numpy(float), found["control"].to_numpy(float))
    found = found.assign(difference=difference).dropna(subset="difference")
    gain = (-found["difference"] if lower_is_better else found["difference"]).round(12)
    turn = found.groupby([found["task"], gain], sort=False).cumcount()
    ordered = found.assign(gain=gain, turn=turn).sort_values(["gain", "turn"], ascending=[False, True], kind="stable")
    won = ordered.index[ordered["gain"] > 0][:SHOWN]
    turned = ordered.sort_values(["gain", "turn"], kind="stable")
    lost = turned.index[turned["gain"] < 0][:SHOWN]
    return found.loc[[*won, *lost]]


def rows_of_all(shown: Explored, tasks: Mapping[str, Data]) -> pd.DataFrame:
    """The rows of all comparisons: first those that the treatment wins, the largest difference first."""
    parts = []
    for name in shown.order:
        one = shown.comparisons[name]
        found = pd.DataFrame(rows(name, one, tasks), columns=COLUMNS[:-1])
        parts.append(extremes(found, one.lower_is_better))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
