"""Estimators of tau2, the variance of the true effects between tasks: one module each.

`estimator: REML` of a configuration is reml.py here. A module defines what `Estimator` lists.
"""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np

from ranktrial.common.plugins import load, load_all, source


class Estimator(Protocol):
    """The definitions in the module of an estimator."""

    NAME: str
    DESCRIPTION: str  # in the configuration's schema
    LABEL: str  # in figures and tables

    @staticmethod
    def tau2(y: np.ndarray, variances: np.ndarray) -> float:
        """tau2 >= 0 from estimates `y` with their sampling `variances`, both of shape (k,), k >= 2."""
        ...


class ResidualEstimator(Protocol):
    """The further definition of an estimator that can be used with moderators."""

    @staticmethod
    def residual_tau2(design: np.ndarray, y: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """The residual tau2 >= 0 of each design (..., k, p), which has a column of ones or spans it."""
        ...


def estimator_named(name: str) -> Estimator:
    """The module of an estimator. Raises ValueError for an unknown name."""
    return cast(Estimator, load(__name__, name))


def takes_moderators(name: str) -> bool:
    """Whether an estimator can be used with moderators."""
    return hasattr(load(__name__, name), "residual_tau2")


def residual_estimator(name: str) -> ResidualEstimator:
    """The module of an estimator that can be used with moderators."""
    return cast(ResidualEstimator, load(__name__, name))


def all_estimators() -> dict[str, Estimator]:
    """All estimators by name."""
    return cast(dict[str, Estimator], load_all(__name__))


def estimator_source(name: str) -> str:
    """The file of an estimator, relative to the repository."""
    return source(__name__, name)
