"""A mean in a sentence, with its interval and p-value before correction, and its answer; reads and writes nothing."""

from __future__ import annotations

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.statistics.meta_analysis.summaries import Summary


def sign(mean: Summary, alpha: float) -> int:
    """1 or -1: significantly above or below 0 before correction; else 0."""
    if mean.p_value is None or mean.p_value >= alpha:
        return 0
    return 1 if mean.effect > 0 else -1


def numbers(mean: Summary, plot: Forest) -> list[str]:
    """The estimate and both bounds."""
    found = form.in_text(form.numbers(plot), mean.ci_low, mean.ci_high)
    return [f"{text} {found.factor}".strip() for text in found.of(mean.effect, mean.ci_low, mean.ci_high)]


def tested(mean: Summary, plot: Forest) -> str:
    """The estimate, its interval and its p-value."""
    effect, low, high = numbers(mean, plot)
    p = "" if mean.p_value is None else f"; {form.p_equals(mean.p_value, plot.alpha)} without correction"
    return f"{effect} ({form.percent(plot.alpha)} CI {low} to {high}{p})"
