"""The caption of a forest plot: what is what in it; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranktrial.common.plugins import own_keys
from ranktrial.reports.comparison.forest_data import Forest

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
