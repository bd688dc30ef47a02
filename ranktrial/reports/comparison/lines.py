"""The lines of a forest plot from the top, each with the text of its cells; reads and writes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison import plot_text
from ranktrial.reports.comparison.forest_data import Diamond, Forest, Group, Row
from ranktrial.reports.comparison.verdict import Verdict, verdict
from ranktrial.statistics.meta_analysis.bayes import BayesianSummary

TRAINED = {"treatment": "\N{DAGGER}", "control": "\N{DOUBLE DAGGER}"}
Cells = dict[str, tuple[str, ...]]  # column name -> pieces of text, which are aligned one by one


@dataclass
class Line:
    """One line of the plot; `plain` even where its kind is bold, `beyond` is the prediction interval drawn below it.

    `kind`: heading (of a group or subgroup), task, undefined, subtotal, mean (of these tasks), summary, fixed,
    posterior, prediction, or unpredicted if there is no prediction interval, and heterogeneity.

    The numbers are those drawn (None if the line has none). `short_label` stands where the label would break, if
    there is one. `below_label` and `below_effect` are the second line of
    a narrow figure, where n and p have no columns. `text` holds the broken lines of the label, `reason_text` those of
    the reason of an undefined task, and `y` the line's centre: the layout sets them.
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
    short_label: str = ""
    below_label: str = ""
    below_effect: str = ""
    text: list[str] = field(default_factory=list)
    reason_text: list[str] = field(default_factory=list)
    y: float = 0.0
    plain: bool = False
    beyond: tuple[float, float] | None = None

    @property
    def bold(self) -> str:
        """The weight of its type: headings and summaries stand out."""
        return "bold" if self.kind in ("heading", "mean", "summary") and not self.plain else "normal"

    @property
    def rows(self) -> int:
        """How many lines of text it is high."""
        return max(len(self.text) + bool(self.below_label), len(self.reason_text), 1 + bool(self.below_effect))


def lines_of(forest: Forest, numbers: form.Numbers) -> list[Line]:
    """All lines of the plot: for each group its heading (if several), tasks, summary and prediction interval."""
    if forest.of_treatments:
        return _treatments(forest, numbers)
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
    if forest.single:
        for line in lines:
            _set_below(line, forest)
    return lines


def _treatments(forest: Forest, numbers: form.Numbers) -> list[Line]:
    """For each treatment its mean on these collections and, below it, that over collections like these."""
    lines = [line for place in _placed(forest) for line in _of_treatment(place, forest, numbers)]
    for line in lines if forest.single else []:
        _set_below(line, forest)
    return lines


def _placed(forest: Forest) -> list[int]:
    """The places of the groups as they are drawn: as configured, or by their effect, the largest first."""
    effects = [mean.effect if (mean := group.fixed_mean or group.summary) else -math.inf for group in forest.groups]
    return sorted(range(len(effects)), key=lambda place: -effects[place] if forest.sort == "effect" else 0)


def _of_treatment(place: int, forest: Forest, numbers: form.Numbers) -> list[Line]:
    group = forest.groups[place]
    if group.summary is None:
        return [Line("undefined", group.treatment, place, reason="no task has an effect that can be computed")]
    means = [line for line in _summary_lines(group, place, forest, numbers) if line.kind in ("mean", "summary")]
    for line in means:
        line.cells = {name: cell for name, cell in line.cells.items() if name in ("effect", "p")}
        line.label, line.short_label = plot_text.LIKE_THESE, plot_text.LIKE_THESE.removeprefix("over collections ")
    means[-1].plain, means[-1].beyond = len(means) > 1, group.summary.prediction_interval
    means[0].label, means[0].short_label = group.treatment, ""
    return means


def ordered(group: Group, sort: str) -> list[Row]:
    """A group's rows as configured, or by effect or weight, largest first; tasks without an effect then come last."""
    if sort == "config":
        return list(group.rows)
    return sorted(group.rows, key=lambda row: (row.effect is None, -(getattr(row, sort) or 0)))


def marks(row: Row) -> str:
    """A dagger where the treatment learnt from this task's dataset, a double one where the control did."""
    return "".join(mark for role, mark in TRAINED.items() if role in row.trained)


def unmarked(label: str) -> str:
    """A task's label without its daggers."""
    return label.rstrip("".join(TRAINED.values()))


def _task_line(row: Row, group: int, forest: Forest, numbers: form.Numbers, decimals: int) -> Line:
    cells: Cells = {"n": (f"{row.n:,}",)}
    if forest.effect.SHARED_SCALE:
        cells["means"] = form.means(row.control_mean, row.treatment_mean, decimals)
    if forest.judged:
        cells["judged"] = form.means(row.control_judged, row.treatment_judged, 3)
    label = row.task + marks(row)
    if row.effect is None:
        return Line("undefined", label, group, reason=row.undefined, cells=cells)
    cells |= {"weight": (form.minus(f"{100 * row.weight:.1f}%"),)} | _p_cell(row.p_value, forest)
    cells |= _effect_cell(numbers, row.effect, row.ci_low, row.ci_high)
    return Line("task", label, group, row.effect, row.ci_low, row.ci_high, row.weight, cells=cells)


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
    return cells | {"weight": (form.minus(f"{100 * weight:.1f}%"),)} | _p_of_mean(diamond, forest)


def _summary_lines(group: Group, index: int, forest: Forest, numbers: form.Numbers) -> list[Line]:
    summary = group.summary
    label = plot_text.summary_label(forest, group)
    total = sum(row.n for row in group.rows if row.effect is not None)
    lines = [_diamond_line("summary", label, index, summary, numbers)]
    lines[0].short_label = label.split(" (")[0]
    lines[0].cells |= {"weight": ("100.0%",), "n": (f"{total:,}",)} | _p_of_mean(summary, forest)
    if group.fixed_mean and group.heterogeneity:  # one task is its own mean and summary
        mean = _diamond_line("mean", plot_text.mean_label(group), index, group.fixed_mean, numbers)
        mean.cells |= _p_of_mean(group.fixed_mean, forest)
        lines.insert(0, mean)
    if summary.prediction_interval:
        low, high = summary.prediction_interval
        label = plot_text.prediction_label(forest, group)
        lines.append(Line("prediction", label, index, None, low, high, cells=_effect_cell(numbers, None, low, high)))
    elif group.heterogeneity:
        label = plot_text.prediction_label(forest, group)
        lines.append(Line("unpredicted", label, index, reason=f"none{plot_text.no_prediction(group)}"))
    if group.fixed:
        lines.append(_diamond_line("fixed", plot_text.FIXED_EFFECT, index, group.fixed, numbers))
        lines[-1].short_label = "Fixed effect"
    if group.posterior:
        label = f"Bayesian (half-normal τ, scale {group.posterior.tau_scale:g})"
        lines.append(_diamond_line("posterior", label, index, group.posterior, numbers))
        lines[-1].short_label = "Bayesian"
    if group.heterogeneity:
        lines.append(Line("heterogeneity", plot_text.heterogeneity_line(group.heterogeneity, forest), index))
    return lines


def _diamond_line(kind: str, label: str, index: int, drawn: Diamond | BayesianSummary, numbers: form.Numbers) -> Line:
    cells = _effect_cell(numbers, drawn.effect, drawn.ci_low, drawn.ci_high)
    return Line(kind, label, index, drawn.effect, drawn.ci_low, drawn.ci_high, cells=cells)


def _set_below(line: Line, forest: Forest) -> None:
    """Write n and p of a narrow figure below label and effect; p stands with n where no effect is shown."""
    n, p = ("".join(line.cells.pop(name, ())) if forest.shows(name) else "" for name in ("n", "p"))
    n = f"n = {n}" if n else ""
    p = ("p " + (f"{p[0]} {p[1:]}" if p[0] in "<>" else f"= {p}")) if p else ""
    if forest.shows("effect"):
        line.below_label, line.below_effect = form.unbroken(n), form.unbroken(p)
    else:
        line.below_label = form.unbroken(", ".join(filter(None, (n, p))))


def _effect_cell(numbers: form.Numbers, effect: float | None, low: float, high: float) -> Cells:
    text, low_text, high_text = numbers.of(effect, low, high)
    return {"effect": (text, f"[{low_text},", f"{high_text}]")}


def _p_of_mean(mean: Diamond, forest: Forest) -> Cells:
    """The p-value of a mean; its star is the verdict of the sentence, whose correction the p-value may lack."""
    if mean.p_value is None:
        return {}
    text = form.p_value(mean.p_value, forest.alpha)
    if not forest.p_note:
        return {"p": (text,)}
    return {"p": (text, "*" if verdict(mean, forest.alpha) is Verdict.SIGNIFICANT else "")}


def _p_cell(p: float | None, forest: Forest) -> Cells:
    if p is None:
        return {}
    text = form.p_value(p, forest.alpha)
    if not forest.p_note:
        return {"p": (text,)}
    return {"p": (text, "*" if p < forest.alpha else "")}
