"""Rows, cells and notes of the matrix of sources and targets; reads tables/{matrix}.tsv.

Rows are sources, then the baseline, then pseudo-labelling. A cell that does not exist is a dash; the baseline is not
trained, so its full-shot cells are empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.reports.transfer.wording import mean
from ranktrial.reports.writing.content import Column, Row, Span, Table, counted

DASH = "\N{EN DASH}"
SHOTS = {"zero": "ZS", "full": "FS"}


@dataclass(frozen=True)
class Matrix:
    """A matrix's names: labels of its rows and of its targets, in their order."""

    measure: str
    alpha: float
    row_labels: Annotated[list[list[str]], "row of the table and its label, in order"]
    target_labels: Annotated[list[list[str]], "task and its label, in order"]
    title: str = ""

    @property
    def rows(self) -> dict[str, str]:
        """The labels of rows. (The keys of a mapping are sorted in the settings of a job.)"""
        return dict(map(tuple, self.row_labels))  # type: ignore[arg-type]

    @property
    def targets(self) -> dict[str, str]:
        """The labels of targets."""
        return dict(map(tuple, self.target_labels))  # type: ignore[arg-type]


def matrix(table: pd.DataFrame, names: Matrix) -> Table:
    """The matrix as labelled: two columns per target, the sources apart from baseline and pseudo-labelling."""
    sources: list[Row] = []
    others: list[Row] = []
    for row, label in names.rows.items():
        own = table[table["source"] == row]
        kind = own["kind"].iloc[0]
        entries = {
            (one["target"], one["shot"]): (mean(one["mean"]), Span(one["mark"], "raised"))
            for one in own.fillna({"mark": ""}).to_dict("records")
        }
        cells = [
            entries.get((target, shot), "" if (kind, shot) == ("baseline", "full") else DASH)
            for target in names.targets
            for shot in SHOTS
        ]
        (sources if kind == "source" else others).append([label, *cells])
    shots = [Column(shot, group=label) for label in names.targets.values() for shot in SHOTS.values()]
    return Table([Column("Source ↓ target →"), *shots], [sources, others])


def notes(table: pd.DataFrame, names: Matrix) -> list[str]:
    """How to read the matrix: what its columns and marks are, and how many marks stay after Holm's correction."""
    baseline = next((names.rows[row] for row in table.loc[table["kind"] == "baseline", "source"]), "the baseline")
    said = [
        f"Mean {names.measure}. ZS, zero-shot: trained on the source, without judgements of the target. FS, full-shot: "
        "the same model trained further on all training queries of the target; where source and target are one, "
        "trained on it from scratch. A dash: not run, or no transfer."
    ]
    if (table["kind"] == "pseudo-labels").any():
        said.append(f"Pseudo-labelling: ZS is trained on the target's queries with labels by {baseline}.")
    seeds = int(table["seeds"].max())
    if seeds > 1:
        said.append(f"Means over up to {seeds} seeds; in tests a query's value is its mean over the seeds.")
    marks = table["mark"].fillna("")
    for sign, what, column in (
        ("#", f"pseudo-labelling differs from {baseline}", "pseudo-labels"),
        ("*", "a transferred model differs from pseudo-labelling", "source"),
    ):
        against = "baseline" if sign == "#" else "pseudo-labels"
        tests = table.loc[(table["kind"] == column) & (table["shot"] == "zero"), f"{against}_p_value"].notna().sum()
        single, double = (int(marks.str.count(f"[{sign}]").ge(times).sum()) for times in (1, 2))
        if tests:
            said.append(
                f"{sign}: {what} (paired t-test over the target's queries, two-sided, p < {names.alpha:g}); "
                f"{2 * sign}: also after Holm's correction over all {counted(int(tests), 'test')} of this kind. "
                f"{single} marked, of which {double} after the correction. The absence of a mark does not show that "
                f"they are equal."
            )
    return said
