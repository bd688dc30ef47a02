"""The interval by the normal distribution (Sertkan et al. 2023, equations 11 and 12); reads and writes nothing."""

from __future__ import annotations

from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.summaries import normal_summary
from ranktrial.statistics.task_intervals import Sample, TaskInterval, from_summary

NAME = "normal"
DESCRIPTION = "from the normal distribution, as in Ranger"
LABEL = "normal"
P_VALUE = "{statistic} against the normal distribution"
HOLDS_SEEDS = True


def fits(effect: EffectType) -> bool:
    """Any effect that has a variance."""
    return True


def interval(sample: Sample) -> TaskInterval:
    """estimate +- z(1 - alpha/2) sqrt(variance)."""
    variance = max(part.variance for part in sample.parts)
    return from_summary(NAME, normal_summary(sample.estimate, variance, sample.alpha))
