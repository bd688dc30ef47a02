"""The effect of treatment over control on one task, of any type (statistics/effects/).

Reads and writes nothing: takes two arrays with one value per query, paired by the caller, and returns an EffectSize.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranktrial.common.plugins import own_keys
from ranktrial.statistics.effects import effect_named


@dataclass(frozen=True)
class EffectSize:
    """One task's effect.

    `estimate` and `variance` are on the scale of the synthesis (for a correlation Fisher's z); `effect` is the same
    estimate on the reported scale (r). If the effect is undefined, all three are None and `undefined` states why.
    """

    effect_type: str
    n: int
    control_mean: float | None
    treatment_mean: float | None
    estimate: float | None = None
    variance: float | None = None
    undefined: str | None = None

    @property
    def effect(self) -> float | None:
        """The estimate as reported: itself, or for a correlation r = tanh(z)."""
        return None if self.estimate is None else effect_named(self.effect_type).reported(self.estimate)

    @property
    def se(self) -> float | None:
        """The standard error, sqrt(variance)."""
        return None if self.variance is None else math.sqrt(self.variance)


def effect_size(
    treatment: np.ndarray, control: np.ndarray, effect_type: str, ddof: int = 1, keys: Any = None
) -> EffectSize:
    """The effect of one task from `treatment` and `control`, each of shape (n,), paired position by position.

    effect_type: a name in statistics/effects/. ddof: standard deviations divide by n - ddof; 1 is the unbiased
    estimate, 0 is Ranger's. keys: the effect type's own, by default with their defaults. An undefined effect is
    returned with its reason; raises ValueError for invalid input (different shapes, a value that is not finite, an
    unknown type).
    """
    x, y = np.asarray(treatment, dtype=float), np.asarray(control, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"treatment and control must be vectors of one length, not {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("treatment and control must be finite")
    n = len(x)
    means: tuple[float | None, float | None] = (float(y.mean()), float(x.mean())) if n else (None, None)
    result = effect_named(effect_type).compute(
        x, y, ddof, own_keys(effect_named(effect_type), {}) if keys is None else keys
    )
    if isinstance(result, str):
        return EffectSize(effect_type, n, *means, undefined=result)
    return EffectSize(effect_type, n, *means, float(result[0]), float(result[1]))
