"""Tables in Markdown; reads and writes nothing."""

from __future__ import annotations

import pandas as pd


def markdown(table: pd.DataFrame, formats: dict[str, str] | None = None) -> str:
    """A table in Markdown; `formats` maps a column to a format such as `.3f`. Empty cells stay empty."""
    shown = table.copy().astype(object)
    for column, spec in (formats or {}).items():
        if column in shown:
            shown[column] = [format(value, spec) if pd.notna(value) else "" for value in table[column]]
    shown = shown.where(shown.notna(), "").map(lambda cell: str(cell).replace("|", "\\|"))
    return shown.to_markdown(index=False, disable_numparse=True)
