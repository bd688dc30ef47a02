"""The matrix of sources and targets: its rows, cells and notes, and answers about pseudo-labels, transfer and baseline.

Reads nothing; the numbers are those of tables/{matrix}.tsv. RQ2, RQ3 and RQ4 of Mokrii, Boytsov and Braslavski (2021).

Rows are sources, then the baseline, then pseudo-labelling. A cell that does not exist is a dash; the baseline is not
trained, so its full-shot cells are empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.reports.transfer.wording import Answer, below, mean, percentage, signed, tested
from ranktrial.reports.writing.content import Column, Row, Span, Table, counted, listed
from ranktrial.statistics.task.differences import Difference

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


BASELINE, PSEUDO, SOURCE = "baseline", "pseudo-labels", "source"


@dataclass(frozen=True)
class _Counts:
    """How many differences are above, below and equal to 0, and how many of them significantly, also after Holm."""

    pairs: int
    above: int
    below: int
    above_significant: int
    below_significant: int
    above_holm: int
    below_holm: int

    def said(self, alpha: float, things: str) -> str:
        """The counts as a sentence's end."""
        equal = self.pairs - self.above - self.below
        above = f"{self.above} of {things}{_significant(self.above, self.above_significant, self.above_holm)}"
        below = f"{self.below}{_significant(self.below, self.below_significant, self.below_holm)}"
        same = f" and equal in {equal}" if equal else ""
        return f"the mean is higher in {above}, lower in {below}{same}; paired t-tests at the {alpha:g} level"

    def numbers(self) -> dict[str, float | None]:
        return {"pairs": self.pairs, "above": self.above, "below": self.below,
                "above_significant": self.above_significant, "below_significant": self.below_significant}  # fmt: skip


def _significant(count: int, alone: int, after_holm: int) -> str:
    return f" (significantly in {alone}, after Holm correction in {after_holm})" if count else ""


def answers(table: pd.DataFrame, names: Matrix) -> list[Answer]:
    """All answers from the matrix: for each question the counts, then each target."""
    rows = [row for row in table.to_dict("records") if row["shot"] == "zero"]
    baseline = next((names.rows[row["source"]] for row in rows if row["kind"] == BASELINE), "the baseline")
    pseudo = [row for row in rows if row["kind"] == PSEUDO]
    sources = [row for row in rows if row["kind"] == SOURCE]
    found = _pseudo_labels(pseudo, baseline, names)
    found += _transfer("RQ3", sources, BASELINE, baseline, names)
    return found + _transfer("RQ4", sources, PSEUDO, "pseudo-labels", names)


def _pseudo_labels(rows: list[dict], baseline: str, names: Matrix) -> list[Answer]:
    compared = [row for row in rows if pd.notna(row[f"{BASELINE}_difference"])]
    if not compared:
        return []
    counts = _counts(compared, BASELINE, names.alpha)
    things = counted(len(compared), "target")
    text = f"Pseudo-labels against {baseline}: {counts.said(names.alpha, things)}."
    found = [Answer("RQ2", text, numbers=counts.numbers())]
    for row in compared:
        numbers = _numbers(row, BASELINE)
        base = row["mean"] - numbers["difference"]
        relative = percentage(numbers["difference"], base)
        text = f"{names.targets[row['target']]}: {mean(row['mean'])} against {mean(base)}, "
        text += f"{tested(_difference(numbers), names.alpha)}{f' ({relative})' if relative else ''}."
        found.append(Answer("RQ2", text, row["target"], numbers=numbers))
    return found


def _transfer(question: str, rows: list[dict], against: str, called: str, names: Matrix) -> list[Answer]:
    compared = [row for row in rows if pd.notna(row[f"{against}_difference"])]
    if not compared:
        return []
    counts = _counts(compared, against, names.alpha)
    things = counted(len(compared), "pair", "pairs") + " of source and target"
    text = f"Transferred models against {called}: {counts.said(names.alpha, things)}."
    if counts.below:
        text += " So not always."
    elif counts.above == counts.pairs and counts.above_significant < counts.pairs:
        open_ones = counts.pairs - counts.above_significant
        text += f" The mean is higher in every pair, not significantly in {open_ones}."
    found = [Answer(question, text, numbers=counts.numbers())]
    for target, label in names.targets.items():
        own = [row for row in compared if row["target"] == target]
        if own:
            parts = [f"{names.rows[row['source']]} {_short(row, against, names.alpha)}" for row in own]
            found.append(Answer(question, f"{label}: {listed(parts)} (p unadjusted).", target))
    return found


def _short(row: dict, against: str, alpha: float) -> str:
    p = row[f"{against}_p_value"]
    how = "" if pd.isna(p) else f" (p {'<' if below(p, alpha) else '≥'} {alpha:g})"
    return f"{signed(row[f'{against}_difference'])}{how}"


def _numbers(row: dict, against: str) -> dict[str, float | None]:
    keys = ("difference", "ci_low", "ci_high", "p_value", "p_holm")
    return {key: None if pd.isna(row[f"{against}_{key}"]) else row[f"{against}_{key}"] for key in keys}


def _difference(numbers: dict[str, float | None]) -> Difference:
    return Difference(numbers["difference"], numbers["ci_low"], numbers["ci_high"], None, None, numbers["p_value"])


def _counts(rows: list[dict], against: str, alpha: float) -> _Counts:
    def number(sign: int, p: str | None = None) -> int:
        return sum(
            row[f"{against}_difference"] * sign > 0 and (p is None or below(row[f"{against}_{p}"], alpha))
            for row in rows
        )

    significant = [number(sign, p) for p in ("p_value", "p_holm") for sign in (1, -1)]
    return _Counts(len(rows), number(1), number(-1), *significant)
