"""Tukey's HSD and Dunnett's test in the two-way model query + system + error, in addition to the permutation test.

Reads and writes nothing. With the residual mean square MSE of a task, on (n - 1)(k - 1) degrees of freedom:

    Tukey     q = |D| / sqrt(MSE / n), the studentised range of k means
    Dunnett   t = |D| / sqrt(2 MSE / n), the largest |t| of k - 1 with correlation 1/2

Over T tasks the variance of a system's mean is V = sum_t MSE_t / n_t / T^2, and its degrees of freedom are those of
Welch and Satterthwaite, V^2 / sum_t (MSE_t / n_t / T^2)^2 / df_t. Both distributions are those of Hsu (1996), Multiple
Comparisons, chapters 3 and 5: a normal probability for known variance, averaged over the distribution of s / sigma.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.quadrature import legendre

_NODES = 128
_FEW = 10  # degrees of freedom
_FAR = 9.0  # standard deviations beyond which the density underflows
_TAIL = 1e-16


def variance_of_mean(tables: Sequence[np.ndarray]) -> tuple[float, float]:
    """V and its degrees of freedom, of tables (queries, systems); both NaN if a task has one query."""
    parts, dfs = [], []
    for table in tables:
        n, systems = table.shape
        if n < 2:
            return math.nan, math.nan
        residual = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
        dfs.append((n - 1) * (systems - 1))
        parts.append((residual**2).sum() / dfs[-1] / n / len(tables) ** 2)
    total, squares = sum(parts), sum(part**2 / df for part, df in zip(parts, dfs, strict=True))
    return total, total**2 / squares if squares else math.nan


def tukey_p(difference: np.ndarray, variance: float, df: float, systems: int) -> np.ndarray:
    """P(studentised range of `systems` means >= q), for the differences of two means each of this variance."""

    def below(q: np.ndarray) -> np.ndarray:
        z, weights = _normal_nodes()
        inside = scipy.special.ndtr(z) - scipy.special.ndtr(z - q[..., np.newaxis])
        return np.asarray(systems * (inside ** (systems - 1) @ weights))

    return _upper(np.abs(difference) / math.sqrt(variance), df, below)


def dunnett_p(difference: np.ndarray, variance: float, df: float, systems: int) -> np.ndarray:
    """P(largest |t| of `systems` - 1 differences from one control >= t), two-sided."""

    def below(t: np.ndarray) -> np.ndarray:
        z, weights = _normal_nodes()
        reach = math.sqrt(2) * t[..., np.newaxis]
        inside = scipy.special.ndtr(z + reach) - scipy.special.ndtr(z - reach)
        return np.asarray(inside ** (systems - 1) @ weights)

    return _upper(np.abs(difference) / math.sqrt(2 * variance), df, below)


def _upper(statistic: np.ndarray, df: float, below: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The mean of 1 - below(statistic s) over s, the root of a chi-square over its degrees of freedom."""
    low, high = (math.log(chi2 / df) / 2 for chi2 in (2 * scipy.special.gammaincinv(df / 2, _TAIL), _chi2_above(df)))
    u, weights = _legendre(low, high, _NODES if df > _FEW else 4 * _NODES)  # few degrees of freedom: a long lower tail
    log_density = math.log(2) + df / 2 * (math.log(df / 2) + 2 * u - np.exp(2 * u)) - scipy.special.gammaln(df / 2)
    probability = [float(weights @ (np.exp(log_density) * (1 - below(one * np.exp(u))))) for one in statistic]
    return np.asarray(np.clip(probability, 0.0, 1.0))


def _chi2_above(df: float) -> float:
    return float(2 * scipy.special.gammainccinv(df / 2, _TAIL))


def _normal_nodes() -> tuple[np.ndarray, np.ndarray]:
    """Nodes, and weights that include the normal density."""
    z, weights = _legendre(-_FAR, _FAR)
    return z, weights * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


def _legendre(low: float, high: float, nodes: int = _NODES) -> tuple[np.ndarray, np.ndarray]:
    places, weights = legendre(nodes)
    return (high + low) / 2 + (high - low) / 2 * places, (high - low) / 2 * weights
