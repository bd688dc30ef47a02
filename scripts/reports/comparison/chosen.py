"""The recipes among which systems chose, for the summary and the report; reads and writes nothing."""

from __future__ import annotations

import pandas as pd

from scripts.reports.comparison.reading import Labels

NOTE = "All recipes were trained and ranked the queries of the choice; only the chosen one ranks the tasks."
OF_TEST = "Chosen on a test set, as one does only to reproduce work that did: its values there take part in the choice."


def chosen_lines(table: pd.DataFrame, labels: Labels) -> list[str]:
    """Which recipe each system chose and how all scored; a warning for test sets."""
    lines = []
    for system, recipes in table.groupby("system", sort=False):
        chosen = recipes[recipes["chosen"] == "yes"].iloc[0]
        scores = ", ".join(f"{row.recipe}: {row.score:.4f}" for row in recipes.itertuples())
        seeds = f", the mean of {chosen['seeds']} seeds" if chosen["seeds"] > 1 else ""
        by = f"by {chosen['measure']} on {labels.task(chosen['task'])}{seeds}"
        line = f"- **{labels.system(system)}**: {chosen['recipe']} of {len(recipes)}, {by} ({scores})."
        lines.append(f"{line} **{OF_TEST}**" if chosen["split"] == "test" else line)
    return lines
