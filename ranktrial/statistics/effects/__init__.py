"""Effect types: one module each, with its computation, its texts and its properties.

`effect: d_av` of a configuration is d_av.py here. A module defines what `EffectType` lists; nothing else in scripts/
distinguishes effect types. Templates are filled with str.format: {measure}, {control} and {treatment} are labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from ranktrial.common.plugins import load, load_all, source
from ranktrial.statistics.measure_scale import within_reach


class EffectType(Protocol):
    """The definitions in the module of an effect type. Functions get `keys`: its `Keys`, with given values.

    A module that can compute many samples at once also defines `compute_rows(x, y, ddof, keys)`: for x and y of shape
    (rows, n) the estimates and variances, shape (rows, 2), NaN if undefined.
    """

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    Keys: type  # the record of keys of a comparison that only it reads, if any

    HAS_DIFFERENCE: bool  # treatment minus control is meaningful: it has tests, sides, gains and losses
    SHARED_SCALE: bool  # the means of control and treatment are comparable
    TAU_SCALE: float  # default scale of the half-normal prior of tau in a Bayesian summary
    IN_UNITS_OF_MEASURE: bool  # the effect is a difference in the measure, so a margin applies to the summary as well

    LABEL: str  # heading of a column, and axis label
    SHORT_LABEL: str  # the same in a narrow figure
    AXIS: str  # template: the axis label with the measure
    QUESTION: str  # template: the question of a comparison
    ANSWERS: tuple[str, str]  # to that question, if the summary is above zero and if it is below
    FINDING: str  # template: {number} with its sign, {size} without, {relation} is "exceeds" or "is below"
    NOUN: str  # the name of an estimate, as in "the mean difference"
    STATISTIC: str  # the test statistic of a task's interval

    @staticmethod
    def compute(x: np.ndarray, y: np.ndarray, ddof: int, keys: Any) -> tuple[float, float] | str:
        """Estimate and variance from paired scores of treatment `x` and control `y`; or a text why undefined.

        Both have shape (n,), finite, n >= 0. Standard deviations divide by n - `ddof`.
        """
        ...

    @staticmethod
    def caution(x: np.ndarray, y: np.ndarray) -> str | None:
        """A caution about the (defined) effect of these values, as text; None if there is none."""
        ...

    @staticmethod
    def reported(value: float) -> float:
        """A value on the scale of the synthesis, converted to the reported scale."""
        ...

    @staticmethod
    def caption(measure: str, keys: Any) -> str:
        """The meaning of a square in the forest plot."""
        ...


def effect_named(name: str) -> EffectType:
    """The module of an effect type. Raises ValueError for an unknown name."""
    return cast(EffectType, load(__name__, name))


def reported_within(name: str, reach: float | None) -> Callable[[float], float]:
    """The conversion of effects and ends of their intervals from the scale of the synthesis to the reported scale, the
    only one that is used for intervals: it ends at `reach`, the largest difference that the measure allows.

    Standard errors, p-values and verdicts are those of the interval that is not cut.
    """
    effect = effect_named(name)
    if reach is None or not effect.IN_UNITS_OF_MEASURE:
        return effect.reported
    return lambda value: within_reach(effect.reported(value), reach)


def compute_rows(effect: EffectType, x: np.ndarray, y: np.ndarray, ddof: int, keys: Any) -> np.ndarray:
    """Estimate and variance of each row of x and y, shape (rows, 2); NaN if undefined."""
    many = getattr(effect, "compute_rows", None)
    if many is not None:
        with np.errstate(divide="ignore", invalid="ignore"):  # in rows that are undefined
            found: np.ndarray = many(x, y, ddof, keys)
        return found
    found = np.full((len(x), 2), np.nan)
    for row, (one, other) in enumerate(zip(x, y, strict=True)):
        result = effect.compute(one, other, ddof, keys)
        if not isinstance(result, str):
            found[row] = result
    return found


def combined(name: str, value: float) -> float:
    """A reported effect on the scale of the synthesis: the inverse of `reported`, which a module defines as `combined`.

    Raises ValueError if a module reports on another scale and does not define it.
    """
    module = effect_named(name)
    estimate: float = getattr(module, "combined", float)(value)
    if not math.isclose(module.reported(estimate), value, rel_tol=1e-9, abs_tol=1e-12):
        raise ValueError(f"effect {name} is reported on another scale than it is combined on, and states no `combined`")
    return estimate


def all_effects() -> dict[str, EffectType]:
    """All effect types by name."""
    return cast(dict[str, EffectType], load_all(__name__))


def effect_source(name: str) -> str:
    """The file of an effect type, relative to the repository."""
    return source(__name__, name)
