"""How the numbers and headings of a forest plot are written; reads and writes nothing.

A bound prints as 0 only if it is 0. A p-value never prints as 0, and as alpha only if it equals alpha. Headings follow
the effect type and alpha.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from scipy import special

from scripts.reports.comparison.forest_data import Diamond, Forest, Group, Heterogeneity
from scripts.statistics.effects import EffectType
from scripts.statistics.estimators import estimator_named
from scripts.statistics.intervals import interval_named
from scripts.statistics.meta_analysis.prediction import FEWEST

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
I2_CAUTION = "(relative to sampling error: rises with the queries per task)"
FIXED_EFFECT = "Fixed effect (inverse variance)"
_MORE_DECIMALS = 3  # what one row may have over the others before it changes to powers of ten
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Numbers:
    """The common form of a figure's effects: printed in units of 10^exponent with `decimals`, or more where needed."""

    exponent: int
    decimals: int

    def of(self, effect: float | None, low: float, high: float) -> tuple[str, str, str]:
        """An effect ("" for None) and the bounds of its interval, with one number of decimals.

        It is the common one, or the smallest with which neither bound prints as 0 although it is not; a row that
        would need many more is written in powers of ten.
        """
        values = [None if value is None else value / 10**self.exponent for value in (effect, low, high)]
        for decimals in range(self.decimals, self.decimals + _MORE_DECIMALS + 1):
            if all(value == 0 or round(value, decimals) != 0 for value in values[1:]):
                return tuple("" if value is None else fixed(value, decimals) for value in values)
        return tuple("" if value is None else scientific(value) for value in values)

    @property
    def factor(self) -> str:
        """What the printed numbers are to be multiplied by, such as ten to the minus six; empty for 1."""
        return power_of_ten(self.exponent) if self.exponent else ""


def numbers(forest: Forest) -> Numbers:
    """The common form of the effects: the decimals asked for, or two significant digits of the median half-width."""
    rows = [row for group in forest.groups for row in (*group.rows, group.summary) if row and row.effect is not None]
    if not rows:
        return Numbers(0, 3 if forest.digits is None else forest.digits)
    size = statistics.median(max(abs(row.ci_low), abs(row.ci_high)) for row in rows)
    exponent = exponent_for(size)
    if forest.digits is not None:
        return Numbers(exponent, forest.digits)
    half = statistics.median((row.ci_high - row.ci_low) / 2 for row in rows) / 10**exponent
    return Numbers(exponent, decimals_for(half))


def exponent_for(size: float) -> int:
    """The power of ten, a multiple of three, in whose unit numbers of this size are written; 0 where they need none."""
    return 0 if size == 0 or 1e-3 <= size < 1e5 else 3 * math.floor(math.log10(size) / 3)


def decimals_for(half: float) -> int:
    """The decimals with which an interval's half-width has two significant digits; three for one of width 0."""
    return max(0, 1 - math.floor(math.log10(half))) if half else 3


def fixed(value: float, decimals: int) -> str:
    """A number with `decimals`, halves rounded away from zero, a true minus sign, and no minus before zero."""
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return minus(f"{rounded or abs(rounded):f}")


def minus(text: str) -> str:
    """The typographic minus sign in place of the hyphen."""
    return text.replace("-", MINUS)


def spelled(count: int) -> str:
    """A count as a sentence has it: in letters up to twelve."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def power_of_ten(exponent: int) -> str:
    """Times ten to the exponent, with superscripts."""
    return f"{TIMES}10{str(exponent).translate(_SUPERSCRIPTS)}"


def scientific(value: float) -> str:
    """Two significant digits and a power of ten."""
    digits, exponent = f"{value:.1e}".split("e")
    return minus(digits) + power_of_ten(int(exponent))


def p_value(p: float, alpha: float) -> str:
    """Three decimals, more where p would otherwise print as alpha, and `<0.001` below that."""
    if p < 0.001:
        return "<0.001"
    for decimals in (3, 4, 5, 6):
        text = f"{p:.{decimals}f}"
        if p == alpha or float(text) != alpha:
            return text
    return f"<{alpha:g}" if p < alpha else f">{alpha:g}"


def p_equals(p: float, alpha: float) -> str:
    """A p-value with its sign of equality, such as `p = 0.012` or `p < 0.001`."""
    text = p_value(p, alpha)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def statistic(summary: Diamond) -> str:
    """The test statistic of a summary and its degrees of freedom; empty where it has no test (a standard error of 0).

    It is the quantile that belongs to the p-value and so holds on the scale of the synthesis, whatever is reported.
    """
    if summary.own_p is None:
        return ""
    name, degrees = ("z", "") if summary.df is None else ("t", f", df = {degrees_of_freedom(summary.df)}")
    if summary.own_p == 0:
        return f"|{name}| > 37{degrees}"  # beyond the least p-value that a number can hold
    half = summary.own_p / 2
    size = -special.ndtri(half) if summary.df is None else -special.stdtrit(summary.df, half)
    return f"{name} = {fixed(math.copysign(size, summary.effect), 2)}{degrees}"


def degrees_of_freedom(df: float) -> str:
    """Degrees of freedom: whole, or estimated ones with a decimal."""
    return f"{df:.0f}" if float(df).is_integer() else f"{df:.1f}"


def mean_decimals(values: Iterable[float | None]) -> int:
    """Decimals for a column of means: three below 10, fewer above."""
    largest = max((abs(value) for value in values if value is not None), default=0)
    return 3 if largest < 10 else max(0, 4 - math.ceil(math.log10(largest)))


def means(control: float | None, treatment: float | None, decimals: int) -> tuple[str, str, str]:
    """Control → treatment in pieces; a missing mean is a dash."""
    control, treatment = ("\N{EN DASH}" if value is None else fixed(value, decimals) for value in (control, treatment))
    return control, "→", treatment


def percent(alpha: float) -> str:
    """The confidence level of alpha: 95% for 0.05, 99.9% for 0.001."""
    return f"{100 * (1 - alpha):.10g}%"


def heterogeneity(value: Heterogeneity, forest: Forest) -> str:
    """tau in its unit with its interval, Q, its degrees of freedom and p, and I2 with what it is relative to; a line
    breaks between them only.
    """
    parts = [*tau(value.tau2, value.tau2_ci, forest), f"Q = {value.q:.1f},", f"df = {value.df},"]
    parts += [f"{p_equals(value.p_value, forest.alpha)};", f"I² = {value.i2:.1f}%"]
    return f"{' '.join(unbroken(part) for part in parts)} {I2_CAUTION}"


def tau(tau2: float, interval: tuple[float, float] | None, forest: Forest) -> list[str]:
    """The standard deviation between tasks in pieces, its interval last if there is one."""
    deviation, *ends = deviations(tau2, *(interval or ()))
    of_tau = f"τ = {deviation} in {unit_of_tau(forest.effect, forest.measure)}"
    if not ends:
        return [f"{of_tau};"]
    return [f"{of_tau},", f"{percent(forest.alpha)} CI [{ends[0]}, {ends[1]}];"]


def unit_of_tau(effect: EffectType, measure: str) -> str:
    """What tau is a standard deviation of."""
    if effect.IN_UNITS_OF_MEASURE:
        return measure
    return effect.NOUN if effect.HAS_DIFFERENCE else effect.STATISTIC


def unbroken(text: str) -> str:
    """The text with spaces at which no line breaks."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def deviations(*variances: float) -> list[str]:
    """The roots of tau2 and of its interval, with one number of decimals: two significant digits of the first that is
    not 0, and only a 0 prints as 0.
    """
    values = [math.sqrt(variance) for variance in variances]
    least = 1 - math.floor(math.log10(next((value for value in values if value), 1.0)))
    for decimals in range(max(0, least), 6):
        if least > -5 and all(value == 0 or round(value, decimals) for value in values):
            return [fixed(value, decimals) if value else "0" for value in values]
    return [scientific(value) if value else "0" for value in values]


def mean_label(group: Group) -> str:
    """The name of the row of the mean on these collections."""
    return f"Mean of these {_with_effect(group)} tasks"


def summary_label(forest: Forest, group: Group) -> str:
    """The name of the summary row; where there is room, with the estimator of tau2 and the kind of interval."""
    if group.heterogeneity is None:
        return "Summary"
    return "Random effects" if forest.single else f"Random effects ({method(forest)})"


def prediction_label(forest: Forest, group: Group) -> str:
    """The name of the prediction interval; where there is room, with its distribution."""
    label = f"{percent(forest.alpha)} prediction interval"
    return label if forest.single else f"{label}{_t_of(group.summary.prediction_df)}"


def no_prediction(group: Group) -> str:
    """What stands behind "no prediction interval" where collections are too few; empty where they are not."""
    return f": it takes at least {spelled(FEWEST)} collections" if _with_effect(group) < FEWEST else ""


def _with_effect(group: Group) -> int:
    return sum(row.effect is not None for row in group.rows)


def intervals(forest: Forest) -> str:
    """What the intervals of tasks, summary and new tasks are; empty where it is not known of tasks.

    The degrees of freedom of summary and prediction interval are those of the first group that has them.
    """
    if not forest.task_interval:
        return ""
    parts = [f"tasks {forest.task_interval}"]
    if found := next((group for group in forest.groups if group.heterogeneity and group.summary), None):
        summary = found.summary
        parts += ["mean of these tasks t"] if found.fixed_mean else []
        parts.append(f"random effects {interval_named(forest.interval).LABEL}")
        if summary.prediction_interval and summary.prediction_df is None:
            parts.append("prediction by the confidence distribution of τ")
        elif summary.prediction_interval and forest.single:
            parts.append(f"prediction interval{_t_of(summary.prediction_df)}")
    return f"{percent(forest.alpha)} intervals: {'; '.join(parts)}."


def _t_of(df: float | None) -> str:
    return "" if df is None else unbroken(f", t({degrees_of_freedom(df)})")


def method(forest: Forest) -> str:
    """The estimator of tau2 and the kind of interval."""
    return f"{estimator_named(forest.estimator).LABEL}, {interval_named(forest.interval).LABEL}"


def p_text(forest: Forest) -> str:
    """What the p-values are, and their star."""
    summary = f"; p of means: {forest.summary_note}" if forest.summary_note else ""
    return f"p of tasks: {forest.p_note}{summary}. {unbroken(f'* p < {forest.alpha:g}.')}"


def axis_label(forest: Forest, form: Numbers) -> str:
    """What the axis measures, with its unit of ten where there is one."""
    name = forest.effect.AXIS.format(measure=forest.measure)
    return f"{name} ({form.factor})" if form.factor else name
