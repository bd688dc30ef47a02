"""The first table of the report: every comparison with its question, and its answer in each scope.

Reads and writes nothing.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from scripts.reports.comparison.reading import Labels
from scripts.reports.comparison.table import (
    HERE,
    HOW_TO_READ,
    LIKE_THESE,
    NEW,
    P_HERE,
    P_LIKE_THESE,
    TAU,
    TRIED,
    TRIED_NOTE,
    overview,
)
from scripts.reports.page.sections import Shown
from scripts.reports.page.tables import Cell, Table, value_or_none

MEANS = {HERE: (P_HERE, "fixed_mean_"), LIKE_THESE: (P_LIKE_THESE, "")}  # column -> that of p, beginning of its numbers


def overview_table(comparisons: pd.DataFrame, labels: Labels, shown_comparisons: list[Shown]) -> Table:
    """One row per comparison: its question, then its answers (of `shown_comparisons`) with estimates and p-values."""
    shown, by_name = overview(comparisons, labels), {comparison.name: comparison for comparison in shown_comparisons}
    records = comparisons.to_dict("records")
    scales: dict[tuple[str, str], list[float]] = {}
    for row in records:
        scale = scales.setdefault((row["effect_type"], row["measure"]), [0.0])
        ends = [row[f"{prefix}{end}"] for _, prefix in MEANS.values() for end in ("ci_low", "ci_high")]
        scale += [end for end in ends if pd.notna(end)]
    optional = [name for name in (NEW, TAU, TRIED) if any(shown.get(name, []))]
    rows = []
    for place, row in enumerate(records):
        comparison, texts = by_name[row["comparison"]], {name: column[place] for name, column in shown.items()}
        cells = [Cell(comparison.question, link=f"#{comparison.anchor}", note=comparison.name)]
        cells += _answers(comparison, row, texts, scales[row["effect_type"], row["measure"]])
        rows.append([*cells, *(Cell(texts[name]) for name in optional)])
    heads = [("Question", False)]
    for scope in MEANS:
        heads += [(scope, False), ("p", True)]
    caption = " ".join(["All comparisons.", HOW_TO_READ, *([TRIED_NOTE] if TRIED in shown else [])])
    return Table(caption, [*heads, *((name, True) for name in optional)], rows)


def _answers(comparison: Shown, row: dict[str, Any], texts: dict[str, str], scale: list[float]) -> list[Cell]:
    """For each mean its answer with estimate and drawing, and its p-value; empty where there is no such mean."""
    answers = {answer.scope: answer for answer in comparison.answers}
    of_means = [comparison.answers[0], answers.get(LIKE_THESE)]
    cells = []
    for answer, (scope, (test, prefix)) in zip(of_means, MEANS.items(), strict=True):
        if answer is None or not texts[scope]:
            cells += [Cell(answer.words, kind=answer.kind) if answer else Cell(""), Cell("")]
            continue
        mean = [row[f"{prefix}{name}"] for name in ("effect", "ci_low", "ci_high")]
        drawing = interval_strip(*mean, scale, answer.kind != "open")
        cells.append(Cell(answer.words, mean[0], kind=answer.kind, note=texts[scope], drawing=drawing))
        cells.append(Cell(texts[test], value_or_none(row[f"{prefix}p_value"])))
    return cells


def interval_strip(effect: float, low: float, high: float, values: list[float], significant: bool) -> Markup:
    """A mean effect and its interval as a small drawing on the scale that holds `values`."""
    scale = 104 / ((max(values) - min(values)) or 1)
    zero, left, right, middle = (8 + (value - min(values)) * scale for value in (0, low, high, effect))
    kind = "sure" if significant else "unsure"
    return Markup(
        '<svg class="strip {}" viewBox="0 0 120 16" aria-hidden="true"><path class="zero" d="M{:.1f} 0V16"/>'
        '<path d="M{:.1f} 8H{:.1f}"/><circle cx="{:.1f}" cy="8" r="3.5"/></svg>'
    ).format(kind, zero, left, right, middle)
