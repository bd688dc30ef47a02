"""Intervals of one task's effect, each with its p-value: one module each.

`task_interval: bootstrap-t` of a configuration is bootstrap_t.py here. A module states what `Kind` lists. All is on the
scale of the synthesis (for a correlation Fisher's z).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Protocol, cast

import numpy as np

from scripts.common.keys import Rule
from scripts.common.plugins import load, load_all, source
from scripts.statistics.effects import EffectType

Compute = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """The keys of a comparison that bootstrap intervals read."""

    resamples: Annotated[
        int, "number of bootstrap resamples for the interval of a task", Rule(minimum=99, maximum=10_000_000)
    ] = 9999


@dataclass(frozen=True)
class Sample:
    """One task whose effect is defined: treatment `x` and control `y` of shape (n,), paired, with the effect.

    `units` labels what each query belongs to, 0, 1, ... G - 1: draws and flips take whole units (a query each, unless
    queries are clustered). `variance` is that of `estimate`, with `df` degrees of freedom. `compute` gives estimate and
    variance, shape (rows, 2), of other x, y and units, each of shape (rows, m), NaN in a row that has none.
    `permutations` and `resamples` are upper limits.
    """

    x: np.ndarray
    y: np.ndarray
    units: np.ndarray
    estimate: float
    variance: float
    df: float
    compute: Compute
    alpha: float
    seed: int
    permutations: int
    resamples: int


@dataclass(frozen=True)
class TaskInterval:
    """The 1 - alpha interval of a task's effect, and the p-value of effect = 0 with it; `df` of Student's t."""

    kind: str
    ci_low: float
    ci_high: float
    p_value: float
    log10_p: float
    df: float | None = None  # of Student's t, where it is by that


class Kind(Protocol):
    """What the module of an interval of tasks states."""

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    LABEL: str  # in figures and tables
    P_VALUE: str  # template: what its p-value is; {statistic} is the effect's own word for its statistic
    Keys: type  # the record of keys of a comparison that it alone reads, where there are such
    HOLDS_SEEDS: bool  # it follows from the variance, which may hold that of seeds; others take the seeds as given

    @staticmethod
    def fits(effect: EffectType) -> bool:
        """Whether effects of this type can have such an interval."""
        ...

    @staticmethod
    def interval(sample: Sample) -> TaskInterval | str:
        """The interval of one task; or why there is none, as text."""
        ...


def task_interval_named(name: str) -> Kind:
    """The module of an interval of tasks. Raises ValueError for an unknown name."""
    return cast(Kind, load(__name__, name))


def all_task_intervals() -> dict[str, Kind]:
    """All intervals of tasks by name."""
    return cast(dict[str, Kind], load_all(__name__))


def task_interval_source(name: str) -> str:
    """The file of an interval of tasks, relative to the repository."""
    return source(__name__, name)


def kind_for(name: str, effect: EffectType) -> str:
    """The kind that effects of this type get where `name` is asked for: the normal one if they are no difference.

    A correlation has a normal interval on Fisher's z, unless the kind says that it fits.
    """
    fits = effect.HAS_DIFFERENCE or task_interval_named(name).fits(effect)
    return name if fits else "normal"
