"""The interval of one task's effect, of the kind that was asked for or else of a kind that exists.

Reads and writes nothing. What can be computed always is normal (of an effect that is no difference) and t.
"""

from __future__ import annotations

import numpy as np

from scripts.statistics.effects import compute_rows, effect_named
from scripts.statistics.method import Method
from scripts.statistics.task.effect_sizes import EffectSize
from scripts.statistics.task_intervals import Compute, Sample, TaskInterval, kind_for, normal, t, task_interval_named


def task_interval(
    treatment: np.ndarray,
    control: np.ndarray,
    effect: EffectSize,
    method: Method,
    units: np.ndarray | None = None,
    df: float | None = None,
    compute: Compute | None = None,
) -> tuple[TaskInterval | None, str | None]:
    """The interval of `effect`, and a warning where it is of another kind than asked for; None, None if undefined.

    `units` are what queries belong to (0, 1, ...; each its own by default), `df` those of the effect's variance (units
    minus 1), `compute` its estimates and variances from other queries (by default what the effect type computes).
    """
    if effect.estimate is None or effect.variance is None:
        return None, None
    effect_type = effect_named(method.effect)
    own = np.arange(len(treatment)) if units is None else units
    sample = Sample(
        x=treatment,
        y=control,
        units=own,
        estimate=effect.estimate,
        variance=effect.variance,
        df=float(own.max()) if df is None else df,
        compute=compute or _of_queries(method),
        alpha=method.alpha,
        seed=method.seed,
        permutations=method.permutations,
        resamples=method.resamples,
    )
    kind = kind_for(method.task_interval, effect_type)
    interval = normal.interval(sample) if kind == "normal" else task_interval_named(kind).interval(sample)
    if not isinstance(interval, str):
        return interval, None
    other = t if effect_type.HAS_DIFFERENCE else normal
    return other.interval(sample), f"no {kind} interval, {interval}; it is the {other.NAME} interval instead"


def _of_queries(method: Method) -> Compute:
    """What the effect type computes, whatever the units of queries."""
    effect_type = effect_named(method.effect)

    def of_queries(x: np.ndarray, y: np.ndarray, _: np.ndarray) -> np.ndarray:
        return compute_rows(effect_type, x, y, method.ddof, method.hedges)

    return of_queries
