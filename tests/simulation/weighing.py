"""Intervals of a mean over collections by ways to weigh tasks, for many experiments at once; reads and writes nothing.

Arrays have the shape (experiments, tasks), or (experiments, nodes, tasks) over quantiles of tau. An interval is the
distribution function of where the mean is: a value is in the 95% interval if it lies between .025 and .975.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from ranktrial.statistics.effects.md import TAU_SCALE
from ranktrial.statistics.summaries import legendre
from ranktrial.statistics.synthesise import FEW

NODES, HALVINGS = 20, 45
Z = float(special.ndtri(0.975))


class Tasks(NamedTuple):
    """Effects and sampling variances, both of shape (experiments, tasks), and the numbers of queries, (tasks,)."""

    y: np.ndarray
    v: np.ndarray
    n: np.ndarray


class Interval(NamedTuple):
    """`below` is the share of each experiment's distribution below a value; `centre` and `reach` bound its ends."""

    below: Callable[[np.ndarray], np.ndarray]
    centre: np.ndarray
    reach: np.ndarray


class Known(NamedTuple):
    """What candidates share: tasks, REML's tau2, and tau2 over its confidence distribution with shares (see
    statistics/meta_analysis/prediction.py), of shape (experiments, nodes); Q at 0."""

    y: np.ndarray
    v: np.ndarray
    n: np.ndarray
    tau2: np.ndarray
    nodes: np.ndarray
    shares: np.ndarray
    q: np.ndarray


def shrunk_rows(variances: np.ndarray, n: np.ndarray) -> np.ndarray:
    """small_tasks.shrunk of each row, for tasks without clusters."""
    degrees, of_query = n - 1.0, n * variances
    half = degrees / 2
    e = np.log(of_query) - special.digamma(half) + np.log(half)
    between = e.var(axis=1, ddof=1) - special.polygamma(1, half).mean()
    truly = between > 0
    value = np.where(truly, between, 1.0)
    x = 0.5 + 1 / value
    for _ in range(30):
        trigamma = special.polygamma(1, x)
        x += trigamma * (1 - trigamma / value) / special.polygamma(2, x)
    prior = 2 * x[:, None]
    pooled = (degrees * of_query).sum(axis=1, keepdims=True) / degrees.sum()
    expected = np.where(truly[:, None], (degrees * of_query + prior * pooled) / (degrees + prior), pooled)
    found: np.ndarray = np.where(n < FEW, expected / n, variances)
    return found


def generalised_q(y: np.ndarray, v: np.ndarray, tau2: np.ndarray) -> np.ndarray:
    """sum W (Y - M)^2 at each node, (experiments, nodes)."""
    w = 1 / (v[:, None, :] + tau2[..., None])
    mean = (w * y[:, None, :]).sum(axis=-1) / w.sum(axis=-1)
    q: np.ndarray = (w * (y[:, None, :] - mean[..., None]) ** 2).sum(axis=-1)
    return q


def reml_rows(y: np.ndarray, v: np.ndarray) -> np.ndarray:
    """REML's tau2 of each row, by Fisher's scoring."""
    tau2: np.ndarray = np.maximum(y.var(axis=1, ddof=1) - v.mean(axis=1), 0.01 * v.min(axis=1))
    for _ in range(80):
        w = 1 / (v + tau2[:, None])
        one, two, three = (np.sum(w**power, axis=1) for power in (1, 2, 3))
        mean = (w * y).sum(axis=1) / one
        slope = (w**2 * (y - mean[:, None]) ** 2).sum(axis=1) - (one - two / one)
        tau2 = np.maximum(0.0, tau2 + slope / (two - 2 * three / one + (two / one) ** 2))
    return tau2


def of_tasks(tasks: Tasks) -> Known:
    """What candidates share."""
    y, v, n = tasks
    df = y.shape[1] - 1
    zero = np.zeros((len(y), 1))
    q = generalised_q(y, v, zero)
    above_0 = special.chdtr(df, q)
    x, weights = legendre(NODES)
    x, weights = (x + 1) / 2, weights / 2
    levels, shares = above_0 * x**2 * (3 - 2 * x), above_0 * weights * 6 * x * (1 - x)
    targets = 2 * special.gammaincinv(df / 2, levels)
    low = np.zeros_like(targets)
    high = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum(axis=1, keepdims=True) / targets
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = generalised_q(y, v, middle) > targets
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    nodes = np.concatenate([(low + high) / 2, zero], axis=1)
    return Known(y, v, n, reml_rows(y, v), nodes, np.concatenate([shares, 1 - above_0], axis=1), q[:, 0])


def _t(mean: np.ndarray, half: np.ndarray, df: float) -> Interval:
    """A t interval whose 95% half width is given."""
    scale = half / -special.stdtrit(df, 0.025)
    return Interval(lambda value: special.stdtr(df, (value - mean) / scale), mean, 1.5 * half)


def _mixture(shares: np.ndarray, means: np.ndarray, sds: np.ndarray, df: float | None = None) -> Interval:
    """A mixture of normal or t distributions over nodes."""

    def below(value: np.ndarray) -> np.ndarray:
        z = (value[:, None] - means) / sds
        part: np.ndarray = (shares * (special.ndtr(z) if df is None else special.stdtr(df, z))).sum(axis=1)
        return part

    centre: np.ndarray = (shares * means).sum(axis=1)
    critical = Z if df is None else -float(special.stdtrit(df, 0.025))
    return Interval(below, centre, (np.abs(means - centre[:, None]) + critical * sds).max(axis=1))


def ends(interval: Interval) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the 95% interval of each experiment."""
    found = []
    for level, low, high in (
        (0.025, interval.centre - interval.reach, interval.centre),
        (0.975, interval.centre, interval.centre + interval.reach),
    ):
        for _ in range(40):
            middle = (low + high) / 2
            above = interval.below(middle) > level
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        found.append((low + high) / 2)
    return found[0], found[1]


def with_weights(known: Known, weights: np.ndarray) -> Interval:
    """The mean with fixed weights (experiments, tasks), sum 1, and the mixture of its variances over tau."""
    mean = (weights * known.y).sum(axis=1)
    variances = (weights**2 * known.v).sum(axis=1)[:, None] + known.nodes * (weights**2).sum(axis=1)[:, None]
    return _mixture(known.shares, np.broadcast_to(mean[:, None], known.nodes.shape), np.sqrt(variances))


def precision(known: Known, tau2: np.ndarray) -> np.ndarray:
    """1 / (V + tau2) with sum 1 at each node, (experiments, nodes, tasks)."""
    w = 1 / (known.v[:, None, :] + tau2[..., None])
    normalised: np.ndarray = w / w.sum(axis=-1, keepdims=True)
    return normalised


def averaged_weights(known: Known) -> np.ndarray:
    """Their mean over the confidence distribution of tau."""
    averaged: np.ndarray = (known.shares[..., None] * precision(known, known.nodes)).sum(axis=1)
    return averaged


def weights_by_queries(known: Known) -> np.ndarray:
    """The same with the pooled variance of a query divided by each task's number of queries in place of V."""
    of_query = known.n * known.v
    pooled = ((known.n - 1) * of_query).sum(axis=1, keepdims=True) / (known.n - 1).sum()
    return averaged_weights(known._replace(v=pooled / known.n))


def equal(known: Known) -> Interval:
    """intervals/equal_weights.py."""
    k = known.y.shape[1]
    critical, mean = -special.stdtrit(k - 1, 0.025), known.y.mean(axis=1)
    half = critical * np.sqrt(known.y.var(axis=1, ddof=1) / k)
    low_q = known.q < 2 * special.gammaincinv((k - 1) / 2, 0.025)
    half = np.where(low_q, np.maximum(half, Z * np.sqrt(known.v.sum(axis=1)) / k), half)
    return _t(mean, half, k - 1)


def knapp_hartung(known: Known) -> Interval:
    """intervals/knapp_hartung.py."""
    df = known.y.shape[1] - 1
    w = 1 / (known.v + known.tau2[:, None])
    mean = (w * known.y).sum(axis=1) / w.sum(axis=1)
    scale = np.sqrt((w * (known.y - mean[:, None]) ** 2).sum(axis=1) / df)
    return _t(mean, np.maximum(-special.stdtrit(df, 0.025) * scale, Z) / np.sqrt(w.sum(axis=1)), df)


def _conditional(known: Known, tau2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, 1 / sum W and W at each node."""
    w = 1 / (known.v[:, None, :] + tau2[..., None])
    return (w * known.y[:, None, :]).sum(axis=-1) / w.sum(axis=-1), 1 / w.sum(axis=-1), w


def moving(known: Known) -> Interval:
    """The mixture of N(M_p, 1 / sum W_p)."""
    means, variances, _ = _conditional(known, known.nodes)
    return _mixture(known.shares, means, np.sqrt(variances))


def moving_knapp_hartung(known: Known) -> Interval:
    """The mixture of M_p + t(k - 1) times Knapp and Hartung's standard error at tau_p."""
    df = known.y.shape[1] - 1
    means, variances, w = _conditional(known, known.nodes)
    q = (w * (known.y[:, None, :] - means[..., None]) ** 2).sum(axis=-1) / df
    return _mixture(known.shares, means, np.sqrt(q * variances), df)


def half(known: Known) -> Interval:
    """Half equal, half averaged weights."""
    return with_weights(known, (averaged_weights(known) + 1 / known.y.shape[1]) / 2)


def root(known: Known) -> Interval:
    """Weights 1 / sqrt(V)."""
    weights = 1 / np.sqrt(known.v)
    return with_weights(known, weights / weights.sum(axis=1, keepdims=True))


def bayesian(known: Known) -> Interval:
    """meta_analysis/bayes.py with the default prior, on 60 nodes of tau that are denser near 0."""
    u, weights = legendre(60)
    u, weights = (u + 1) / 2, weights / 2
    tau = 0.6 * u**2
    tau2 = np.broadcast_to(tau**2, (len(known.y), len(tau)))
    means, variances, w = _conditional(known, tau2)
    q = (w * (known.y[:, None, :] - means[..., None]) ** 2).sum(axis=-1)
    density = 0.5 * (np.log(variances) + np.log(w).sum(axis=-1) - q - (tau / TAU_SCALE) ** 2) + np.log(weights * u)
    share = np.exp(density - density.max(axis=1, keepdims=True))
    return _mixture(share / share.sum(axis=1, keepdims=True), means, np.sqrt(variances))


CANDIDATES: dict[str, Callable[[Known], Interval]] = {
    "equal": equal,
    "equal, confidence distribution": lambda known: with_weights(known, np.full_like(known.y, 1 / known.y.shape[1])),
    "Knapp-Hartung": knapp_hartung,
    "averaged": lambda known: with_weights(known, averaged_weights(known)),
    "averaged, moving centre": moving,
    "averaged, Knapp-Hartung": moving_knapp_hartung,
    "by queries": lambda known: with_weights(known, weights_by_queries(known)),
    "half by queries": lambda known: with_weights(known, (weights_by_queries(known) + 1 / known.y.shape[1]) / 2),
    "half": half,
    "root": root,
    "Bayesian": bayesian,
}
