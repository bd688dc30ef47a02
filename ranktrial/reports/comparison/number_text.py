"""The format of numbers in forest plots, tables and sentences; reads and writes nothing.

One number of decimals per column and figure. A bound prints as 0 only if it is 0, so one near it may have more
decimals; a p-value never prints as 0, and as alpha only if it equals alpha.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from ranktrial.reports.comparison.reading import Forest

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MOST_DECIMALS = 6  # of a column with several units
_MORE_IN_TEXT = 3  # decimals that a sentence may have over the figure
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Numbers:
    """The common form of a column: numbers in units of 10^exponent with `decimals`."""

    exponent: int
    decimals: int

    def of(self, effect: float | None, low: float, high: float) -> tuple[str, str, str]:
        """An effect ("" for None) and the bounds of its interval."""
        return "" if effect is None else self.number(effect), self.bound(low), self.bound(high)

    def number(self, value: float) -> str:
        """A number; one that rounds to 0 has no sign."""
        return fixed(value / 10**self.exponent, self.decimals)

    def bound(self, value: float) -> str:
        """A bound of an interval: one that would print as 0 without being 0 has more decimals, down to one digit."""
        if value == 0 or not self.is_zero(value):
            return self.number(value)
        needed = -math.floor(math.log10(abs(value) / 10**self.exponent))
        return fixed(value / 10**self.exponent, needed) if needed <= _MOST_DECIMALS else scientific(value)

    def deviation(self, value: float) -> str:
        """A standard deviation: one that rounds to 0 without being 0 is below the smallest that can be printed."""
        if value == 0 or not self.is_zero(value):
            return self.number(value)
        return f"<{fixed(10.0**-self.decimals, self.decimals)}"

    def is_zero(self, value: float) -> bool:
        """Whether a number prints as 0."""
        return not Decimal(fixed(abs(value) / 10**self.exponent, self.decimals))

    @property
    def factor(self) -> str:
        """The factor of the printed numbers, such as ten to the minus six; empty for 1."""
        return power_of_ten(self.exponent) if self.exponent else ""


def numbers(forest: Forest) -> Numbers:
    """The common form of the effects: the decimals asked for, or two significant digits of the median half-width."""
    rows = [row for group in forest.groups for row in (*group.found.tested, group.summary) if row]
    if not rows:
        return Numbers(0, 3 if forest.looks.digits is None else forest.looks.digits)
    size = statistics.median(max(abs(row.ci_low), abs(row.ci_high)) for row in rows)
    exponent = exponent_for(size)
    if forest.looks.digits is not None:
        return Numbers(exponent, forest.looks.digits)
    half = statistics.median((row.ci_high - row.ci_low) / 2 for row in rows) / 10**exponent
    return Numbers(exponent, decimals_for(half))


def in_text(common: Numbers, low: float, high: float) -> Numbers:
    """The form of an interval in a sentence: with more decimals if otherwise a bound that is not 0 would print as 0."""
    others = [bound for bound in (low, high) if bound != 0]
    for decimals in range(common.decimals, common.decimals + _MORE_IN_TEXT + 1):
        longer = Numbers(common.exponent, decimals)
        if not any(map(longer.is_zero, others)):
            return longer
    return common


def of_several_units(intervals: Iterable[tuple[str, float, float]]) -> Numbers:
    """The form of a column of intervals, each with its unit: that of the unit that needs the most decimals."""
    halves: dict[str, list[float]] = {}
    for unit, low, high in intervals:
        halves.setdefault(unit, []).append((high - low) / 2)
    decimals = [decimals_for(statistics.median(of_unit)) for of_unit in halves.values()]
    return Numbers(0, min(_MOST_DECIMALS, max(decimals, default=3)))


def exponent_for(size: float) -> int:
    """The power of ten, a multiple of three, in whose unit numbers of this size are written; 0 where they need none."""
    return 0 if size == 0 or 1e-3 <= size < 1e5 else 3 * math.floor(math.log10(size) / 3)


def decimals_for(half: float) -> int:
    """The decimals with which an interval's half-width has two significant digits; three for one of width 0."""
    return max(0, 1 - math.floor(math.log10(half))) if half else 3


def fixed(value: float, decimals: int) -> str:
    """A number with `decimals`, halves rounded away from zero, a true minus sign, and no minus before zero.

    It is rounded to 12 digits first, so that 0.0525 and a sum that is 0.05249999999999999 print alike.
    """
    rounded = Decimal(f"{value:.12g}").quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return minus(f"{rounded or abs(rounded):f}")


def minus(text: str) -> str:
    """The typographic minus sign in place of the hyphen."""
    return text.replace("-", MINUS)


def spelled(count: int) -> str:
    """A count in a sentence: in words up to twelve."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def power_of_ten(exponent: int) -> str:
    """Times ten to the exponent, with superscripts."""
    return f"{TIMES}10{str(exponent).translate(_SUPERSCRIPTS)}"


def scientific(value: float) -> str:
    """Two significant digits and a power of ten."""
    digits, exponent = f"{value:.1e}".split("e")
    return minus(digits) + power_of_ten(int(exponent))


def p_value(p: float, alpha: float) -> str:
    """A p-value in a column: three decimals, `<0.001` below that, and `<0.050` or `>0.050` where it rounds to alpha."""
    if p < 0.001:
        return "<0.001"
    text = f"{p:.3f}"
    if p == alpha or float(text) != alpha:
        return text
    return f"<{text}" if p < alpha else f">{text}"


def p_equals(p: float, alpha: float) -> str:
    """A p-value in a sentence, such as `p = 0.012` or `p < 0.001`; more decimals where it would print as alpha."""
    if p < 0.001:
        return "p < 0.001"
    for decimals in (3, 4, 5, 6):
        text = f"{p:.{decimals}f}"
        if p == alpha or float(text) != alpha:
            return f"p = {text}"
    return f"p < {alpha:g}" if p < alpha else f"p > {alpha:g}"


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


def unbroken(text: str) -> str:
    """The text with spaces at which no line breaks."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")
