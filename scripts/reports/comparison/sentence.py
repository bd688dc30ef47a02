"""A comparison in plain sentences, for readers who know no statistics; reads and writes nothing."""

from __future__ import annotations

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.forest_data import Diamond, Forest
from scripts.reports.comparison.reading import Labels


def sentence(meta: dict, plot: Forest, labels: Labels) -> str:
    """What the comparison of a meta record says: the effect, how sure it is, and what to expect elsewhere.

    `plot` is its forest plot, whose numbers it repeats; it knows whether a higher value of the measure is better.
    """
    summary = plot.groups[0].summary
    control, treatment = plot.control, plot.groups[0].treatment
    if summary is None:
        return f"{treatment} against {control}: no task has an effect that can be computed, so nothing can be said."
    numbers = form.numbers(plot)
    effect, low, high = numbers.of(summary.effect, summary.ci_low, summary.ci_high)
    unit = f" {numbers.factor}" if numbers.factor else ""
    tasks = "On one task" if meta["k"] == 1 else f"Over {meta['k']} tasks"
    interval = f"{form.percent(plot.alpha)} confidence interval {low} to {high}{unit}"
    parts = [f"{tasks}, {_finding(plot, summary, effect, unit)} ({interval}): {_verdict(plot, summary, meta['k'])}."]
    if "sensitivity" in meta:
        parts.append(_with_same_systems(meta["sensitivity"], plot))
    if "equivalence" in meta:
        parts.append(_margin(meta["equivalence"], plot.alpha, treatment, control))
    parts.append(_elsewhere(plot, summary, numbers, unit, meta["k"]))
    return " ".join([*parts, *filter(None, [plot.seeds_note])])


def _finding(plot: Forest, summary: Diamond, effect: str, unit: str) -> str:
    return plot.effect.FINDING.format(
        measure=plot.measure,
        control=plot.control,
        treatment=plot.groups[0].treatment,
        number=effect + unit,
        size=effect.lstrip("\N{MINUS SIGN}") + unit,
        direction="higher" if summary.effect >= 0 else "lower",
    )


def _verdict(plot: Forest, summary: Diamond, k: int) -> str:
    """How sure the summary is, and no surer: equal tasks, tasks that show nothing, and many comparisons are said."""
    if summary.ci_low == summary.ci_high or summary.p_value is None:
        return "the tasks are equal, so how far this may be chance cannot be said"
    if summary.ci_low <= 0 <= summary.ci_high:
        return "it may be chance"
    verdict = "more than chance explains"
    if k == 2:
        verdict += ", as far as two tasks can show"
    if k > 1 and all(row.effect is None or row.ci_low <= 0 <= row.ci_high for row in plot.groups[0].rows):
        verdict += ", though on no task alone: it rests on their agreement"
    if not summary.beyond_chance(plot.alpha):
        verdict += (
            f"; but as one of {summary.family} comparisons it may be chance ({_p(summary.p_holm, plot.alpha)} by Holm)"
        )
    return verdict


def _with_same_systems(sensitivity: dict, plot: Forest) -> str:
    """The summary in which tasks keep their place on which both systems are the same."""
    summary, tasks = sensitivity["summary"], len(sensitivity["tasks"])
    effect, low, high = form.numbers(plot).of(*(summary[name] for name in ("effect", "ci_low", "ci_high")))
    where = "the task" if tasks == 1 else f"the {tasks} tasks"
    return f"With {where} on which both systems are the same it is {effect} ({low} to {high}; pooled variance)."


def _p(p: float, alpha: float) -> str:
    text = form.p_value(p, alpha)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def _margin(equivalence: dict, alpha: float, treatment: str, control: str) -> str:
    p = equivalence["p_non_inferiority"]
    if p is None:
        return ""
    shown = "is shown" if p < alpha else "is not shown"
    return (
        f"That {treatment} is not worse than {control} by more than {equivalence['margin']:g} {shown} ({_p(p, alpha)})."
    )


def _elsewhere(plot: Forest, summary: Diamond, numbers: form.Numbers, unit: str, k: int) -> str:
    if summary.prediction_interval is None:
        tasks = "1 task" if k == 1 else f"{k} tasks"
        return f"With {tasks} nothing can be said about a new collection."
    low, high = summary.prediction_interval
    _, low_text, high_text = numbers.of(None, low, high)
    expected = f"In a new collection the {plot.effect.NOUN} is expected between {low_text} and {high_text}{unit}"
    if not plot.effect.HAS_DIFFERENCE:
        return f"{expected}."
    if low <= 0 <= high:
        return f"{expected}: it may be a gain or a loss there."
    return f"{expected}: a {'loss' if (low > 0) == plot.lower_is_better else 'gain'} there, too."
