"""A Bayesian random-effects summary: half-normal prior of tau, uniform prior of mu; reads and writes nothing.

Friede, Röver, Wandel and Neuenschwander (2017), Meta-analysis of few small studies in orphan diseases, Research
Synthesis Methods 8(1), 79-91; Röver (2020), Bayesian random-effects meta-analysis using the bayesmeta R package,
Journal of Statistical Software 93(6). With the effects y ~ N(mu 1, V + tau^2 I),

    p(tau | y) proportional to p(tau) |V + tau^2 I|^-1/2 sqrt(V_mu) exp(-Q / 2),    mu | tau, y ~ N(M, V_mu),

M, V_mu = 1 / sum W and Q at this tau. A new task's effect given tau is N(M, V_mu + tau^2). Posteriors are mixtures over
tau, which is integrated out by Gauss-Legendre quadrature on panels that widen with tau: no simulation, no seed. V may
have covariances: in the basis of its eigenvectors it is diagonal, also with tau^2 I added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from ranktrial.statistics.summaries import legendre

_NODES, _WEIGHTS = legendre(20)
_PANELS = 60
_NEGLIGIBLE = 46.0  # a log density this far below its maximum contributes less than 1e-19


@dataclass(frozen=True)
class BayesianSummary:
    """Posterior mean and sd of mu, quantile intervals of mu, of tau and of a new task's effect, and P(mu > 0)."""

    effect: float
    sd: float
    ci_low: float
    ci_high: float
    p_above_0: float
    tau_median: float
    tau_ci: tuple[float, float]
    prediction_interval: tuple[float, float]
    tau_scale: float


@dataclass(frozen=True)
class _Conditional:
    """The effects in the basis of the eigenvectors of V, with eigenvalues `variances` and the vector 1 as `ones`."""

    y: np.ndarray
    ones: np.ndarray
    variances: np.ndarray
    tau_scale: float

    def of(self, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, V_mu and the log posterior density of each tau, up to a constant."""
        total = self.variances + tau[:, np.newaxis] ** 2
        variance = 1 / (self.ones**2 / total).sum(axis=1)
        mean = variance * (self.ones * self.y / total).sum(axis=1)
        q = ((self.y - mean[:, np.newaxis] * self.ones) ** 2 / total).sum(axis=1)
        density = 0.5 * (np.log(variance) - np.log(total).sum(axis=1) - q - (tau / self.tau_scale) ** 2)
        return mean, variance, density


def bayesian_summary(y: np.ndarray, covariance: np.ndarray, tau_scale: float, alpha: float = 0.05) -> BayesianSummary:
    """The posterior of `y`, shape (k,), with sampling `covariance`, shape (k, k), under tau ~ |N(0, tau_scale^2)|."""
    variances, vectors = np.linalg.eigh(covariance)
    origin = float(np.mean(y))  # keeps precision if effects are large compared with their differences
    model = _Conditional(vectors.T @ (y - origin), vectors.T @ np.ones(len(y)), variances, tau_scale)
    edges, highest = _panels(model)
    tau, weights = _quadrature(edges[:-1], edges[1:])
    mean, variance, density = model.of(tau.ravel())
    mass = weights.ravel() * np.exp(density - highest)
    total = float(mass.sum())
    share = mass / total
    effect = float((share * mean).sum())
    sd = float(np.sqrt((share * (variance + (mean - effect) ** 2)).sum()))
    levels = (alpha / 2, 1 - alpha / 2)
    low, high = (_mixture_quantile(level, share, mean, np.sqrt(variance)) for level in levels)
    new_low, new_high = (
        _mixture_quantile(level, share, mean, np.sqrt(variance + tau.ravel() ** 2)) for level in levels
    )
    by_panel = mass.reshape(tau.shape).sum(axis=1) / total

    def tau_quantile(level: float) -> float:
        return _tau_quantile(level, model, edges, by_panel, highest, total)

    return BayesianSummary(
        effect=origin + effect,
        sd=sd,
        ci_low=origin + low,
        ci_high=origin + high,
        p_above_0=float((share * scipy.special.ndtr((mean + origin) / np.sqrt(variance))).sum()),
        tau_median=tau_quantile(0.5),
        tau_ci=(tau_quantile(levels[0]), tau_quantile(levels[1])),
        prediction_interval=(origin + new_low, origin + new_high),
        tau_scale=tau_scale,
    )


def _tau_quantile(
    level: float, model: _Conditional, edges: np.ndarray, by_panel: np.ndarray, highest: float, total: float
) -> float:
    """The quantile of tau, in the panel in which the cumulated shares reach the level."""
    below = np.concatenate([[0.0], np.cumsum(by_panel)])
    panel = min(int(np.searchsorted(below, level)) - 1, len(by_panel) - 1)

    def missing(end: float) -> float:
        nodes, weights = _quadrature(edges[panel : panel + 1], np.array([end]))
        part = (weights.ravel() * np.exp(model.of(nodes.ravel())[2] - highest)).sum() / total
        return float(below[panel] + part - level)

    start, stop = float(edges[panel]), float(edges[panel + 1])
    return start if missing(start) >= 0 else _root(missing, start, stop)


def _panels(model: _Conditional) -> tuple[np.ndarray, float]:
    """The edges of the panels, from 0 to where the density of tau is negligible, and the maximum log density."""
    scale = min(model.tau_scale, float(np.sqrt(model.variances.min())))
    grid = np.concatenate([[0.0], np.geomspace(scale * 1e-3, model.tau_scale * 60, 2000)])
    density = model.of(grid)[2]
    highest = float(density.max())
    end = grid[min(int(np.flatnonzero(density > highest - _NEGLIGIBLE)[-1]) + 1, len(grid) - 1)]
    return np.concatenate([[0.0], np.geomspace(min(scale * 1e-2, end / 2), end, _PANELS)]), highest


def _quadrature(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of each panel, shape (panels, nodes)."""
    half = (ends - starts)[:, np.newaxis] / 2
    return starts[:, np.newaxis] + half * (1 + _NODES), half * _WEIGHTS


def _mixture_quantile(level: float, share: np.ndarray, means: np.ndarray, sds: np.ndarray) -> float:
    """The quantile of a mixture of normal distributions, between the smallest and largest of its parts."""
    of_parts = means + sds * scipy.special.ndtri(level)
    return _root(lambda value: float((share * scipy.special.ndtr((value - means) / sds)).sum() - level),
                 float(of_parts.min()), float(of_parts.max()))  # fmt: skip


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function; an end of the interval if rounding leaves no change of sign."""
    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    return float(scipy.optimize.brentq(function, low, high, xtol=1e-14 * max(abs(low), abs(high)), rtol=1e-13))
