"""The parts of findings: comparisons, a multiple comparison, and the values they are of; and what pages ask of them.

Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ranktrial.api.scored import Scored
from ranktrial.ir.means import MeansRow, means_rows, means_table
from ranktrial.new.folder import as_name
from ranktrial.records.comparison import ComparisonRow, EffectsRow, rows_of, table_of
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison import families as family_text
from ranktrial.reports.comparison.families import FoundFamily
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.comparison.table import as_table
from ranktrial.synthesis.all_comparisons import Settings as TableSettings
from ranktrial.synthesis.all_comparisons import comparisons as comparisons_table
from ranktrial.synthesis.one_comparison import Results

LABELS = Labels({}, {})  # names are shown as they are given
TOGETHER = "all"  # the figure of several comparisons
FAMILY = "all"  # the only multiple comparison


@dataclass(frozen=True, eq=False, repr=False)
class Parts:
    """Comparisons with one control by name, or a multiple comparison with its differences, or both.

    `looks`: how figures show the comparisons; `summary`: the table of all; `stated`: the statistics of the caller.
    """

    measure: str
    comparisons: Mapping[str, Found]
    looks: Looks
    summary: pd.DataFrame
    family: FoundFamily | None = None
    differences: pd.DataFrame | None = None
    scored: Scored | None = None
    stated: Mapping[str, Any] = field(default_factory=dict)
    lower_is_better: bool = False

    @property
    def facts(self) -> Facts:
        """What is known of systems, tasks and the measure."""
        lower = [self.measure] if self.lower_is_better else []
        of_tasks = self.scored is not None and self.scored.of_tasks
        return Facts(LABELS, [self.measure], lower_is_better=lower, of_tasks=of_tasks)

    @property
    def effects(self) -> pd.DataFrame:
        """The effects of all comparisons, one row per task."""
        tables = [table_of(found.effects).assign(comparison=name) for name, found in self.comparisons.items()]
        if not tables:
            return pd.DataFrame()
        every = pd.concat(tables, ignore_index=True).fillna(np.nan).infer_objects()  # numbers are no objects
        return every[["comparison", *(name for name in every if name != "comparison")]]

    def as_table(self, found: Found) -> Forest:
        """A comparison as its table prints it."""
        return as_table(found, self.looks, self.facts)

    def heading(self, name: str) -> str:
        """The heading of a comparison, or of the multiple comparison."""
        if name not in self.comparisons and self.family:
            return family_text.heading(self.family)
        meta = self.comparisons[name].meta
        return f"{name}: {meta.treatment} against {meta.control}"

    def means(self) -> list[MeansRow]:
        """The mean of each system on each task, over queries and seeds."""
        if self.scored is None:
            return []
        rows = [
            (task, system, [values[[seed]].set_axis([self.measure], axis=1) for seed in values])
            for task, of_task in self.scored.tables.items()
            for system, values in of_task.items()
        ]
        return means_rows(means_table(rows))


def with_adjustments(results: Sequence[Results]) -> tuple[dict[str, Found], pd.DataFrame]:
    """Comparisons by name with their adjusted p-values, and the table of all."""
    names: dict[str, Results] = {}
    for one in results:
        name = as_name(f"{one.meta.treatment}-against-{one.meta.control}") or "comparison"
        while name in names:
            name += "-2"
        names[name] = one
    table = comparisons_table({name: one.meta for name, one in names.items()}, TableSettings())
    rows = {row.comparison: row for row in rows_of(ComparisonRow, table)}
    found = {
        name: Found(tuple(rows_of(EffectsRow, one.effects)), one.meta, rows.get(name)) for name, one in names.items()
    }
    return found, table
