"""Between-task variance of dependent effects by restricted maximum likelihood, in one or in two levels.

The effects Y have the covariance Omega = V + sum_c s_c Z_c with known V: one component for tasks (Z = I) and, if tasks
are nested in collections, one for collections (Z = 1 for two tasks of one collection, else 0): the three-level model of
Konstantopoulos (2011, Research Synthesis Methods 2(1), 61-76; Cheung 2014). The components maximise

    -1/2 (log|Omega| + log 1'W1 + Y'PY),    P = W - W11'W / 1'W1,    W = Omega^-1,

whose derivative by s_c is 1/2 (Y'P Z_c P Y - tr(P Z_c)), on s_c >= 0: metafor's rma.mv. With moderators the design X
replaces 1, and log|X'WX| replaces log 1'W1. Reads and writes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.least_squares.gls import projection

FEWEST_COLLECTIONS = 3  # a variance between fewer has less than two degrees of freedom
_STARTS = (0.0, 0.1, 1.0)  # of each component, in units of the effects' own variance
_STEPS = 1000  # at most; near the solution, each doubles the digits


def structures(collections: Sequence[int]) -> list[np.ndarray]:
    """Z of each component: tasks and, if some collection has several tasks, collections.

    With fewer than FEWEST_COLLECTIONS, or one task per collection, only tasks.
    """
    labels = np.asarray(collections)
    within = [np.eye(len(labels))]
    count = len(set(collections))
    if FEWEST_COLLECTIONS <= count < len(labels):
        within.append((labels[:, None] == labels).astype(float))
    return within


def reml(
    y: np.ndarray, sampling: np.ndarray, z: Sequence[np.ndarray], design: np.ndarray | None = None
) -> tuple[float, ...]:
    """The components' restricted maximum likelihood estimates, in the order of `z`, each at least 0.

    `design` (k, p) has columns that span the constant; it is that alone by default.
    """
    x = np.ones((len(y), 1)) if design is None else design
    typical = np.trace(sampling) / len(y) + y.var(ddof=1)
    ys, vs = (y - y.mean()) / np.sqrt(typical), sampling / typical

    def climbed(start: Sequence[float]) -> np.ndarray:
        return _climb(ys, vs, x, z, np.array(start))

    def height(s: Sequence[float] | np.ndarray) -> float:
        return _log_likelihood(ys, vs, x, z, np.array(s))

    starts = sorted(itertools.product(_STARTS, repeat=len(z)), key=lambda s: -height(s))
    best = max([climbed(start) for start in starts[:3]], key=height)
    return tuple((best * typical).tolist())


def omega_of(sampling: np.ndarray, z: Sequence[np.ndarray], components: Sequence[float]) -> np.ndarray:
    """V + sum_c s_c Z_c."""
    omega = sampling.copy()
    for value, structure in zip(components, z, strict=True):
        omega = omega + value * structure
    return omega


def _climb(y: np.ndarray, sampling: np.ndarray, x: np.ndarray, z: Sequence[np.ndarray], s: np.ndarray) -> np.ndarray:
    """The maximum that Newton's method reaches from `s`, with Fisher's information if the observed one is not usable.

    A component at 0 with a negative derivative stays there; a step that does not increase the likelihood is halved.
    """
    height = _log_likelihood(y, sampling, x, z, s)
    for _ in range(_STEPS):
        slope, expected, observed = _derivatives(y, sampling, x, z, s)
        free = (s > 0) | (slope > 0)
        if not free.any():
            break
        information = observed[np.ix_(free, free)]
        if np.linalg.eigvalsh(information).min() <= 0:
            information = expected[np.ix_(free, free)]
        step = np.zeros_like(s)
        step[free] = np.linalg.solve(information, slope[free])
        share = 1.0
        for _ in range(60):
            tried = np.maximum(s + share * step, 0)
            reached = _log_likelihood(y, sampling, x, z, tried)
            if reached >= height:
                break
            share /= 2
        else:
            break
        moved = np.abs(tried - s).max()
        s, height = tried, reached
        if moved <= 4 * np.finfo(float).eps * max(s.max(), 1e-8):
            break
    return s


def _log_likelihood(
    y: np.ndarray, sampling: np.ndarray, x: np.ndarray, z: Sequence[np.ndarray], s: np.ndarray
) -> float:
    """The restricted log-likelihood, up to a constant."""
    lower = np.linalg.cholesky(omega_of(sampling, z, s.tolist()))
    rows, effects = np.linalg.solve(lower, x), np.linalg.solve(lower, y)
    orthonormal, triangle = np.linalg.qr(rows)
    residuals = effects - orthonormal @ (orthonormal.T @ effects)
    information = np.log(np.abs(np.diag(triangle))).sum()  # half of log|X'WX|
    return float(-np.log(np.diag(lower)).sum() - information - 0.5 * residuals @ residuals)


def _derivatives(
    y: np.ndarray, sampling: np.ndarray, x: np.ndarray, z: Sequence[np.ndarray], s: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradient of the likelihood, and Fisher's expected and the observed information."""
    p = projection(omega_of(sampling, z, s.tolist()), x)
    py = p @ y
    pz = [p @ structure for structure in z]
    zpy = [structure @ py for structure in z]
    slope = np.array([0.5 * (py @ v - np.trace(m)) for v, m in zip(zpy, pz, strict=True)])
    traces = np.array([[np.sum(a * b.T) for b in pz] for a in pz])
    quadratic = np.array([[a @ p @ b for b in zpy] for a in zpy])
    return slope, 0.5 * traces, quadratic - 0.5 * traces


def generalised_q(y: np.ndarray, sampling: np.ndarray, tau2: float) -> float:
    """Y'PY with Omega = V + tau2 I, which decreases in tau2; Cochran's Q at 0."""
    return float(y @ projection(sampling + tau2 * np.eye(len(y))) @ y)


def tau2_interval(y: np.ndarray, sampling: np.ndarray, alpha: float) -> tuple[float, float]:
    """The (1 - alpha) interval of tau2 in the model with one component: where the generalised Q meets chi2's quantiles.

    Viechtbauer (2007) and Jackson, Turner, Rhodes and Viechtbauer (2014), for correlated effects. Limits below 0 are
    set to 0.
    """
    df, centred = len(y) - 1, y - y.mean()

    def end(target: float) -> float:
        if generalised_q(centred, sampling, 0.0) <= target:
            return 0.0
        bound = (centred**2).sum() / target
        root = scipy.optimize.brentq(
            lambda tau2: generalised_q(centred, sampling, tau2) - target,
            0.0, bound, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=1000,
        )  # fmt: skip
        return float(root)

    return end(scipy.special.chdtri(df, alpha / 2)), end(2 * scipy.special.gammaincinv(df / 2, alpha / 2))
