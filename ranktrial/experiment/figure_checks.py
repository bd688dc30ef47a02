"""Checks of the settings of a comparison's figures, and the measures for which a lower value is better.

Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from ranktrial.common.near_names import hint
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import Comparison, Task
from ranktrial.experiment.sections.comparison import ComparisonEntry
from ranktrial.experiment.sections.figure import Figure
from ranktrial.ir.measure_names import same_measure
from ranktrial.statistics.effects import effect_named

MIN_TASKS = 3  # for a figure of influence: one of two tasks left out leaves nothing to synthesise
ON_ONE_AXIS = ("measure", "effect")  # must be equal for all comparisons whose figures share an axis


def check_figure(check: Checker, key: str, entry: ComparisonEntry) -> None:
    """Raise UserError for limits, ticks or further figures that cannot be drawn."""
    figure, effect = entry.figure, effect_named(entry.effect)
    key = f"{key}.figure"
    if figure.limits:
        _check_limits(check, key, figure, around_zero=effect.HAS_DIFFERENCE)
    if figure.bayesian and entry.bayesian is None:
        raise check.fail(f"{key}.bayesian", "only valid with key 'bayesian' of the comparison, which computes it")
    if figure.queries and not effect.HAS_DIFFERENCE:
        raise check.fail(f"{key}.queries", f"effect {effect.NAME} has no differences of queries")


def _check_limits(check: Checker, key: str, figure: Figure, around_zero: bool) -> None:
    """Raise UserError unless the limits of the axis fit its ticks and include 0 if differences are shown."""
    limits = list(figure.limits or ())
    if figure.axis:
        raise check.fail(f"{key}.limits", "not together with axis, whose limits follow from all its comparisons")
    if limits[0] >= limits[1]:
        raise check.fail(f"{key}.limits", f"{limits}: expected the lower limit first")
    if around_zero and not limits[0] <= 0 <= limits[1]:
        raise check.fail(f"{key}.limits", f"{limits}: expected limits around 0, which is no difference")
    for tick in figure.ticks or ():
        if not limits[0] <= tick <= limits[1]:
            raise check.fail(f"{key}.ticks", f"{tick:g} lies outside the limits {limits}")


def check_axes(check: Checker, comparisons: Mapping[str, Comparison]) -> None:
    """Raise UserError if comparisons whose figures share an axis differ in measure or effect."""
    first: dict[str, Comparison] = {}
    for comparison in comparisons.values():
        if axis := comparison.figure.axis:
            other = first.setdefault(axis, comparison)
            sides = (other.statistics, comparison.statistics)
            differ = [name for name in ON_ONE_AXIS if len({getattr(side, name) for side in sides}) > 1]
            if differ:
                problem = f"no axis for {other.name} as well: they differ in {', '.join(differ)}"
                raise check.fail(f"comparisons.{comparison.name}.figure.axis", problem)


def lower_is_better(check: Checker, tasks: Mapping[str, Task]) -> tuple[str, ...]:
    """Return the measures for which lower is better, as tasks name them. Raises UserError for an unknown measure."""
    found: dict[str, None] = {}
    for name in check.config.lower_is_better:
        of_tasks = [name if task.values_given else same_measure(name, task.measures) for task in tasks.values()]
        known = [
            listed for listed, task in zip(of_tasks, tasks.values(), strict=True) if listed and listed in task.measures
        ]
        if not known:
            listed_measures = list(dict.fromkeys(measure for task in tasks.values() for measure in task.measures))
            raise check.fail(
                "lower_is_better", f"{name!r} is not among the measures: {listed_measures}{hint(name, listed_measures)}"
            )
        found |= dict.fromkeys(known)
    return tuple(found)
