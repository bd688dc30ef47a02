"""Several seeds of a system: their mean per query, their spread, and the part of an effect's variance that is theirs.

Reads and writes nothing. The model is the crossed two-way random-effects model with one observation per cell,

    value(query, seed) = mean + query + seed + (query x seed),

whose variance components are the ANOVA estimators (Searle, Casella and McCulloch 1992, Variance Components, chapter 4;
Brennan 2001, Generalizability Theory, chapter 2, the p x i design). A given seed's value for a given query is fixed,
so the residual is all query x seed: noise of training, as the seed component is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # scipy.special is loaded when it is first used: planning imports this module and computes nothing


@dataclass(frozen=True)
class SeedSpread:
    """One system over its seeds. `seed_means` is the mean measure of each seed, `sd` their standard deviation.

    `query`, `seed` and `residual` are the variance components, 0 where the estimate is negative. With one seed (or one
    query) they and `sd` are None.
    """

    mean: float
    seed_means: tuple[float, ...]
    sd: float | None
    query: float | None
    seed: float | None
    residual: float | None


@dataclass(frozen=True)
class EffectVariance:
    """Where the variance of a mean difference comes from.

    `sampling` is its variance over queries given the seeds (it holds the residual's part); `total` adds what other
    seeds would add; `seeds` is the part of training noise in the total (seed and residual components of both
    systems), and `seed_share` = seeds / total, None if the total is 0.
    """

    sampling: float
    seeds: float
    total: float
    seed_share: float | None


def average(values: np.ndarray) -> np.ndarray:
    """The mean over the seeds of `values`, shape (queries, seeds): one value per query."""
    means: np.ndarray = _matrix(values).mean(axis=1)
    return means


def seed_spread(values: np.ndarray) -> SeedSpread:
    """Describe the seeds of one system from its per-query `values` of shape (queries, seeds)."""
    x = _matrix(values)
    n, m = x.shape
    means = x.mean(axis=0)
    if m < 2 or n < 2:
        return SeedSpread(float(x.mean()), tuple(means.tolist()), None, None, None, None)
    residuals = x - x.mean(axis=1, keepdims=True) - means + x.mean()
    ms_residual = float((residuals**2).sum()) / ((n - 1) * (m - 1))
    ms_seed = n * float(means.var(ddof=1))
    ms_query = m * float(x.mean(axis=1).var(ddof=1))
    return SeedSpread(
        mean=float(x.mean()),
        seed_means=tuple(means.tolist()),
        sd=math.sqrt(ms_seed / n),
        query=max(0.0, (ms_query - ms_residual) / m),
        seed=max(0.0, (ms_seed - ms_residual) / n),
        residual=ms_residual,
    )


def effect_variance(treatment: np.ndarray, control: np.ndarray, ddof: int = 1) -> EffectVariance:
    """Split the variance of the mean difference of two systems, of shapes (queries, seeds of each), over its sources.

    Both systems' seeds are independent, so each adds seed / m to the variance over queries, which holds
    residual / (n m) of each already (the variance of a mean over both, Brennan 2001, chapter 2). A system
    with one seed adds nothing: this is exact for a deterministic system, such as BM25, and a lower bound for others.
    The variance over queries divides by n - `ddof`, as that of the effect; components are unbiased in any case.
    """
    x, y = _matrix(treatment), _matrix(control)
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"treatment and control must have the same queries, at least 2, not {len(x)} and {len(y)}")
    sampling = float((x.mean(axis=1) - y.mean(axis=1)).var(ddof=ddof)) / len(x)
    between = within = 0.0
    for values in (x, y):
        spread, (n, m) = seed_spread(values), values.shape
        if spread.seed is not None:
            between += spread.seed / m
            within += spread.residual / (n * m)
    total = sampling + between
    seeds = min(between + within, total)  # the estimate of the residual may exceed the variance that holds it
    return EffectVariance(sampling, seeds, total, seeds / total if total else None)


def sd_interval(sd: float, df: float, alpha: float) -> tuple[float, float]:
    """The (1 - alpha) interval of a standard deviation between seeds: sd sqrt(df / chi2) at both quantiles."""
    low, high = scipy.special.chdtri(df, alpha / 2), scipy.special.chdtri(df, 1 - alpha / 2)
    return sd * math.sqrt(df / low), sd * math.sqrt(df / high)


def _matrix(values: np.ndarray) -> np.ndarray:
    x = np.asarray(values, dtype=float)
    if x.ndim != 2 or not x.size or not np.isfinite(x).all():
        raise ValueError(f"expected a finite matrix of queries x seeds, not one of shape {x.shape}")
    return x
