"""Effect types: one module each, which holds all that is known of it: numbers, words, and what it can be asked.

`effect: d_av` of a configuration is d_av.py here. A module states what `EffectType` lists; nothing else in scripts/
distinguishes effect types. Templates are filled with str.format: {measure}, {control} and {treatment} are labels.
"""

from __future__ import annotations

import math
from typing import Protocol, cast

import numpy as np

from scripts.common.plugins import load, load_all, source


class EffectType(Protocol):
    """What the module of an effect type states.

    One that can compute many samples at once states `compute_rows(x, y, ddof, hedges)` besides: of x and y of shape
    (rows, n) the estimates and variances, shape (rows, 2), NaN where `compute` would say why there is none.
    """

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    Keys: type  # the record of keys of a comparison that it alone reads, where there are such

    HAS_DIFFERENCE: bool  # treatment minus control means something: there are tests of it, sides, gains and losses
    SHARED_SCALE: bool  # the means of control and treatment can stand side by side
    TAU_SCALE: float  # of the half-normal prior of tau in a Bayesian summary, unless the configuration gives one
    IN_UNITS_OF_MEASURE: bool  # the effect is a difference in the measure, so a margin applies to the summary as well

    LABEL: str  # heading of a column, and name of an axis
    SHORT_LABEL: str  # the same in a narrow figure
    AXIS: str  # template: what the axis shows
    QUESTION: str  # template: what a comparison asks
    ANSWERS: tuple[str, str]  # to that question, where the summary is above zero and where it is below
    FINDING: str  # template: {number} with its sign, {size} without, {relation} is "exceeds" or "is below"
    NOUN: str  # what an estimate is, as in "the mean difference"
    STATISTIC: str  # what a task's interval holds against a distribution

    @staticmethod
    def compute(x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool) -> tuple[float, float] | str:
        """Estimate and variance from treatment `x` and control `y`, paired; or why there is none, as text.

        Both have shape (n,), finite, n >= 0. Standard deviations divide by n - `ddof`; `hedges`: correct for small
        samples, where the effect has such a correction.
        """
        ...

    @staticmethod
    def caution(x: np.ndarray, y: np.ndarray) -> str | None:
        """What to beware of in the effect of these values, which is defined, as text; None for nothing."""
        ...

    @staticmethod
    def reported(value: float) -> float:
        """A value on the scale of the synthesis, as it is reported."""
        ...

    @staticmethod
    def caption(measure: str, hedges: bool) -> str:
        """What a square of the forest plot is."""
        ...


def effect_named(name: str) -> EffectType:
    """The module of an effect type. Raises ValueError for an unknown name."""
    return cast(EffectType, load(__name__, name))


def compute_rows(effect: EffectType, x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool) -> np.ndarray:
    """Estimate and variance of each row of x and y, shape (rows, 2); NaN where there is no effect."""
    many = getattr(effect, "compute_rows", None)
    if many is not None:
        with np.errstate(divide="ignore", invalid="ignore"):  # in rows that are undefined
            found: np.ndarray = many(x, y, ddof, hedges)
        return found
    found = np.full((len(x), 2), np.nan)
    for row, (one, other) in enumerate(zip(x, y, strict=True)):
        result = effect.compute(one, other, ddof, hedges)
        if not isinstance(result, str):
            found[row] = result
    return found


def combined(name: str, value: float) -> float:
    """A reported effect on the scale of the synthesis: the inverse of `reported`, which a module states as `combined`.

    Raises ValueError where a module reports on another scale and states none.
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
