"""Comparisons that count as one hypothesis: that two systems do not differ in a measure on some tasks, tested in one
way.

Reads and writes nothing. MD, SMD and d_av are scales of one hypothesis, and so is a comparison with control and
treatment exchanged. A correlation with a gold standard is another hypothesis. Another interval, other weights or other
assumptions count as a further one: among several, that with the smallest p may be chosen after a look.
"""

from __future__ import annotations

from collections.abc import Hashable

from ranktrial.experiment.records import Comparison, Experiment
from ranktrial.statistics.effects import effect_named

WAYS = ("estimator", "interval", "task_interval", "small_tasks", "seeds", "dependence", "ddof")  # of testing it


def tested(comparison: Comparison) -> Hashable:
    """Return the hypothesis of a comparison and the way in which it is tested as a key."""
    sides = {
        (system, frozenset(comparison.treatment_on.items()) if system == comparison.treatment else frozenset())
        for system in (comparison.control, comparison.treatment)
    }
    statistics = comparison.statistics
    difference = effect_named(statistics.effect).HAS_DIFFERENCE
    way = *(getattr(statistics, name) for name in WAYS), str(statistics.clusters)
    return frozenset(sides), statistics.measure, frozenset(comparison.tasks), difference, way


def repeated(experiment: Experiment) -> dict[str, str]:
    """Return comparison -> the first of its family with the same hypothesis; the first ones are left out."""
    first: dict[Hashable, str] = {}
    found = {}
    for name, comparison in experiment.comparisons.items():
        of_family = first.setdefault((comparison.family, tested(comparison)), name)
        if of_family != name:
            found[name] = of_family
    return found


def families(experiment: Experiment) -> dict[str, str]:
    """Return comparison -> its family, for those that name one."""
    return {name: comparison.family for name, comparison in experiment.comparisons.items() if comparison.family}
