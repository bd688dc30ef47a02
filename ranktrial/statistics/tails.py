"""Tail probabilities without underflow, and the nodes of quadrature; reads and writes nothing.

Gauss and Legendre's nodes, found once: they are the eigenvalues of a matrix.

Two-sided and upper tail probabilities without underflow, with their logarithms.

SciPy's t and chi-square tails are 0 (and their logarithms -inf) below about 1e-308, which is
easily reached with a thousand queries; here the logarithm of the tail is then computed directly.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy


@cache
def legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes on [-1, 1] and their weights, which are shared and therefore cannot be written."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    places.flags.writeable = weights.flags.writeable = False
    return places, weights


_SMALL = 1e-290  # below this a tail is computed in logarithms; SciPy's own value still has all its digits above
_EPS = sys.float_info.epsilon


@dataclass(frozen=True)
class Tail:
    """A tail probability. `p` is at least 2.2e-308 (the smallest normal double, never 0); `log10_p` is exact."""

    p: float
    log10_p: float


def normal_two_sided(z: float) -> Tail:
    """P(|Z| >= |z|) of a standard normal Z."""
    return _tail(2 * scipy.special.ndtr(-abs(z)), lambda: math.log(2) + scipy.special.log_ndtr(-abs(z)))


def normal_upper(z: float) -> Tail:
    """P(Z >= z) of a standard normal Z."""
    return _tail(scipy.special.ndtr(-z), lambda: scipy.special.log_ndtr(-z))


def t_two_sided(t: float, df: float) -> Tail:
    """P(|T| >= |t|) of Student's t with `df` degrees of freedom."""
    return _tail(2 * scipy.special.stdtr(df, -abs(t)), lambda: math.log(2) + _t_log_upper(abs(t), df))


def t_upper(t: float, df: float) -> Tail:
    """P(T >= t) of Student's t with `df` degrees of freedom."""
    return _tail(scipy.special.stdtr(df, -t), lambda: _t_log_upper(t, df))


def chi2_upper(q: float, df: float) -> Tail:
    """P(X >= q) of a chi-square X with `df` degrees of freedom."""
    return _tail(scipy.special.gammaincc(df / 2, q / 2), lambda: _log_gammaincc(df / 2, q / 2))


def _tail(p: float, log_tail: Callable[[], float]) -> Tail:
    log10_p = (math.log(p) if p > _SMALL else float(log_tail())) / math.log(10)
    return Tail(max(float(p), sys.float_info.min), log10_p)


def _t_log_upper(t: float, df: float) -> float:
    """log P(T >= t) far out: half the incomplete beta ratio I_x(df/2, 1/2), x = df/(df + t^2).

    By its power series (DLMF 8.17.8, then 15.2.1 for F(a + b, 1; a + 1; x)), whose terms fall faster than x^j.
    """
    a, b = df / 2, 0.5
    log_x = -math.log1p(t * t / df)
    j = np.arange(math.ceil(math.log(_EPS) / log_x))
    series = 1 + np.cumprod(math.exp(log_x) * (a + b + j) / (a + 1 + j)).sum()
    log_1_minus_x = -math.log1p(df / (t * t))
    log_beta: float = scipy.special.betaln(a, b)
    return a * log_x + b * log_1_minus_x - math.log(2 * a) - log_beta + math.log(series)


def _log_gammaincc(a: float, x: float) -> float:
    """log of the upper incomplete gamma ratio far out (x >> a): DLMF 8.9.2's even part, from its end.

    With x above 600, as it is here, a hundred terms leave an error below one unit in the last place.
    """
    fraction = 0.0
    for j in range(100, 0, -1):
        fraction = j * (a - j) / (x + 2 * j + 1 - a + fraction)
    log_gamma: float = scipy.special.gammaln(a)
    return a * math.log(x) - x - log_gamma - math.log(x + 1 - a + fraction)
