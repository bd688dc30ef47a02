"""Intervals of one task's effect, each with its p-value: one module each.

`task_interval: bootstrap-t` of a configuration is bootstrap_t.py here. A module defines what `IntervalMethod` lists.
Everything is on the scale of the synthesis (for a correlation Fisher's z).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, cast

import numpy as np

from ranktrial.common.keys import Rule
from ranktrial.common.plugins import load, load_all, source
from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.summaries import Part, Summary

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

    `units` are the labels 0, 1, ... G - 1 of each query's unit: resampling and flips use whole units (single queries,
    unless queries are clustered). `variance` is that of `estimate` over queries, with `df` degrees of freedom;
    `with_seeds` is that over queries and seeds, if these have a part in it. `compute` returns
    estimate and variance, shape (rows, 2), for other x, y and units, each of shape (rows, m), NaN if undefined.
    `permutations` is an upper limit.
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
    keys: Any  # of the interval: its `Keys`, with a comparison's values
    with_seeds: Part | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The variances of which the widest interval counts: seeds never make one narrower."""
        of_queries = Part(self.variance, self.df)
        return (of_queries,) if self.with_seeds is None else (self.with_seeds, of_queries)


@dataclass(frozen=True)
class TaskInterval:
    """The 1 - alpha interval of a task's effect, and the p-value of effect = 0 with it; `df` of Student's t.

    `summary` has the variances behind an interval that is computed from them. `given_seeds` is the interval without the
    seed variance that this one includes.
    """

    kind: str
    ci_low: float
    ci_high: float
    p_value: float
    log10_p: float
    df: float | None = None  # of Student's t, if the interval uses it
    summary: Summary | None = None
    given_seeds: TaskInterval | None = None


class IntervalMethod(Protocol):
    """The definitions in the module of a task interval."""

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    LABEL: str  # in figures and tables
    P_VALUE: str  # template: description of its p-value; {statistic} is the effect type's name of its statistic
    Keys: type  # the record of keys of a comparison that only it reads, if any
    HOLDS_SEEDS: bool  # it uses the variance, which may include seed variance; others take the seeds as given

    @staticmethod
    def fits(effect: EffectType) -> bool:
        """Whether effects of this type can have such an interval."""
        ...

    @staticmethod
    def interval(sample: Sample) -> TaskInterval | str:
        """The interval of one task; or a text why there is none."""
        ...


def from_summary(kind: str, found: Summary) -> TaskInterval:
    """The interval that a summary of one effect is."""
    assert found.p_value is not None and found.log10_p is not None  # a defined effect has a variance
    return TaskInterval(kind, found.ci_low, found.ci_high, found.p_value, found.log10_p, found.df, found)


def task_interval_named(name: str) -> IntervalMethod:
    """The module of an interval of tasks. Raises ValueError for an unknown name."""
    return cast(IntervalMethod, load(__name__, name))


def all_task_intervals() -> dict[str, IntervalMethod]:
    """All intervals of tasks by name."""
    return cast(dict[str, IntervalMethod], load_all(__name__))


def task_interval_source(name: str) -> str:
    """The file of an interval of tasks, relative to the repository."""
    return source(__name__, name)


def method_for(name: str, effect: EffectType) -> str:
    """The interval for effects of this type if `name` is configured: the normal one if they are not differences.

    A correlation has a normal interval on Fisher's z, unless the module's `fits` accepts it.
    """
    fits = effect.HAS_DIFFERENCE or task_interval_named(name).fits(effect)
    return name if fits else "normal"
