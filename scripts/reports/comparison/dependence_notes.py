"""What a comparison's figure and sentence say of seeds, and of queries that are clustered; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd


def seeds_note(metas: list[dict[str, Any]], system: Callable[[str], str]) -> str:
    """Whether the intervals of these meta records hold what other seeds would give, in sentences; empty where none is
    trained here. `system` gives a system's label.
    """
    held: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for meta in metas:
        seeds = meta.get("seeds")
        for role, record in seeds.items() if isinstance(seeds, dict) else []:
            names = [meta[role]] if role in meta else [meta["control"], meta["treatment"]]
            name = " and ".join(system(name) for name in names)
            if record["status"] == "unknown":
                unknown[name] = None
            else:
                lender = f" of {system(record['source'])}" if record["status"] == "borrowed" else ""
                held[f"{name}: {record['seeds']} seeds{lender}" if "seeds" in record else name] = None
    parts = [f"Intervals hold the luck of seeds ({'; '.join(held)})."] if held else []
    if unknown:
        parts.append(
            f"The seeds of {', '.join(unknown)} are unknown: intervals take them as given, and are too narrow."
        )
    return " ".join(parts)


def clusters_note(effects: pd.DataFrame, meta: dict[str, Any], task: Callable[[str], str]) -> str:
    """The tasks whose queries are clustered, with the design effect as estimated; empty where none is. `task` gives a
    task's label. What counts as 1 because clusters are the default's choice is said.
    """
    if "clusters" not in effects:
        return ""
    clustered = effects[effects["clusters"].notna() & effects["design_effect"].notna()]
    tasks = [
        f"{task(row.task)} {row.clusters:,.0f} ({row.design_effect:.2f})" for row in clustered.itertuples(index=False)
    ]
    counts_as_1 = ", below 1 counts as 1" if meta.get("clusters_as_independent") else ""
    return f"Clusters of queries (design effect{counts_as_1}): {', '.join(tasks)}." if tasks else ""


def negative_weights_note(effects: list[pd.DataFrame], task: Callable[[str], str]) -> str:
    """Which tasks have a weight below 0 in a summary of these effects, and why; empty where none has. `task` gives a
    task's label.
    """
    rows = [row for of_comparison in effects for row in of_comparison.itertuples(index=False)]
    below = ", ".join(dict.fromkeys(task(row.task) for row in rows if pd.notna(row.weight) and row.weight < 0))
    if not below:
        return ""
    return f"A weight below 0 ({below}): the task tells little beside a more exact one that it depends on."
