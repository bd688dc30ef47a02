"""The methods of a comparison of two systems, with the defaults of an experiment; reads nothing.

Names and defaults are those of a comparison in a configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from ranktrial.common.plugins import own_keys
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.task_intervals import task_interval_named

RANDOM, CONDITIONAL = "random", "conditional"  # seeds
ESTIMATED, INDEPENDENT = "estimated", "independent"  # dependence


@dataclass(frozen=True, kw_only=True)
class Method:
    """The methods of a comparison."""

    effect: Annotated[str, "effect type: a file in ranktrial/statistics/effects"] = "MD"
    estimator: Annotated[str, "estimator of tau2: a file in ranktrial/statistics/estimators"] = "REML"
    interval: Annotated[str, "interval of the summary: a file in ranktrial/statistics/intervals"] = "equal-weights"
    task_interval: Annotated[str, "interval of each task: a file in ranktrial/statistics/task_intervals"] = "t"
    alpha: Annotated[float, "1 - alpha is the level of confidence"] = 0.05
    ddof: Annotated[int, "standard deviations divide by n - ddof"] = 1
    permutations: Annotated[int, "of the randomisation test, at most"] = 100_000
    seed: Annotated[int, "of the randomisation test and of resampling"] = 42
    prediction: Annotated[str, "kind of prediction interval (prediction.py)"] = "confidence-distribution"
    small_tasks: Annotated[str, "variances of tasks of few queries: shrunk towards the pooled one, or own"] = "shrunk"
    seeds: Annotated[str, "random: other seeds are part of what is uncertain; conditional: as they were drawn"] = RANDOM
    dependence: Annotated[str, "of tasks that share queries or a corpus: estimated or independent"] = ESTIMATED
    clusters: Annotated[str, "of queries without given clusters: auto, gold-document or query"] = "auto"
    margin: Annotated[float | None, "the difference in the measure that does not matter"] = None
    lower_is_better: Annotated[bool, "of the measure: not worse is not higher by more than the margin"] = False
    reach: Annotated[float | None, "the largest difference that the measure allows, where intervals end"] = None
    own: Annotated[Mapping[str, Any], "keys that the effect type and the interval of tasks declare"] = field(
        default_factory=dict
    )

    @property
    def effect_keys(self) -> Any:
        """The effect type's own keys."""
        return own_keys(effect_named(self.effect), self.own)

    @property
    def interval_keys(self) -> Any:
        """The own keys of the interval of tasks."""
        return own_keys(task_interval_named(self.task_interval), self.own)


DEFAULTS = Method()
