"""The mean of dependent effects, and their regression on a design, by generalised least squares for a covariance
matrix that is taken as known.

With Omega = V + T the covariance of the effects Y (sampling V, between tasks T), W = Omega^-1 and 1 a vector of ones,

    M = 1'WY / 1'W1,    var(M) = 1 / 1'W1,    QE = (Y - M)'W(Y - M),

as metafor's rma.mv for a model with an intercept alone (Viechtbauer 2010; Konstantopoulos 2011), and with a design X

    b = AY,    A = (X'WX)^-1 X'W,    Cov(b) = (X'WX)^-1,    QE = (Y - Xb)'W(Y - Xb),

as rma.mv(mods = ). With a diagonal Omega these are the formulas of independent tasks. Reads and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # scipy.linalg is loaded when it is first used: planning imports this module and computes nothing

from ranktrial.statistics.meta_analysis.heterogeneity import without_rounding


@dataclass(frozen=True)
class Fit:
    """A mean of dependent effects.

    `weights` (shape k, sum 1) are those with which the effects enter the mean; where tasks are strongly correlated and
    differ in precision one may be negative. `omega` is the covariance of the effects, `sampling` the part of it within
    tasks. `variance` is w'Omega w, which is 1 / 1'W1 with the weights of least squares; `residuals` are Y - M, `q` is
    (Y - M)'W(Y - M). `collections` numbers the groups within which tasks may be dependent; tasks of different groups
    are independent. `sampling_df` are the degrees of freedom of the covariance of tasks within `sampling`.
    """

    y: np.ndarray
    omega: np.ndarray
    sampling: np.ndarray
    weights: np.ndarray
    mean: float
    variance: float
    residuals: np.ndarray
    q: float
    collections: tuple[int, ...]
    sampling_df: float = math.inf

    @property
    def n_collections(self) -> int:
        """The number of collections."""
        return len(set(self.collections))


def gls(
    y: np.ndarray, omega: np.ndarray, collections: Sequence[int] | None = None, sampling: np.ndarray | None = None
) -> Fit:
    """The mean of `y`, shape (k,), with the positive definite covariance `omega`, shape (k, k).

    `sampling` defaults to `omega`. Raises ValueError for a matrix that is not positive definite.
    """
    factor = _factor(omega)
    column = scipy.linalg.cho_solve(factor, np.ones(len(y)))  # W1
    information = float(column.sum())
    return _fit(y, omega, sampling, column / information, 1 / information, factor, collections)


def equally_weighted(
    y: np.ndarray, omega: np.ndarray, collections: Sequence[int] | None = None, sampling: np.ndarray | None = None
) -> Fit:
    """The same for the unweighted mean."""
    weights = np.full(len(y), 1 / len(y))
    return _fit(y, omega, sampling, weights, float(weights @ omega @ weights), _factor(omega), collections)


def _factor(omega: np.ndarray) -> tuple[np.ndarray, bool]:
    try:
        factor: tuple[np.ndarray, bool] = scipy.linalg.cho_factor(omega, lower=True)
    except scipy.linalg.LinAlgError:
        raise ValueError("the covariance matrix of the effects is not positive definite") from None
    return factor


def _fit(
    y: np.ndarray,
    omega: np.ndarray,
    sampling: np.ndarray | None,
    weights: np.ndarray,
    variance: float,
    factor: tuple[np.ndarray, bool],
    collections: Sequence[int] | None,
) -> Fit:
    origin = y[np.argmax(weights)]  # sums are taken about it, to avoid cancellation of a large common value
    mean = float(origin + weights @ (y - origin))
    residuals = without_rounding(y - mean, y, np.diag(omega))
    q = float(residuals @ scipy.linalg.cho_solve(factor, residuals))
    groups = tuple(range(len(y))) if collections is None else tuple(collections)
    return Fit(y, omega, omega if sampling is None else sampling, weights, mean, variance, residuals, q, groups)


@dataclass(frozen=True)
class Regression:
    """Coefficients (p,) of dependent effects: `linear` (p, k) times the effects; `covariance` (p, p) and `q` (QE)."""

    coefficients: np.ndarray
    linear: np.ndarray
    covariance: np.ndarray
    q: float


def gls_regression(y: np.ndarray, design: np.ndarray, omega: np.ndarray) -> Regression:
    """The regression of `y`, shape (k,), on a design (k, p) of full rank, with the covariance `omega`."""
    factor = scipy.linalg.cho_factor(omega, lower=True)
    weighted = scipy.linalg.cho_solve(factor, design)  # WX
    covariance = np.linalg.inv(design.T @ weighted)
    linear = covariance @ weighted.T
    coefficients = linear @ y
    residuals = y - design @ coefficients
    return Regression(coefficients, linear, covariance, float(residuals @ scipy.linalg.cho_solve(factor, residuals)))


def projection(omega: np.ndarray, design: np.ndarray | None = None) -> np.ndarray:
    """P = W - WX (X'WX)^-1 X'W, which projects out the design (ones by default): PX = 0 and Y'PY = QE."""
    w = scipy.linalg.cho_solve(scipy.linalg.cho_factor(omega, lower=True), np.eye(len(omega)))
    column = w @ (np.ones((len(omega), 1)) if design is None else design)
    inner = column.sum(axis=0, keepdims=True) if design is None else design.T @ column
    p: np.ndarray = w - column @ np.linalg.solve(inner, column.T)
    return p
