"""The first table of the report: every comparison with its question, its answer and its effect on a common scale.

Reads and writes nothing.
"""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup

from scripts.reports.comparison.forest_data import Diamond
from scripts.reports.comparison.reading import Labels
from scripts.reports.comparison.table import TRIED, TRIED_NOTE, overview
from scripts.reports.page.sections import Shown
from scripts.reports.page.tables import Cell, Table, value_or_none


def overview_table(comparisons: pd.DataFrame, labels: Labels, shown_comparisons: list[Shown]) -> Table:
    """One row per comparison: question and answer (of `shown_comparisons`), its summary effect, p and I²."""
    shown, by_name = overview(comparisons, labels), {comparison.name: comparison for comparison in shown_comparisons}
    optional_columns = [
        name for name in ("Prediction interval", "p", "p (Holm)", "I²", TRIED) if any(shown.get(name, []))
    ]
    scales: dict[tuple[str, str], list[float]] = {}
    for row in comparisons.to_dict("records"):
        scale = scales.setdefault((row["effect_type"], row["measure"]), [0.0])
        scale += [row[end] for end in ("ci_low", "ci_high") if pd.notna(row[end])]
    rows = []
    for place, row in enumerate(comparisons.to_dict("records")):
        scale = scales[row["effect_type"], row["measure"]]
        effect = value_or_none(row["effect"])
        strip = "" if effect is None else interval_strip(row, min(scale), max(scale))
        summary = f"{shown['Summary'][place]} {shown['CI'][place]}".strip()
        comparison = by_name[row["comparison"]]
        question = Cell(comparison.question, link=f"#{comparison.anchor}", note=comparison.name)
        cells = [question, Cell(comparison.answer, kind=comparison.kind)]
        cells.append(Cell(summary, effect, drawing=strip))
        exact = {"p": row["p_value"], "p (Holm)": row["p_holm"], "I²": row["i2"]}
        rows.append([*cells, *(Cell(shown[name][place], value_or_none(exact.get(name))) for name in optional_columns)])
    columns = [("Question", False), ("Answer", False), ("Effect and interval", False)]
    caption = "All comparisons, each with its summary effect over the tasks; "
    caption += "p (Holm) is adjusted for the number of hypotheses, of which one that is tested in several ways (MD and "
    caption += "SMD, say) counts once; where comparisons name a family, within it. Answers go by it."
    caption += f" {TRIED_NOTE}" if TRIED in shown else ""
    return Table(caption, [*columns, *((name, True) for name in optional_columns)], rows)


def interval_strip(row: dict, low: float, high: float) -> Markup:
    """A summary effect and its interval as a small drawing on the scale from `low` to `high`."""
    scale = 104 / ((high - low) or 1)
    places = (0, row["ci_low"], row["ci_high"], row["effect"])
    zero, left, right, middle = (8 + (value - low) * scale for value in places)
    diamond = Diamond(*(row[name] for name in ("effect", "ci_low", "ci_high")), p_holm=value_or_none(row["p_holm"]))
    kind = "sure" if diamond.beyond_chance(row["alpha"]) else "unsure"
    return Markup(
        '<svg class="strip {}" viewBox="0 0 120 16" aria-hidden="true"><path class="zero" d="M{:.1f} 0V16"/>'
        '<path d="M{:.1f} 8H{:.1f}"/><circle cx="{:.1f}" cy="8" r="3.5"/></svg>'
    ).format(kind, zero, left, right, middle)
