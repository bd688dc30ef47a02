"""Means and regressions of effects by weighted and generalised least squares, components of variance, robust variances.

Weighted least squares for meta-regression: one design or many (permuted) designs at once.

X is the design (..., k, p) of k tasks and p coefficients, y are the effects (k,), and
W = 1 / (V + tau2) the weights (..., k); leading dimensions are broadcast. P = W - W X (X'WX)^-1 X'W (Viechtbauer 2005,
Bias and efficiency of meta-analytic variance estimators in the random-effects model). Designs are expected with
orthonormal columns (`orthonormal`), so that a moderator's origin and unit cost no digits.

The mean of dependent effects, and their regression on a design, by generalised least squares for a covariance
matrix that is taken as known.

With Omega = V + T the covariance of the effects Y (sampling V, between tasks T), W = Omega^-1 and 1 a vector of ones,

    M = 1'WY / 1'W1,    var(M) = 1 / 1'W1,    QE = (Y - M)'W(Y - M),

as metafor's rma.mv for a model with an intercept alone (Viechtbauer 2010; Konstantopoulos 2011), and with a design X

    b = AY,    A = (X'WX)^-1 X'W,    Cov(b) = (X'WX)^-1,    QE = (Y - Xb)'W(Y - Xb),

as rma.mv(mods = ). With a diagonal Omega these are the formulas of independent tasks.

CR2: a variance of a mean of dependent effects that is valid even if their covariance matrix is misspecified.

Bell and McCaffrey (2002); Pustejovsky and Tipton (2018, Journal of Business & Economic Statistics 36(4), 672-683; 2022,
Prevention Science 23, 425-438). The variance is estimated from the residuals e_j of each collection j, adjusted by the
matrix A_j that makes it unbiased if the working matrix Omega is right:

    var(M) = sum_j (p_j'Y)^2,    p_j = (I - H)_j' A_j' w_j,    H = 1 w',
    A_j = G_j' (G_j ((I - H) Omega (I - H)')_j G_j')^(-1/2) G_j,    Omega_j = G_j'G_j (Cholesky),

w the weights of the effects in the mean (W1 / 1'W1, or equal), with the degrees of freedom of Satterthwaite under
Omega: df = (sum_j p_j' Omega p_j)^2 / sum_jl (p_j' Omega p_l)^2. It is clubSandwich's coef_test(vcov = "CR2",
test = "Satterthwaite"). Omega has no covariance between collections.

Between-task variance of dependent effects by restricted maximum likelihood, in one or in two levels.

The effects Y have the covariance Omega = V + sum_c s_c Z_c with known V: one component for tasks (Z = I) and, if tasks
are nested in collections, one for collections (Z = 1 for two tasks of one collection, else 0): the three-level model of
Konstantopoulos (2011, Research Synthesis Methods 2(1), 61-76; Cheung 2014). The components maximise

    -1/2 (log|Omega| + log 1'W1 + Y'PY),    P = W - W11'W / 1'W1,    W = Omega^-1,

whose derivative by s_c is 1/2 (Y'P Z_c P Y - tr(P Z_c)), on s_c >= 0: metafor's rma.mv. With moderators the design X
replaces 1, and log|X'WX| replaces log 1'W1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.heterogeneity import without_rounding
from ranktrial.statistics.summaries import Part

_HALVINGS = 120  # maximum number, in the search for a root
_EPS = 2 * np.finfo(float).eps


class WeightedFit(NamedTuple):
    """Coefficients (..., p), (X'WX)^-1 (..., p, p) and residuals (..., k)."""

    coefficients: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray


def orthonormal(design: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q with orthonormal columns and R with Q R = the design (k, p), each column of which is scaled first."""
    size = np.linalg.norm(design, axis=0)
    q, r = np.linalg.qr(design / size)
    return q, r * size


def weighted_fit(design: np.ndarray, y: np.ndarray, weights: np.ndarray) -> WeightedFit:
    """The weighted least-squares fit of y."""
    weighted = design * weights[..., None]
    covariance = np.linalg.inv(np.swapaxes(weighted, -1, -2) @ design)
    coefficients = (covariance @ (np.swapaxes(weighted, -1, -2) @ y)[..., None])[..., 0]
    return WeightedFit(coefficients, covariance, y - (design @ coefficients[..., None])[..., 0])


def residual_q(design: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """y'Py, the weighted sum of squared residuals: QE at tau2 = 0."""
    q: np.ndarray = (weights * weighted_fit(design, y, weights).residuals ** 2).sum(axis=-1)
    return q


def trace_p(design: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """tr P."""
    weighted = design * weights[..., None]
    transposed = np.swapaxes(weighted, -1, -2)
    hat = np.linalg.inv(transposed @ design) @ (transposed @ weighted)
    trace: np.ndarray = weights.sum(axis=-1) - np.trace(hat, axis1=-2, axis2=-1)
    return trace


def falling_root(function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The root of a decreasing function of arrays between `low` and `high`, element by element."""
    low, high = low.copy(), high.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        if (high - low <= _EPS * high).all():
            break
    root: np.ndarray = (low + high) / 2
    return root


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


def cr2(fit: Fit) -> Part:
    """The robust variance of the mean and its degrees of freedom. Raises ValueError for fewer than two collections."""
    if fit.n_collections < 2:
        raise ValueError("a robust variance needs at least two collections")
    k = len(fit.y)
    residual_maker = np.eye(k) - np.outer(np.ones(k), fit.weights)
    labels = np.asarray(fit.collections)
    p = np.stack([_of_collection(fit, np.flatnonzero(labels == j), residual_maker) for j in sorted(set(labels))])
    products = p @ fit.omega @ p.T
    variance = ((p @ fit.residuals) ** 2).sum()  # p_j'1 = 0, so that the mean may be subtracted first
    return Part(float(variance), float(np.trace(products) ** 2 / (products**2).sum()))


def _of_collection(fit: Fit, members: np.ndarray, residual_maker: np.ndarray) -> np.ndarray:
    """p_j of the tasks `members`, shape (k,)."""
    block = fit.omega[np.ix_(members, members)]
    upper = np.linalg.cholesky(block).T
    of_residuals = residual_maker[members] @ fit.omega @ residual_maker[members].T
    inner = upper @ of_residuals @ upper.T
    adjustment = upper.T @ _inverse_root(inner) @ upper
    contribution: np.ndarray = residual_maker[members].T @ adjustment.T @ fit.weights[members]
    return contribution


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    """The symmetric generalised inverse of a positive semi-definite matrix's square root."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-12 * values.max()
    scaled = vectors[:, kept] / np.sqrt(values[kept])
    root: np.ndarray = scaled @ vectors[:, kept].T
    return root


FEWEST_COLLECTIONS = 3  # a variance between fewer has less than two degrees of freedom
_STARTS = (0.0, 0.1, 1.0)  # of each component, in units of the effects' own variance
_STEPS = 1000  # at most; near the solution, each doubles the digits
_ALIKE = 1e-8  # structures that differ by rounding


def structures(collections: Sequence[int], q: np.ndarray | None = None) -> list[np.ndarray]:
    """Z of each component: tasks and, if some collection has several tasks, collections.

    With fewer than FEWEST_COLLECTIONS, or one task per collection, only tasks; so too where both components have the
    same residuals given a design with orthonormal columns `q`.
    """
    labels = np.asarray(collections)
    within = [np.eye(len(labels))]
    count = len(set(collections))
    if FEWEST_COLLECTIONS <= count < len(labels):
        within.append((labels[:, None] == labels).astype(float))
    if q is not None and len(within) > 1:
        residual = np.eye(len(q)) - q @ q.T
        of_both = np.stack([(residual @ z @ residual).ravel() for z in within])
        return within[: np.linalg.matrix_rank(of_both, tol=_ALIKE)]
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
