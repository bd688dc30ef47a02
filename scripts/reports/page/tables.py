"""The tables of the report as plain data: cells with the value they sort by; reads and writes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pandas as pd
from markupsafe import Markup

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.chosen import NOTE
from scripts.reports.comparison.forest_data import Forest
from scripts.reports.comparison.moderation import COLUMNS, coefficient_rows
from scripts.reports.comparison.reading import Found, Labels
from scripts.reports.comparison.table import blocks, headings

COST_COLUMNS = {
    "end_to_end_p50_ms": "Median latency (ms)",
    "latency_p50_ms": "Own step (ms)",
    "latency_p95_ms": "95th percentile of the own step (ms)",
    "queries_per_second": "Queries a second",
    "encoded_documents_per_second": "Documents encoded a second",
    "end_to_end_training_seconds": "Training (s)",
    "training_seconds": "Training of the own step (s)",
    "peak_rss_mb": "Peak memory (MB)",
    "peak_gpu_mb": "Peak GPU memory (MB)",
    "index_mb": "Index (MB)",
    "weights_mb": "Weights (MB)",
}
DATASET_COLUMNS = {
    "dataset": "Dataset",
    "split": "Split",
    "documents": "Documents",
    "mean_document_words": "Words a document",
    "queries": "Queries",
    "mean_query_words": "Words a query",
    "judgements": "Judgements",
    "relevant": "Relevant",
    "equal_documents": "Equal documents",
    "judged_documents_missing": "Judged but missing",
    "own_documents": "Queries that are documents",
    "excluded": "Excluded for a query",
}


@dataclass(frozen=True)
class Cell:
    """What a cell shows, the value it sorts by where its text would not do, and where it leads."""

    text: str
    sort: float | None = None
    strong: bool = False
    link: str = ""
    kind: str = ""  # of an answer: better, worse, open
    note: str = ""
    drawing: Markup | str = ""


@dataclass(frozen=True)
class Table:
    """A table: what it holds, its columns (name, whether numbers), rows, and rows that stay last."""

    caption: str
    columns: list[tuple[str, bool]]
    rows: list[list[Cell]]
    foot: list[list[Cell]] = field(default_factory=list)


def value_or_none(value: float | None) -> float | None:
    """A number; None for what pandas reads from an empty cell."""
    return None if value is None or pd.isna(value) else float(value)


def number(value: float | None, spec: str) -> Cell:
    """A number in a format such as `.1f`; an empty cell where there is none."""
    if value_or_none(value) is None:
        return Cell("")
    return Cell(format(value, spec), float(value))


def datasets_table(datasets: pd.DataFrame) -> Table:
    """Documents, queries and judgements per dataset and split; counts that are 0 throughout are left out."""
    shown = [name for name in DATASET_COLUMNS if datasets[name].notna().any()]
    odd = ("equal_documents", "judged_documents_missing")
    shown = [name for name in shown if name not in odd or datasets[name].fillna(0).any()]
    rows = []
    for row in datasets.to_dict("records"):
        cells = [Cell(row["dataset"]), Cell(row["split"])]
        cells += [number(row[name], ",.1f" if name.startswith("mean_") else ",.0f") for name in shown[2:]]
        rows.append(cells)
    return Table("Datasets and their splits.", [(DATASET_COLUMNS[name], name not in shown[:2]) for name in shown], rows)


def means_table(means: pd.DataFrame, measure: str, trained: dict[str, list[str]], labels: Labels) -> Table:
    """Tasks by systems: mean of a measure, its spread over seeds, a star where the system learnt on its dataset."""
    measured = means[means[measure].notna()]
    systems = list(dict.fromkeys(measured["system"]))
    rows = []
    for task, part in measured.groupby("task", sort=False):
        by_system = {row["system"]: row for row in part.to_dict("records")}
        best = max(f"{row[measure]:.3f}" for row in by_system.values())
        cells = [Cell(labels.task(task)), number(part["queries"].iloc[0], ",.0f")]
        for system in systems:
            if system not in by_system:
                cells.append(Cell(""))
                continue
            value, spread = by_system[system][measure], by_system[system][f"{measure} sd"]
            text = f"{value:.3f}" + (f" ± {spread:.3f}" if pd.notna(spread) else "")
            star = "*" if task in trained.get(system, []) else ""
            cells.append(Cell(text + star, value, f"{value:.3f}" == best and len(by_system) > 1))
        rows.append(cells)
    columns = [("Task", False), ("Queries", True), *((labels.system(name), True) for name in systems)]
    return Table(f"Mean {measure} of each system on each task.", columns, rows)


def comparison_table(name: str, comparison: Found, plot: Forest) -> Table:
    """A comparison's tasks, and below them its summary, prediction interval and fixed effect."""
    names, parts = headings(plot), blocks(comparison, plot)
    columns = [(name, align == "r") for name, align in names.items()]
    body, foot = (parts[0], parts[1]) if len(parts) > 1 else (parts[0], [])
    as_cells = [[[Cell(text) for text in row] for row in part] for part in (body, foot)]
    return Table(f"{name}: {plot.groups[0].treatment} against {plot.control}, by task.", columns, *as_cells)


def moderators_table(name: str, record: dict) -> Table:
    """The coefficients of the models of a comparison's moderators."""
    numbers = ("Estimate", "CI", "p", "p (permutation)")
    heads = [f"{form.percent(record['alpha'])} CI" if column == "CI" else column for column in COLUMNS]
    columns = [(head, column in numbers) for head, column in zip(heads, COLUMNS, strict=True)]
    return Table(
        f"{name}: coefficients of moderators.",
        columns,
        [[Cell(text) for text in row] for row in coefficient_rows(record)],
    )


OWN_STEPS = {"end_to_end_p50_ms": "latency_p50_ms", "end_to_end_training_seconds": "training_seconds"}


def costs_table(costs: pd.DataFrame, labels: Labels) -> Table:
    """One row per system: times and memory, means over tasks and seeds; what was never measured is left out."""
    same = [own for whole, own in OWN_STEPS.items() if (costs[own].fillna(0) == costs[whole].fillna(0)).all()]
    shown = [name for name in COST_COLUMNS if name in costs and name not in same and costs[name].fillna(0).any()]
    rows = [
        [
            Cell(labels.system(str(system))),
            *(_measured(runs[name].dropna().tolist(), name in OWN_STEPS) for name in shown),
        ]
        for system, runs in costs.groupby("system", sort=False)
    ]
    columns = [("System", False), *((COST_COLUMNS[name], True) for name in shown)]
    return Table(COSTS_NOTE, columns, rows)


COSTS_NOTE = (
    "What each system costs: means over tasks and seeds, in brackets the lowest and highest. Latency and training are "
    "end to end, with those of the systems whose runs a system takes; an own step is without them."
)


def _measured(values: list[float], ranged: bool) -> Cell:
    """The mean of what was measured and, where it is `ranged` and not always the same, from where to where it goes."""
    if not values:
        return Cell("")
    mean = sum(values) / len(values)
    form = f",.{0 if not math.isfinite(mean) or abs(mean) >= 100 else 1}f"
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return Cell(f"{mean:{form}} ({low} to {high})" if ranged and low != high else f"{mean:{form}}", mean)


def selected_table(selected: pd.DataFrame, labels: Labels) -> Table:
    """The seeds of each system that keeps a single one for other datasets: how they scored, and which was kept."""
    rows = [
        [
            Cell(labels.system(row["system"])),
            Cell(labels.task(row["task"]) + (" (a test set)" if row["split"] == "test" else "")),
            Cell(row["formula"]),
            number(row["seed"], ".0f"),
            number(row["score"], ".4f"),
            Cell(row["chosen"], strong=row["chosen"] == "yes"),
        ]
        for row in selected.to_dict("records")
    ]
    columns = [("System", False), ("On", False), ("By", False), ("Seed", True), ("Score", True), ("Kept", False)]
    return Table("On datasets other than that of the choice only the kept seed was run.", columns, rows)


def chosen_table(chosen: pd.DataFrame, labels: Labels) -> Table:
    """The recipes among which systems chose: how each scored, and which ranks the tasks."""
    rows = [
        [
            Cell(labels.system(row["system"])),
            Cell(labels.task(row["task"]) + (" (a test set)" if row["split"] == "test" else "")),
            Cell(row["measure"]),
            Cell(row["recipe"]),
            number(row["seeds"], ".0f"),
            number(row["score"], ".4f"),
            Cell(row["chosen"], strong=row["chosen"] == "yes"),
        ]
        for row in chosen.to_dict("records")
    ]
    numbers = ("Seeds", "Score")
    columns = [(name, name in numbers) for name in ("System", "On", "By", "Recipe", "Seeds", "Score", "Chosen")]
    return Table(NOTE, columns, rows)
