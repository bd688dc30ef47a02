"""Words and numbers shared by the answers about transfer; reads and writes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ranktrial.reports.comparison import number_text as form
from ranktrial.statistics.task.differences import Difference

DECIMALS = 3


@dataclass(frozen=True)
class Answer:
    """A sentence on a research question, of one target and starting point or of all ("")."""

    question: str
    text: str
    target: str = ""
    start: str = ""
    numbers: dict[str, float | None] = field(default_factory=dict)


def mean(value: float) -> str:
    """A mean of a measure."""
    return form.fixed(value, DECIMALS)


def signed(value: float) -> str:
    """A difference with its sign; 0 has none."""
    text = form.fixed(value, DECIMALS)
    return f"+{text}" if value > 0 else text


def percentage(difference: float, base: float) -> str:
    """A difference relative to its base, such as +3.7%; empty if the base is 0."""
    if not base:
        return ""
    share = 100 * difference / base
    return f"{'+' if share > 0 else ''}{form.fixed(share, 1)}%"


def tested(found: Difference, alpha: float) -> str:
    """A difference with its interval and p-value; a word if there is no test."""
    low, high, p = found.ci_low, found.ci_high, found.p_value
    if missing(low) or missing(high) or missing(p):
        return f"{signed(found.difference)}, the same on every query"
    interval = f"{form.percent(alpha)} CI {signed(low)} to {signed(high)}"
    return f"{signed(found.difference)}, {interval}, {form.p_equals(p, alpha)}"


def numbers_of(found: Difference) -> dict[str, float | None]:
    """The numbers of a difference as an answer's table has them."""
    return {key: getattr(found, key) for key in ("difference", "ci_low", "ci_high", "p_value")}


def missing(value: float | None) -> bool:
    """Whether there is no number."""
    return value is None or math.isnan(value)


def below(p: float | None, alpha: float) -> bool:
    """Whether there is a p-value and it is below alpha."""
    return p is not None and not math.isnan(p) and p < alpha
