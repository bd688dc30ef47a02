"""The interval by the normal distribution (Sertkan et al. 2023, equations 11 and 12); reads and writes nothing."""

from __future__ import annotations

from scripts.statistics.effects import EffectType
from scripts.statistics.meta_analysis.summaries import normal_summary
from scripts.statistics.task_intervals import Sample, TaskInterval

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
    result = normal_summary(sample.estimate, sample.variance, sample.alpha)
    assert result.p_value is not None and result.log10_p is not None  # a defined effect has a variance
    return TaskInterval(NAME, result.ci_low, result.ci_high, result.p_value, result.log10_p)
