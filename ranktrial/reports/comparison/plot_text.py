"""The texts of a forest plot: names of rows, heterogeneity, tests, descriptions of intervals and p-values.

Reads and writes nothing.
"""

from __future__ import annotations

import math

import scipy  # its parts are loaded when they are first used

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.forest_data import Diamond, Forest, Group, Heterogeneity
from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.intervals import interval_named
from ranktrial.statistics.meta_analysis.prediction import FEWEST

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
        parts += ["mean of these tasks t"] if found.fixed_mean else []
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
