"""The interval by Student's t distribution; reads and writes nothing. For MD it is that of the paired t-test."""

from __future__ import annotations

from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.summaries import widest_summary
from ranktrial.statistics.task_intervals import Sample, TaskInterval, from_summary

NAME = "t"
DESCRIPTION = "from Student's t distribution"
LABEL = "t"
P_VALUE = "{statistic} against Student's t distribution"
HOLDS_SEEDS = True


def fits(effect: EffectType) -> bool:
    """A difference: the variance of Fisher's z is not estimated."""
    return effect.HAS_DIFFERENCE


def interval(sample: Sample) -> TaskInterval:
    """estimate +- t(1 - alpha/2; df) sqrt(variance), df = n - 1 unless the variance has others."""
    return from_summary(NAME, widest_summary(sample.estimate, sample.parts, sample.alpha))
