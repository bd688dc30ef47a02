"""Sentences on the weights of tasks: another common weighting that gives another answer, and a task that alone decides
the width of an interval; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison import mean_in_text
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.intervals import has_own_weights, interval_named
from ranktrial.statistics.meta_analysis.summaries import Summary
from ranktrial.statistics.synthesise import INVERSE_VARIANCE

HALF = 0.5  # of the width without a task, at most: it alone decides the width
NAMES = {  # the record's names of weightings -> as a sentence puts them
    INVERSE_VARIANCE: "by precision (DerSimonian-Laird, normal interval)",
    "knapp-hartung": "by precision (REML, Knapp-Hartung)",
    "equal-weights": "with equal weights",
}


def other_answer(meta: MetaRecord, plot: Forest) -> str:
    """Both numbers, if the mean over collections like these has another answer (before correction) with another common
    weighting; else empty."""
    own = meta.summary
    if own is None or meta.meta is None:
        return ""
    answer = mean_in_text.sign(own, plot.alpha)
    for name in NAMES:
        other = meta.weightings.get(name)
        if other is not None and mean_in_text.sign(other, plot.alpha) != answer:
            means = [
                f"{mean_in_text.tested(mean, plot)} {how}"
                for mean, how in ((own, _own_name(plot)), (other, NAMES[name]))
            ]
            return f" This answer depends on how collections are weighed: the mean is {means[0]} and {means[1]}."
    return ""


def _own_name(plot: Forest) -> str:
    if has_own_weights(plot.interval):
        return NAMES["equal-weights"]
    return f"by precision ({estimator_named(plot.estimator).LABEL}, {interval_named(plot.interval).LABEL})"


def deciding_task(meta: MetaRecord, plot: Forest) -> str:
    """The task without which an interval would be at most half as wide; empty if there is none."""
    if meta.summary is None or meta.fixed_mean is None:
        return ""
    labels = {row.name: row.task for row in plot.groups[0].rows}
    said: dict[str, list[str]] = {}
    for mean, without, scope in (
        (meta.fixed_mean, meta.fixed_mean_without, f"on the other {form.spelled(meta.k - 1)} collections"),
        (meta.summary, {task: of.summary for task, of in meta.leave_one_out.items()}, "over collections like these"),
    ):
        found = narrowest(mean, without, plot.alpha)
        if found is not None:
            task, ratio = found
            _, low, high = mean_in_text.numbers(without[task], plot)
            interval = f"{form.percent(plot.alpha)} CI {low} to {high}"
            said.setdefault(task, []).append(f"{ratio:.0%} as wide {scope} ({interval})")
    return " ".join(
        f"{labels.get(task, task)} alone decides the width: without it, the interval would be {' and '.join(parts)}."
        for task, parts in said.items()
    )


def narrowest(mean: Summary, without: Mapping[str, Summary], alpha: float) -> tuple[str, float] | None:
    """The task without which the interval is the narrowest, and its width in units of that with all; None if none
    halves it. Two tasks have no others to compare with."""
    half = mean.half_width(alpha)
    if len(without) < 3 or not half:
        return None
    ratios = {task: one.half_width(alpha) / half for task, one in without.items()}
    task = min(ratios, key=lambda name: ratios[name])
    return (task, ratios[task]) if ratios[task] <= HALF else None
