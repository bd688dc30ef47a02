"""Costs: the effects over one control against latency, training time and size; one figure per control."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.exhibits import Exhibit, Shown
from ranktrial.experiment.labels import system_labels
from ranktrial.experiment.records import Comparison, Experiment
from ranktrial.experiment.systems._neural import of_model
from ranktrial.experiment.timings import Beside, exclusive, files_of, timed_systems, timings
from ranktrial.statistics.effects import effect_named

NAME = "costs"
PREFIX, DESCRIPTION = "cost-", "figures of costs"
CATEGORY = "Costs"
CAPTION = (
    "The effects over one control against the median latency of a query and the training time, both end to end. "
    "Vertical lines are confidence intervals, horizontal ones ranges over tasks and seeds. The dashed line is the "
    "Pareto front of the means; filled systems are on it, or off it only by noise."
)


@cache
def names(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Figure -> its comparisons."""
    of_controls = by_control(experiment.comparisons, set(timed_systems(experiment)))
    return {PREFIX + name: compared for name, compared in of_controls.items()}


def by_control(comparisons: dict[str, Comparison], timed: set[str]) -> dict[str, tuple[str, ...]]:
    """Return figure name (without its prefix) -> the comparisons whose effects it shows against costs.

    Each control has one figure. If its comparisons differ in measure, effect, level or tasks, it has several figures,
    whose names also contain that of their first comparison. Only `timed` systems are shown, each treatment once.
    """
    groups: dict[tuple[str, tuple[Any, ...]], dict[str, Comparison]] = {}
    effects = {comparison.statistics.effect for comparison in comparisons.values()}
    with_difference = {effect for effect in effects if effect_named(effect).HAS_DIFFERENCE}
    for comparison in comparisons.values():
        has_difference = comparison.statistics.effect in with_difference
        own = not (comparison.treatment_on or comparison.gain_over)  # its effect belongs to the cost of one system
        if comparison.treatment in timed and has_difference and own:
            how = comparison.statistics
            of_figure = (how.measure, how.effect, how.alpha, comparison.tasks)
            groups.setdefault((comparison.control, of_figure), {}).setdefault(comparison.treatment, comparison)
    controls = [control for control, _ in groups]
    figures = {}
    for (control, _), group in groups.items():
        shown = len(group) + 1 if control in timed else len(group)
        if shown > 1:
            several = controls.count(control) > 1
            name = f"{control}-{next(iter(group.values())).name}" if several else control
            figures[name] = tuple(comparison.name for comparison in group.values())
    return figures


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The summary effects, and all timing files of the systems on the tasks of the figure."""
    compared, beside = names(experiment)[name], of_figure(experiment, name)
    inputs = {
        "meta": job_files.of_comparisons(experiment, "meta", compared),
        "timing": sorted({*beside, *chain.from_iterable(map(files_of, beside.values()))}),
    }
    return Exhibit(inputs, settings(experiment, name), compared)


def shown(experiment: Experiment, name: str) -> Shown:
    """Below the table of costs."""
    control = experiment.comparisons[names(experiment)[name][0]].control
    title = f"Effects over {system_labels(experiment).get(control, control)}, and what they cost"
    return Shown(section="costs", caption=f"{title}.", shows=f"{title}. The tables have the numbers.")


def settings(experiment: Experiment, name: str) -> JsonObject:
    """The settings of a figure of costs."""
    first = experiment.comparisons[names(experiment)[name][0]]
    shown = systems(experiment, name)
    return {
        "control": first.control,
        "alpha": first.statistics.alpha,
        "labels": {name: label for name, label in system_labels(experiment).items() if name in shown},
        "beside": of_figure(experiment, name),
        **({"sizes": sizes} if (sizes := _sizes(experiment, name)) else {}),
        **exclusive(experiment),
    }


def systems(experiment: Experiment, figure: str) -> list[str]:
    """The systems of a figure of costs, its control first if that has timing."""
    members = [experiment.comparisons[name] for name in names(experiment)[figure]]
    every = [members[0].control, *(comparison.treatment for comparison in members)]
    return [name for name in every if name in timed_systems(experiment)]


def of_figure(experiment: Experiment, figure: str) -> dict[str, Beside]:
    """The part of `timings` that belongs to the systems and tasks of a figure of costs."""
    first = experiment.comparisons[names(experiment)[figure][0]]
    return timings(experiment, list(first.tasks), systems(experiment, figure))


def _sizes(experiment: Experiment, figure: str) -> list[str]:
    """The sizes that a figure shows: of indices, of weights, or both."""
    drawn = [experiment.systems[name] for name in systems(experiment, figure)]
    derived = [index for system in drawn if (index := of_model(system).index)]
    smaller = {
        "index_mb": any(index.form.smaller for index in derived) or any(system.truncate_dim for system in drawn),
        "weights_mb": any(of_model(system).export for system in drawn),
    }
    return [size for size, shown in smaller.items() if shown]
