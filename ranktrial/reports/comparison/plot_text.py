"""The lines of a forest plot from the top, with their labels and cells; reads and writes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ranktrial.records.comparison import EffectsRow
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.notes import (
    LIKE_THESE,
    TRAINED,
    Verdict,
    heterogeneity_line,
    method,
    no_prediction,
    of_t,
    verdict,
    with_effect,
)
from ranktrial.reports.comparison.reading import Forest, Group, Mean
from ranktrial.statistics.bayes import BayesianSummary
from ranktrial.statistics.summaries import Summary

FIXED_EFFECT = "Fixed effect (inverse variance)"
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
    """All lines of the plot: for each group its heading (if several), tasks, summary and prediction interval; or for
    each treatment its mean on these collections and, below it, that over collections like these.
    """
    if forest.of_treatments:
        lines = [line for place in _placed(forest) for line in _of_treatment(place, forest, numbers)]
    else:
        lines = [line for place in range(len(forest.groups)) for line in _of_group(place, forest, numbers)]
    for line in lines if forest.single else []:
        _set_below(line, forest)
    return lines


def _of_group(place: int, forest: Forest, numbers: form.Numbers) -> list[Line]:
    group = forest.groups[place]
    lines = [Line("heading", group.treatment, place)] if len(forest.groups) > 1 else []
    rows = [row for one in forest.groups for row in one.rows]
    decimals = form.mean_decimals(value for row in rows for value in (row.control_mean, row.treatment_mean))
    tasks = {row.task: _task_line(row, place, forest, numbers, decimals) for row in ordered(group, forest.looks.sort)}
    below = [one for one in _summary_lines(place, forest, numbers) if not (group.only_task and one.kind == "summary")]
    return [*lines, *_in_subgroups(group, tasks, place, forest, numbers), *below]


def _placed(forest: Forest) -> list[int]:
    """The places of the groups as they are drawn: as configured, or by their effect, the largest first."""
    effects = [mean.effect if (mean := group.fixed_mean or group.summary) else -math.inf for group in forest.groups]
    return sorted(range(len(effects)), key=lambda place: -effects[place] if forest.looks.sort == "effect" else 0)


def _of_treatment(place: int, forest: Forest, numbers: form.Numbers) -> list[Line]:
    group = forest.groups[place]
    if group.summary is None:
        return [Line("undefined", group.treatment, place, reason="no task has an effect that can be computed")]
    means = [line for line in _summary_lines(place, forest, numbers) if line.kind in ("mean", "summary")]
    for line in means:
        line.cells = {name: cell for name, cell in line.cells.items() if name in ("effect", "p")}
        line.label, line.short_label = forest.nouns.say(LIKE_THESE), "like these"
    means[-1].plain, means[-1].beyond = len(means) > 1, group.prediction
    means[0].label, means[0].short_label = group.treatment, ""
    return means


def ordered(group: Group, sort: str) -> list[EffectsRow]:
    """A group's tasks as configured, or by effect or weight, largest first; those without an effect then come last."""
    if sort == "config":
        return list(group.rows)
    return sorted(group.rows, key=lambda row: (row.effect is None, -(getattr(row, sort) or 0)))


def unmarked(label: str) -> str:
    """A task's label without its daggers."""
    return label.rstrip("".join(TRAINED.values()))


def _task_line(row: EffectsRow, place: int, forest: Forest, numbers: form.Numbers, decimals: int) -> Line:
    cells: Cells = {} if row.n is None else {"n": (f"{row.n:,}",)}
    if forest.effect.SHARED_SCALE and forest.measured:
        cells["means"] = form.means(row.control_mean, row.treatment_mean, decimals)
    if forest.looks.judged:
        cells["judged"] = form.means(row.control_judged, row.treatment_judged, 3)
    label = forest.task(row)
    label += "".join(mark for role, mark in TRAINED.items() if forest.groups[place].learnt(row, role))
    if row.effect is None:
        return Line("undefined", label, place, reason=forest.nouns.say(row.undefined or ""), cells=cells)
    p = getattr(row, forest.p_column)
    cells |= _weight_cell(row.weight) | _p_cell(p, p is not None and p < forest.alpha, forest)
    cells |= _effect_cell(numbers, row.effect, row.ci_low, row.ci_high)
    return Line("task", label, place, row.effect, row.ci_low, row.ci_high, row.weight, cells=cells)


def _in_subgroups(
    group: Group, tasks: dict[str, Line], place: int, forest: Forest, numbers: form.Numbers
) -> list[Line]:
    """The lines of tasks, where they are in subgroups below the headings of these and above their subtotals, which
    there are none of where their model cannot be fitted.
    """
    if group.subgroups is None:
        return list(tasks.values())
    lines: list[Line] = []
    levels = (group.subgroups.model.fit.levels if group.subgroups.model.fit else None) or {}
    for value, names in group.subgroups.tasks.items():
        members = [line for task, line in tasks.items() if task in names]
        lines += [Line("heading", f"{group.subgroups.label}: {value}", place), *members]
        if value in levels:
            subtotal = _diamond_line("subtotal", "Subtotal", place, levels[value].summary, numbers)
            subtotal.cells |= _weight_cell(sum(line.weight or 0 for line in members))
            subtotal.cells |= _p_cell(levels[value].summary.p_value, False, forest)
            lines.append(subtotal)
    return lines


def _summary_lines(place: int, forest: Forest, numbers: form.Numbers) -> list[Line]:
    """The means of a group with what belongs to them; none if no task has an effect."""
    group = forest.groups[place]
    if group.summary is None:
        return []
    summary = _diamond_line("summary", _summary_label(forest, group), place, group.summary, numbers)
    summary.short_label = summary.label.split(" (")[0]
    total = sum(row.n or 0 for row in group.found.tested)
    summary.cells |= {"weight": ("100.0%",)} | ({"n": (f"{total:,}",)} if total else {})
    summary.cells |= _p_of_mean(group.summary, forest)
    lines = [summary]
    if group.fixed_mean and group.heterogeneity:  # one task is its own mean and summary
        mean = _diamond_line("mean", f"Mean of these {with_effect(group)} tasks", place, group.fixed_mean, numbers)
        mean.cells |= _p_of_mean(group.fixed_mean, forest)
        lines.insert(0, mean)
    label = f"{form.percent(forest.alpha)} prediction interval"
    if not forest.single:
        label += of_t(group.result.prediction_df)
    if group.prediction:
        low, high = group.prediction
        lines.append(Line("prediction", label, place, None, low, high, cells=_effect_cell(numbers, None, low, high)))
    elif group.heterogeneity:
        lines.append(Line("unpredicted", label, place, reason=f"none{no_prediction(group)}"))
    if group.fixed:
        lines.append(_diamond_line("fixed", FIXED_EFFECT, place, group.fixed, numbers))
        lines[-1].short_label = "Fixed effect"
    if group.posterior:
        label = f"Bayesian (half-normal τ, scale {group.posterior.tau_scale:g})"
        lines.append(_diamond_line("posterior", label, place, group.posterior, numbers))
        lines[-1].short_label = "Bayesian"
    if group.heterogeneity:
        lines.append(Line("heterogeneity", heterogeneity_line(group.heterogeneity, forest), place))
    return lines


def _summary_label(forest: Forest, group: Group) -> str:
    """The name of the summary row; if there is room, with the estimator of tau2 and the kind of interval."""
    if group.heterogeneity is None:
        return "Summary"
    return "Random effects" if forest.single else f"Random effects ({method(group.heterogeneity)})"


def axis_label(forest: Forest, numbers: form.Numbers) -> str:
    """The label of the axis: as configured or the effect's name, with its power of ten if it has one."""
    name = forest.looks.x_label or forest.effect.AXIS.format(measure=forest.measure)
    return f"{name} ({numbers.factor})" if numbers.factor else name


def _diamond_line(kind: str, label: str, place: int, drawn: Summary | BayesianSummary, numbers: form.Numbers) -> Line:
    cells = _effect_cell(numbers, drawn.effect, drawn.ci_low, drawn.ci_high)
    return Line(kind, label, place, drawn.effect, drawn.ci_low, drawn.ci_high, cells=cells)


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


def _weight_cell(weight: float) -> Cells:
    return {"weight": (form.minus(f"{100 * weight:.1f}%"),)}


def _p_of_mean(mean: Mean, forest: Forest) -> Cells:
    """The p-value of a mean; its star is the verdict of the sentence, whose correction the p-value may lack."""
    return _p_cell(mean.test.shown, verdict(mean.test, forest.alpha) is Verdict.SIGNIFICANT, forest)


def _p_cell(p: float | None, starred: bool, forest: Forest) -> Cells:
    return {} if p is None else {"p": (form.p_value(p, forest.alpha), "*" if starred else "")}
