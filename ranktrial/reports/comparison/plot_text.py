"""The texts of a forest plot: its lines from the top with their cells, its notes and its caption.

Reads and writes nothing. The caption tells what is what in the plot; the notes, a sentence each, the tests of
summaries, the definitions of heterogeneity, intervals and p-values, the margin, clusters of queries, training data and
seeds. Whether a mean effect is significant is decided once for figures, sentences, tables and the report, so that they
cannot contradict one another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import scipy

from ranktrial.common.plugins import own_keys
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.forest_data import AgainstMargin, Diamond, Forest, Group, Heterogeneity, Row
from ranktrial.statistics.bayes import BayesianSummary
from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.independent_tasks import FEWEST
from ranktrial.statistics.intervals import interval_named

I2_CAUTION = "(relative to sampling error: rises with the queries per task)"
LIKE_THESE = "over collections like these"
FIXED_EFFECT = "Fixed effect (inverse variance)"


def statistic(summary: Diamond) -> str:
    """The test statistic of a summary and its degrees of freedom; empty if it has no test (a standard error of 0).

    It is the quantile that belongs to the p-value and so holds on the scale of the synthesis, whatever is reported.
    """
    if summary.own_p is None:
        return ""
    name, degrees = ("z", "") if summary.df is None else ("t", f", df = {degrees_of_freedom(summary.df)}")
    if summary.own_p == 0:
        return f"|{name}| > 37{degrees}"  # beyond the least p-value that a number can hold
    half = summary.own_p / 2
    size = -scipy.special.ndtri(half) if summary.df is None else -scipy.special.stdtrit(summary.df, half)
    return f"{name} = {form.fixed(math.copysign(size, summary.effect), 2)}{degrees}"


def degrees_of_freedom(df: float) -> str:
    """Degrees of freedom: whole, or estimated ones with a decimal."""
    return f"{df:.0f}" if float(df).is_integer() else f"{df:.1f}"


def heterogeneity(value: Heterogeneity, forest: Forest) -> str:
    """tau in its unit with its interval, Q, its degrees of freedom and p, and I2 with what it is relative to; a line
    breaks between them only.
    """
    unit = f" in {unit_of_tau(forest.effect, forest.measure)}"
    parts = [*tau(value.tau2, value.tau2_ci, forest, unit), *_cochran(value, forest)]
    return f"{' '.join(form.unbroken(part) for part in parts)} {I2_CAUTION}"


def heterogeneity_line(value: Heterogeneity, forest: Forest) -> str:
    """The same as a line of a panel; the notes say once what all its lines have in common."""
    parts = ["Heterogeneity:", *tau(value.tau2, value.tau2_ci, forest), *_cochran(value, forest)]
    return " ".join(form.unbroken(part) for part in parts)


def heterogeneity_note(forest: Forest) -> str:
    """What the lines of heterogeneity have in common; empty if there are none."""
    if not any(group.heterogeneity for group in forest.groups):
        return ""
    unit = unit_of_tau(forest.effect, forest.measure)
    return f"Heterogeneity: τ is in {unit}; I² is relative to sampling error and rises with the queries per task."


def _cochran(value: Heterogeneity, forest: Forest) -> list[str]:
    p = form.p_equals(value.p_value, forest.alpha)
    return [f"Q = {value.q:.1f},", f"df = {value.df},", f"{p};", f"I² = {value.i2:.1f}%"]


def tau(tau2: float, interval: tuple[float, float] | None, forest: Forest, unit: str = "") -> list[str]:
    """The standard deviation between tasks in pieces, its interval last if there is one; in the effects' form."""
    common = form.numbers(forest)
    deviation, *ends = deviations(common, tau2, *(interval or ()))
    equals = f"< {deviation[1:]}" if deviation.startswith("<") else f"= {deviation}"
    of_tau = f"τ {equals}{common.factor}{unit}"
    if not ends:
        return [f"{of_tau};"]
    return [f"{of_tau},", f"{form.percent(forest.alpha)} CI [{ends[0]}, {ends[1]}]{common.factor};"]


def unit_of_tau(effect: EffectType, measure: str) -> str:
    """The quantity whose standard deviation tau is."""
    if effect.IN_UNITS_OF_MEASURE:
        return measure
    return effect.NOUN if effect.HAS_DIFFERENCE else effect.STATISTIC


def deviations(common: form.Numbers, *variances: float) -> list[str]:
    """The roots of tau2 and of its interval."""
    return [common.deviation(math.sqrt(variance)) for variance in variances]


def mean_label(group: Group) -> str:
    """The name of the row of the mean on these collections."""
    return f"Mean of these {_with_effect(group)} tasks"


def summary_label(forest: Forest, group: Group) -> str:
    """The name of the summary row; if there is room, with the estimator of tau2 and the kind of interval."""
    if group.heterogeneity is None:
        return "Summary"
    return "Random effects" if forest.single else f"Random effects ({method(forest, group)})"


def prediction_label(forest: Forest, group: Group) -> str:
    """The name of the prediction interval; if there is room, with its distribution."""
    label = f"{form.percent(forest.alpha)} prediction interval"
    return label if forest.single else f"{label}{_t_of(group.summary.prediction_df)}"


def no_prediction(group: Group) -> str:
    """The reason after "no prediction interval" if there are too few collections; empty otherwise."""
    return f": it takes at least {form.spelled(FEWEST)} collections" if _with_effect(group) < FEWEST else ""


def _with_effect(group: Group) -> int:
    return sum(row.effect is not None for row in group.rows)


def intervals(forest: Forest) -> str:
    """The methods of the intervals of tasks, summary and new tasks; empty if that of the tasks is unknown.

    The degrees of freedom of summary and prediction interval are those of the first group that has them.
    """
    if not forest.task_interval:
        return ""
    parts = [f"tasks {forest.task_interval}"]
    if found := next((group for group in forest.groups if group.heterogeneity and group.summary), None):
        summary = found.summary
        if found.fixed_mean:
            known = forest.task_interval == "normal" and found.fixed_mean.df is None  # variances as papers print them
            parts.append(f"mean of these tasks {'normal' if known else 't'}")
        used = [_interval(forest, group) for group in forest.groups if group.heterogeneity]
        parts.append(f"random effects {', '.join(interval_named(name).LABEL for name in dict.fromkeys(used))}")
        if summary.prediction_interval and summary.prediction_df is None:
            parts.append("prediction by the confidence distribution of τ")
        elif summary.prediction_interval and forest.single:
            parts.append(f"prediction interval{_t_of(summary.prediction_df)}")
    return f"{form.percent(forest.alpha)} intervals: {'; '.join(parts)}."


def _t_of(df: float | None) -> str:
    return "" if df is None else form.unbroken(f", t({degrees_of_freedom(df)})")


def method(forest: Forest, group: Group) -> str:
    """The estimator of tau2 and the kind of interval of a group: dependent tasks may have others than asked for."""
    estimator = estimator_named(group.estimator or forest.estimator)
    return f"{estimator.LABEL}, {interval_named(_interval(forest, group)).LABEL}"


def _interval(forest: Forest, group: Group) -> str:
    return group.interval or forest.interval


def p_text(forest: Forest) -> str:
    """The method of the p-values, and their stars."""
    return f"p-values of tasks: {forest.p_note}.{_stars(forest)}"


def of_treatments(forest: Forest) -> list[str]:
    """What both rows of a treatment are, and how the p-values of means are adjusted."""
    several = [group for group in forest.groups if group.heterogeneity and group.summary]
    said = []
    if several:
        counts = sorted({_with_effect(group) for group in several})
        tasks = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        methods = ", ".join(dict.fromkeys(method(forest, group) for group in several))
        predicted = any(group.summary.prediction_interval for group in several)
        bar = f"; bar: {form.percent(forest.alpha)} prediction interval" if predicted else ""
        said.append(f"Hollow: mean of these {tasks} tasks; filled: random effects ({methods}){bar}.")
    return [*said, _stars(forest).strip()] if forest.p_note else said


def _stars(forest: Forest) -> str:
    means = f" p-values of means: {forest.summary_note}." if forest.summary_note else ""
    star = form.unbroken(f"* p < {forest.alpha:g}")
    hypotheses = max((mean.hypotheses for mean in _means(forest)), default=1)
    if hypotheses > 1 and forest.correction != "Holm":
        star += f", of means after Holm correction for {form.spelled(hypotheses)} hypotheses"
    return f"{means} {star}."


def _means(forest: Forest) -> list[Diamond]:
    return [mean for group in forest.groups for mean in (group.fixed_mean, group.summary) if mean]


def axis_label(forest: Forest, numbers: form.Numbers) -> str:
    """The label of the axis: as configured or the effect's name, with its power of ten if it has one."""
    name = forest.x_label or forest.effect.AXIS.format(measure=forest.measure)
    return f"{name} ({numbers.factor})" if numbers.factor else name


class Verdict(IntEnum):
    """The result of a test with its correction, from the weakest."""

    UNTESTED = 0
    NOT_SIGNIFICANT = 1
    BEFORE_CORRECTION = 2  # significant alone, not after Holm correction
    SIGNIFICANT = 3


def verdict(mean: Diamond | AgainstMargin, alpha: float) -> Verdict:
    """The verdict on a mean: by its own p-value, then by Holm's for all hypotheses of its family."""
    if mean.own_p is None:
        return Verdict.UNTESTED
    if mean.own_p >= alpha:
        return Verdict.NOT_SIGNIFICANT
    if mean.p_holm is not None and mean.p_holm >= alpha:
        return Verdict.BEFORE_CORRECTION
    return Verdict.SIGNIFICANT


def in_full(found: Verdict, alpha: float) -> str:
    """The verdict with its level; empty if there is no test."""
    level = f"at the {alpha:g} level"
    return {
        Verdict.UNTESTED: "",
        Verdict.NOT_SIGNIFICANT: f"not significant {level}",
        Verdict.BEFORE_CORRECTION: f"significant {level} alone, but not after Holm correction",
        Verdict.SIGNIFICANT: f"significant {level}",
    }[found]


def answer(plot: Forest, mean: Diamond | None) -> tuple[str, str]:
    """The answer of a mean to the question of its comparison, and its type: better, worse or open."""
    found = Verdict.UNTESTED if mean is None else verdict(mean, plot.alpha)
    if mean is None or found is not Verdict.SIGNIFICANT:
        words = {
            Verdict.UNTESTED: "no test",
            Verdict.NOT_SIGNIFICANT: "not significant",
            Verdict.BEFORE_CORRECTION: "not significant after Holm correction",
        }
        return words[found], "open"
    above = mean.effect > 0
    if not (plot.lower_is_better and plot.effect.HAS_DIFFERENCE):
        return (plot.effect.ANSWERS[0], "better") if above else (plot.effect.ANSWERS[1], "worse")
    words_of = [words.partition(", ") for words in plot.effect.ANSWERS]  # yes or no, and higher or lower
    judgement, direction = (words_of[1][0], words_of[0][2]) if above else (words_of[0][0], words_of[1][2])
    return f"{judgement}, {direction}", "worse" if above else "better"


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
        line.label, line.short_label = LIKE_THESE, LIKE_THESE.removeprefix("over collections ")
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
    cells: Cells = {} if row.n is None else {"n": (f"{row.n:,}",)}
    if forest.effect.SHARED_SCALE and forest.measured:
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
    label = summary_label(forest, group)
    total = sum(row.n or 0 for row in group.rows if row.effect is not None)
    lines = [_diamond_line("summary", label, index, summary, numbers)]
    lines[0].short_label = label.split(" (")[0]
    lines[0].cells |= {"weight": ("100.0%",)} | ({"n": (f"{total:,}",)} if total else {}) | _p_of_mean(summary, forest)
    if group.fixed_mean and group.heterogeneity:  # one task is its own mean and summary
        mean = _diamond_line("mean", mean_label(group), index, group.fixed_mean, numbers)
        mean.cells |= _p_of_mean(group.fixed_mean, forest)
        lines.insert(0, mean)
    if summary.prediction_interval:
        low, high = summary.prediction_interval
        label = prediction_label(forest, group)
        lines.append(Line("prediction", label, index, None, low, high, cells=_effect_cell(numbers, None, low, high)))
    elif group.heterogeneity:
        label = prediction_label(forest, group)
        lines.append(Line("unpredicted", label, index, reason=f"none{no_prediction(group)}"))
    if group.fixed:
        lines.append(_diamond_line("fixed", FIXED_EFFECT, index, group.fixed, numbers))
        lines[-1].short_label = "Fixed effect"
    if group.posterior:
        label = f"Bayesian (half-normal τ, scale {group.posterior.tau_scale:g})"
        lines.append(_diamond_line("posterior", label, index, group.posterior, numbers))
        lines[-1].short_label = "Bayesian"
    if group.heterogeneity:
        lines.append(Line("heterogeneity", heterogeneity_line(group.heterogeneity, forest), index))
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


def notes(forest: Forest, p_shown: bool) -> list[str]:
    """All notes of a forest plot; `p_shown`: whether the tasks' p-values are in it."""
    if forest.of_treatments:
        lines = of_treatments(forest)
    else:
        lines = [line for group in forest.groups for line in _of_group(forest, group)]
        lines += filter(None, [heterogeneity_note(forest), intervals(forest)])
    if forest.p_note and p_shown:
        lines.append(p_text(forest))
    for group in forest.groups:
        lines += _margin(forest, group)
    lines += filter(None, [forest.clusters_note, forest.weights_note])
    learnt = [] if forest.of_treatments else trained(forest)  # daggers stand at tasks
    return [*lines, *learnt, *seeds(forest), *filter(None, [forest.seeds_note])]


def _of_group(forest: Forest, group: Group) -> list[str]:
    """The tests of subgroups, and those of the summaries with the names of their methods."""
    of = _of(forest, group)
    lines = [group.between] if group.between else []
    name = f"Random effects ({method(forest, group)})" if group.heterogeneity else "Summary"
    of_means = {"Mean of these tasks (equal weights)": group.heterogeneity and group.fixed_mean, name: group.summary}
    of_means["Fixed effect"] = group.fixed
    if tests := [f"{name}{of}: {_test_of(mean, forest)}." for name, mean in of_means.items() if mean]:
        lines.append(" ".join(tests))
    if group.posterior:
        low, high = (form.numbers(forest).of(None, *group.posterior.prediction_interval))[1:]
        probability = _probability(group.posterior.p_above_0)
        prior = f"half-normal prior on τ with scale {group.posterior.tau_scale:g}"
        lines.append(
            f"Bayesian{of} ({prior}): {form.percent(forest.alpha)} credible interval, P(effect > 0) {probability}, "
            f"of a new task [{low}, {high}]{form.numbers(forest).factor}."
        )
    return lines


def _test_of(mean: Diamond, forest: Forest) -> str:
    """The text of a test, which breaks between its parts only, such as `t = 2.16, df = 6, p = 0.074`."""
    if mean.own_p is None:
        return "no test, since its standard error is 0"
    parts = [*statistic(mean).split(", "), form.p_equals(mean.own_p, forest.alpha)]
    return ", ".join(parts).replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")


def _probability(value: float) -> str:
    """Three decimals; a probability that would print as 0 or 1 says that it is beyond them."""
    if value < 0.001:
        return "< 0.001"
    return "> 0.999" if value > 0.999 else f"= {value:.3f}"


def _margin(forest: Forest, group: Group) -> list[str]:
    """What the tests against the margin say of the summary and of how many tasks, adjusted as the figure's p-values."""
    if group.margin is None:
        return []
    scope = "random effects" if group.heterogeneity else "summary"
    tests = [
        f"{name}: {scope} {_p_of(tested, forest)}, {_shown(group, column, forest)}"
        for name, tested, column in (
            ("non-inferiority", group.margin.non_inferiority, "non_inferiority_p_value"),
            ("equivalence", group.margin.equivalence, "equivalence_p_value"),
        )
    ]
    how = f"{forest.correction}-corrected" if forest.correction else "uncorrected"
    results = f"{'; '.join(tests).capitalize()} at p < {forest.alpha:g}, {how}"
    return [f"Band{_of(forest, group)}: the margin ±{group.margin.margin:g}. {results}."]


def _p_of(tested: AgainstMargin, forest: Forest) -> str:
    return "no test" if tested.p_value is None else form.p_equals(tested.p_value, forest.alpha)


def _shown(group: Group, column: str, forest: Forest) -> str:
    """On how many tasks a test against the margin shows it."""
    p_values = [p for row in group.rows if (p := getattr(row, column)) is not None]
    return f"{sum(p < forest.alpha for p in p_values)} of {len(p_values)} tasks"


def trained(forest: Forest) -> list[str]:
    """The meaning of the daggers."""
    lines = []
    for role, mark in TRAINED.items():
        groups = [group for group in forest.groups if any(role in row.trained for row in group.rows)]
        if groups:
            one_group = groups[0].treatment if len(forest.groups) == 1 else "the treatment"
            system = forest.control if role == "control" else one_group
            lines.append(f"{mark} {system} learnt from training queries of this task's dataset.")
    if lines and forest.unstated:
        lines.append(f"Not stated: what the published weights of {', '.join(forest.unstated)} were trained on.")
    return lines


def seeds(forest: Forest) -> list[str]:
    """Over how many seeds each system's values are averaged, where a system has several or was trained here."""
    averaged = []
    rows = [row for group in forest.groups for row in group.rows]
    if text := _seeds(rows, "control"):
        averaged.append(f"{forest.control} {text}")
    for group in forest.groups:
        if text := _seeds(group.rows, "treatment"):
            averaged.append(f"{group.treatment} {text}")
    return [f"Seeds averaged for each query: {'; '.join(averaged)}."] if averaged else []


def _seeds(rows: tuple[Row, ...] | list[Row], role: str) -> str:
    counts = {row.task: number for row in rows if (number := getattr(row, f"{role}_seeds")) is not None}
    if not counts or (set(counts.values()) == {1} and not any(role in row.trained for row in rows)):
        return ""
    (usual, _), *others = Counter(counts.values()).most_common()
    exceptions = [f"{number} on {', '.join(t for t in counts if counts[t] == number)}" for number, _ in others]
    return "; ".join([f"{usual}", *exceptions]).replace("; ", " (", 1) + (")" if exceptions else "")


def _of(forest: Forest, group: Group) -> str:
    return f", {group.treatment}" if len(forest.groups) > 1 else ""


STARS = "A diamond that misses zero is significant before correction for the number of comparisons."


def caption(plot: Forest, own: Mapping[str, Any]) -> str:
    """How to read a forest plot. `own`: values of the effect type's own keys."""
    percent = f"{100 * (1 - plot.alpha):g}%"
    square = plot.effect.caption(plot.measure, own_keys(plot.effect, own))
    if plot.of_treatments:
        return _of_treatments(plot, square, percent)
    area = ", its area the task's weight" if plot.weighted else ""
    text = f"Each row is a task: the square is the {square}{area}, the line its {percent} "
    text += "confidence interval. "
    if any(group.heterogeneity for group in plot.groups):
        text += (
            "The hollow diamond is the mean on these collections, the filled one the mean over collections like these "
        )
        text += "(random effects); each spans its interval"
    else:
        text += "The diamond is the effect of the only task and spans its interval"
    if _predicted(plot):
        text += "; the bar below it is the prediction interval, where the effect in a new collection is expected"
    if any(group.fixed for group in plot.groups):
        text += "; the diamond below is the fixed-effect summary"
    if any(group.posterior for group in plot.groups):
        text += "; the pale diamond is the Bayesian summary with its credible interval"
    return f"{text}. {STARS}"


def _predicted(plot: Forest) -> bool:
    return any(group.summary and group.summary.prediction_interval for group in plot.groups)


def _of_treatments(plot: Forest, effect: str, percent: str) -> str:
    text = f"Each row is a treatment: the {effect} with its {percent} confidence interval"
    if any(group.heterogeneity for group in plot.groups):
        text += ". The hollow diamond is the mean on these collections, the filled one the mean over collections like "
        text += "these (random effects)"
    if _predicted(plot):
        text += "; the bar behind it is the prediction interval, where the effect in a new collection is expected"
    return f"{text}. {STARS} The figures of the treatments have their tasks."
