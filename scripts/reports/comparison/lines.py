"""The lines of a forest plot from the top, each with the text of its cells; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.forest_data import Diamond, Forest, Group, Row

Cells = dict[str, tuple[str, ...]]  # column name -> pieces of text, which are aligned one by one


@dataclass
class Line:
    """One line of the plot. `kind`: heading (of a group or subgroup), task, undefined, subtotal, summary or prediction.

    The numbers are those drawn (None where the line has none); `text` holds the broken lines of the label, and of the
    reason of an undefined task, and `y` the line's centre: both are set by the layout.
    """

    kind: str
    label: str
    group: int
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    weight: float | None = None
    reason: str = ""
    cells: Cells = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    reason_text: list[str] = field(default_factory=list)
    y: float = 0.0

    @property
    def bold(self) -> str:
        """The weight of its type: headings and summaries stand out."""
        return "bold" if self.kind in ("heading", "summary") else "normal"


def lines_of(forest: Forest, numbers: form.Numbers) -> list[Line]:
    """All lines of the plot: for each group its heading (if several), tasks, summary and prediction interval."""
    rows = [row for group in forest.groups for row in group.rows]
    decimals = form.mean_decimals(value for row in rows for value in (row.control_mean, row.treatment_mean))
    lines = []
    for index, group in enumerate(forest.groups):
        if len(forest.groups) > 1:
            lines.append(Line("heading", group.treatment, index))
        tasks = [(row, _task_line(row, index, forest, numbers, decimals)) for row in ordered(group, forest.sort)]
        lines += _in_subgroups(group, tasks, index, forest, numbers)
        if group.summary:
            lines += _summary_lines(group, index, forest, numbers)
    return lines


def ordered(group: Group, sort: str) -> list[Row]:
    """A group's rows as configured, or by effect or weight, largest first; tasks without an effect then come last."""
    if sort == "config":
        return list(group.rows)
    return sorted(group.rows, key=lambda row: (row.effect is None, -(getattr(row, sort) or 0)))


def _task_line(row: Row, group: int, forest: Forest, numbers: form.Numbers, decimals: int) -> Line:
    cells: Cells = {"n": (f"{row.n:,}",)}
    if forest.effect.SHARED_SCALE:
        cells["means"] = form.means(row.control_mean, row.treatment_mean, decimals)
    if forest.judged:
        cells["judged"] = form.means(row.control_judged, row.treatment_judged, 3)
    if row.effect is None:
        return Line("undefined", row.task, group, reason=row.undefined, cells=cells)
    cells |= {"weight": (f"{100 * row.weight:.1f}%",)} | _p_cell(row.p_value, forest)
    cells |= _effect_cell(numbers, row.effect, row.ci_low, row.ci_high)
    return Line("task", row.task, group, row.effect, row.ci_low, row.ci_high, row.weight, cells=cells)


def _in_subgroups(
    group: Group, tasks: list[tuple[Row, Line]], index: int, forest: Forest, numbers: form.Numbers
) -> list[Line]:
    """The lines of tasks, where they are in subgroups below the headings of these and above their subtotals."""
    if not group.subgroups:
        return [line for _, line in tasks]
    lines = []
    for subgroup in group.subgroups:
        members = [line for row, line in tasks if row.task in subgroup.tasks]
        lines += [Line("heading", subgroup.label, index), *members]
        if subtotal := subgroup.subtotal:
            weight = sum(line.weight or 0 for line in members)
            cells = _diamond_cells(subtotal, weight, forest, numbers)
            ends = (subtotal.effect, subtotal.ci_low, subtotal.ci_high)
            lines.append(Line("subtotal", "Subtotal", index, *ends, cells=cells))
    return lines


def _diamond_cells(diamond: Diamond, weight: float, forest: Forest, numbers: form.Numbers) -> Cells:
    cells = _effect_cell(numbers, diamond.effect, diamond.ci_low, diamond.ci_high)
    return cells | {"weight": (f"{100 * weight:.1f}%",)} | _p_cell(diamond.p_value, forest)


def _summary_lines(group: Group, index: int, forest: Forest, numbers: form.Numbers) -> list[Line]:
    summary = group.summary
    cells = _diamond_cells(summary, 1.0, forest, numbers)
    label = form.summary_label(forest, group)
    lines = [Line("summary", label, index, summary.effect, summary.ci_low, summary.ci_high, cells=cells)]
    if summary.prediction_interval:
        low, high = summary.prediction_interval
        label = f"{form.percent(forest.alpha)} prediction interval"
        lines.append(Line("prediction", label, index, None, low, high, cells=_effect_cell(numbers, None, low, high)))
    return lines


def _effect_cell(numbers: form.Numbers, effect: float | None, low: float, high: float) -> Cells:
    text, low_text, high_text = numbers.of(effect, low, high)
    return {"effect": (text, f"[{low_text},", f"{high_text}]")}


def _p_cell(p: float | None, forest: Forest) -> Cells:
    if p is None:
        return {}
    text = form.p_value(p, forest.alpha)
    if not forest.p_note:
        return {"p": (text,)}
    return {"p": (text, "*" if p < forest.alpha else "")}
