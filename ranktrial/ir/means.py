"""The table of means: one row per task and system, and for each measure its mean with further columns.

`COLUMNS` are the further columns: what is written for the heading `MEASURE suffix`, and how pages show it. A new one is
one entry. Reads tables/means.tsv.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ranktrial.common.tables import MEANS, read_table

FACTS = (*MEANS, "queries", "seeds")  # columns that belong to no measure


@dataclass(frozen=True)
class Column:
    """A further column of each measure.

    `value` is computed from the seeds' means and from the values of their queries, one series per seed; None: there is
    none. A cell of a page shows it behind the mean as `shown`, with the number for {}; pages say: `sign` is `meaning`.
    """

    suffix: str
    value: Callable[[pd.Series, Sequence[pd.Series]], float | None]
    shown: str
    sign: str
    meaning: str

    def heading(self, measure: str) -> str:
        """The heading of the column of a measure."""
        return f"{measure} {self.suffix}"


def between_seeds(means: pd.Series, values: Sequence[pd.Series]) -> float | None:
    """The sample standard deviation of the seeds' means; none of one seed."""
    return means.std(ddof=1) if len(means) > 1 else None


COLUMNS = (Column("sd", between_seeds, " ± {}", "±", "the standard deviation between seeds"),)


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over queries and seeds, and its further columns that have a value, by suffix."""

    value: float
    further: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class MeansRow:
    """A system on a task, by their names in paths: its queries and seeds, and the measures that have a value."""

    task: str
    system: str
    queries: int
    seeds: int
    measures: dict[str, Mean]


def reserved(heading: str) -> bool:
    """Whether a heading cannot be the name of a measure, because it is or could be that of another column."""
    return heading in FACTS or any(heading.endswith(column.heading("")) for column in COLUMNS)


def means_table(rows: Sequence[tuple[str, str, Sequence[pd.DataFrame]]]) -> pd.DataFrame:
    """The table from each task and system with the values of its queries, one table of measures per seed."""
    return pd.DataFrame([{"task": task, "system": system, **_numbers(tables)} for task, system, tables in rows])


def _numbers(tables: Sequence[pd.DataFrame]) -> dict[str, float | int | None]:
    per_seed = pd.DataFrame([table.mean() for table in tables])
    found: dict[str, float | int | None] = {"queries": len(tables[0]), "seeds": len(tables)}
    for measure, means in per_seed.items():
        values = [table[measure] for table in tables if measure in table]
        found[str(measure)] = means.mean()
        found |= {column.heading(str(measure)): column.value(means, values) for column in COLUMNS}
    return found


def read_means(path: Path) -> list[MeansRow]:
    """The rows of a table of means, in its order. Raises UserError for a cell that is not a number."""
    return means_rows(read_table(path, *MEANS))


def means_rows(table: pd.DataFrame) -> list[MeansRow]:
    """The rows of a table of means, in its order."""
    measures = [name for name in table if not reserved(str(name))]
    found = []
    for row in table.to_dict("records"):
        means = {name: Mean(row[name], _further(row, name)) for name in measures if pd.notna(row[name])}
        found.append(MeansRow(row["task"], row["system"], int(row["queries"]), int(row["seeds"]), means))
    return found


def _further(row: Mapping[Hashable, Any], measure: str) -> dict[str, float]:
    values = {column.suffix: row.get(column.heading(measure)) for column in COLUMNS}
    return {suffix: float(value) for suffix, value in values.items() if value is not None and pd.notna(value)}
