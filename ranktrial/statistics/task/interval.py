"""The interval of one task's effect: the configured one, or else one that can be computed.

Reads and writes nothing. The normal interval (for an effect that is not a difference) and t can always be computed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ranktrial.statistics.effects import compute_rows, effect_named
from ranktrial.statistics.least_squares.satterthwaite import Part
from ranktrial.statistics.method import Method
from ranktrial.statistics.task.effect_sizes import EffectSize
from ranktrial.statistics.task_intervals import (
    Compute,
    Sample,
    TaskInterval,
    method_for,
    normal,
    t,
    task_interval_named,
)


def task_interval(
    treatment: np.ndarray,
    control: np.ndarray,
    effect: EffectSize,
    method: Method,
    units: np.ndarray | None = None,
    df: float | None = None,
    compute: Compute | None = None,
    with_seeds: Part | None = None,
) -> tuple[TaskInterval | None, str | None]:
    """The interval of `effect`, and a warning if it is not the configured one; None, None if undefined.

    `units` are the sampling units of queries (0, 1, ...; by default the queries), `df` those of the effect's variance
    (units minus 1), `compute` returns estimates and variances of other queries (by default the effect type's),
    `with_seeds` is the effect's variance over queries and seeds, if these have a part in it.
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
        keys=method.interval_keys,
        with_seeds=with_seeds,
    )
    kind = method_for(method.task_interval, effect_type)
    interval = _by(kind, sample)
    if not isinstance(interval, str):
        unlike = with_seeds is not None and not task_interval_named(kind).HOLDS_SEEDS
        return interval, f"its {kind} interval takes the seeds as given" if unlike else None
    other = t.NAME if effect_type.HAS_DIFFERENCE else normal.NAME
    found = _by(other, sample)
    assert not isinstance(found, str)  # both can always be computed
    return found, f"no {kind} interval, {interval}; it is the {other} interval instead"


def _by(kind: str, sample: Sample) -> TaskInterval | str:
    """The interval of this kind; if it includes seed variance, with the one that does not."""
    method = task_interval_named(kind)
    found = method.interval(sample)
    if isinstance(found, str) or sample.with_seeds is None or not method.HOLDS_SEEDS:
        return found
    given = method.interval(replace(sample, with_seeds=None))
    assert not isinstance(given, str)  # it is the same computation
    return replace(found, given_seeds=given)


def _of_queries(method: Method) -> Compute:
    """The computation of the effect type, ignoring units."""
    effect_type = effect_named(method.effect)

    def of_queries(x: np.ndarray, y: np.ndarray, _: np.ndarray) -> np.ndarray:
        return compute_rows(effect_type, x, y, method.ddof, method.effect_keys)

    return of_queries
