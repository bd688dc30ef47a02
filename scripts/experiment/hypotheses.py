"""Comparisons that test the same hypothesis: that two systems do not differ in a measure on some tasks.

Reads and writes nothing. MD, SMD and d_av, another estimator or another interval are analyses of the same hypothesis,
and so is a comparison with control and treatment exchanged. A correlation with a gold standard is another hypothesis.
"""

from __future__ import annotations

from collections.abc import Hashable

from scripts.experiment.records import Comparison, Experiment
from scripts.statistics.effects import effect_named


def tested(comparison: Comparison) -> Hashable:
    """Return the hypothesis of a comparison as a key; equal for two analyses of the same hypothesis."""
    sides = {
        (system, frozenset(comparison.treatment_on.items()) if system == comparison.treatment else frozenset())
        for system in (comparison.control, comparison.treatment)
    }
    difference = effect_named(comparison.statistics.effect).HAS_DIFFERENCE
    return frozenset(sides), comparison.statistics.measure, frozenset(comparison.tasks), difference


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
