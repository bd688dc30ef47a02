"""Intervals of the summary effect of a random-effects meta-analysis: one module each.

`interval: knapp-hartung` of a configuration is knapp_hartung.py here. A module defines what `Interval` lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from ranktrial.common.plugins import load, load_all, source
from ranktrial.statistics.least_squares import Fit, gls
from ranktrial.statistics.summaries import Summary


class Interval(Protocol):
    """The definitions in the module of an interval.

    An interval that also supports dependent tasks defines `of_fit(fit: Fit) -> tuple[Part, ...] | None`: the variance
    of a mean and its degrees of freedom, several if the widest interval counts (see meta_analysis/dependent_tasks.py),
    None if undefined. An interval whose weights are not those of generalised least squares defines `fit`, with the
    arguments of `gls`, and handles a level of collections itself.
    """

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    LABEL: str  # in figures and tables

    @staticmethod
    def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
        """The summary, with its 1 - alpha interval, of `y` with sampling `variances`, both of shape (k,), k >= 2."""
        ...


def interval_named(name: str) -> Interval:
    """The module of an interval. Raises ValueError for an unknown name."""
    return cast(Interval, load(__name__, name))


def fit_of(name: str) -> Callable[..., Fit]:
    """The function with which an interval fits a mean, with the arguments and the result of `gls`."""
    return cast(Callable[..., Fit], getattr(interval_named(name), "fit", gls))


def has_own_weights(name: str) -> bool:
    """Whether an interval's weights are not those of generalised least squares."""
    return fit_of(name) is not gls


def all_intervals() -> dict[str, Interval]:
    """All intervals by name."""
    return cast(dict[str, Interval], load_all(__name__))


def interval_source(name: str) -> str:
    """The file of an interval, relative to the repository."""
    return source(__name__, name)
