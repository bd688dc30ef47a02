"""Meta-regression: a mixed-effects model of the effects of k tasks on moderators; reads and writes nothing.

Y = X b + u + e, Var u = tau2 (residual), Var e = V. b = (X'WX)^-1 X'WY with W = 1 / (V + tau2). Berkey, Hoaglin,
Mosteller and Colditz (1995), A random-effects regression model for meta-analysis; Viechtbauer (2010). Tests compare
every number with metafor's `rma(mods=)`.

| quantity | formula |
|---|---|
| QE, df = k - p | y'Py at tau2 = 0, against chi2: residual heterogeneity |
| QM | the m coefficients except the intercept, b' Cov(b)^-1 b, chi2(m); Knapp and Hartung: F = QM / m, df m, k - p |
| Cov(b) | scale (X'WX)^-1; scale 1, or of Knapp and Hartung (2003): q = y'Py / (k - p), at least 1 unless unmodified |
| R2 | 100 max(0, (tau2 of all - tau2) / tau2 of all): the share of the variance between tasks that moderators explain |
| I2, H2 | 100 tau2 / (tau2 + s2), tau2 / s2 + 1, s2 = (k - p) / tr P at tau2 = 0 |
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.dependence.structure import Dependence, of_mean
from ranktrial.statistics.estimators import residual_estimator
from ranktrial.statistics.least_squares.satterthwaite import Part
from ranktrial.statistics.least_squares.weighted import orthonormal, residual_q, trace_p, weighted_fit
from ranktrial.statistics.meta_analysis.summaries import Summary, part_summary
from ranktrial.statistics.meta_analysis.tails import chi2_upper

NORMAL, UNMODIFIED = "normal", "knapp-hartung-unmodified"  # intervals; any other is that of Knapp and Hartung, modified


@dataclass(frozen=True)
class MetaRegression:
    """A fitted model. `covariance` (p, p) is that of the coefficients; `weights` (k,) sum to 1; `df` None is normal.

    Coefficients are `linear` (p, k) times the effects, and `covariance` is `scale` times that of the model. With
    `dependence` its seed variance is part of a coefficient's summary and of QM, and not of `covariance`. `df` are
    those given the seeds, `qm_error_df` those of QM's F, None for chi2.
    """

    k: int
    p: int
    alpha: float
    coefficients: np.ndarray
    covariance: np.ndarray
    df: int | None
    weights: np.ndarray
    tau2: float
    tau2_of_all: float
    qe: float
    qe_df: int
    qe_p_value: float
    qm: float
    qm_df: int
    qm_p_value: float
    i2: float
    h2: float
    linear: np.ndarray
    scale: float
    estimator: str
    qm_error_df: float | None
    dependence: Dependence | None = None

    @property
    def r2(self) -> float | None:
        """The share of tau2 that the moderators explain, in percent; None if there is none to explain."""
        return None if not self.tau2_of_all else 100 * max(0.0, 1 - self.tau2 / self.tau2_of_all)

    def at(self, row: np.ndarray) -> Summary:
        """The mean effect for this row of a design, or the contrast of coefficients with these weights."""
        effect, variance = float(row @ self.coefficients), float(row @ self.covariance @ row)
        part = Part(variance, math.inf if self.df is None else self.df)
        if self.dependence is not None:
            part = of_mean(part, variance / self.scale, self.dependence, row @ self.linear)
        return part_summary(effect, part, self.alpha)

    def coefficient(self, number: int) -> Summary:
        """One coefficient with its interval and test."""
        return self.at(np.eye(self.p)[number])


def meta_regression(
    design: np.ndarray, y: np.ndarray, variances: np.ndarray, estimator: str, interval: str, alpha: float
) -> MetaRegression:
    """Fit the effects `y` with sampling `variances` (k,) to a design (k, p) of full rank, k > p, its first column ones.

    estimator: of the residual tau2; interval: of the comparison's summary.
    """
    k, p = design.shape
    q, r = orthonormal(design)
    residual_tau2 = residual_estimator(estimator).residual_tau2
    tau2 = float(residual_tau2(q, y, variances))
    fit = weighted_fit(q, y, 1 / (variances + tau2))
    scale, df = scale_of(interval, np.asarray((fit.residuals**2 / (variances + tau2)).sum() / (k - p))), k - p
    back = np.linalg.inv(r)
    coefficients, covariance = back @ fit.coefficients, float(scale) * back @ fit.covariance @ back.T
    qe, typical = float(residual_q(q, y, 1 / variances)), df / float(trace_p(q, 1 / variances))
    error_df = None if interval == NORMAL else df
    tested = tested_together(float(wald(coefficients[1:], covariance[1:, 1:])), p - 1, error_df)
    constant = np.full((k, 1), k**-0.5)
    weights = 1 / (variances + tau2)
    return MetaRegression(
        k=k,
        p=p,
        alpha=alpha,
        coefficients=coefficients,
        covariance=covariance,
        df=error_df,
        weights=weights / weights.sum(),
        tau2=tau2,
        tau2_of_all=float(residual_tau2(constant, y, variances)),
        qe=qe,
        qe_df=df,
        qe_p_value=chi2_upper(qe, df).p,
        qm=tested[0],
        qm_df=p - 1,
        qm_p_value=tested[1],
        i2=100 * tau2 / (tau2 + typical),
        h2=tau2 / typical + 1,
        linear=back @ (fit.covariance @ (q * weights[:, None]).T),
        scale=float(scale),
        estimator=estimator,
        qm_error_df=error_df,
    )


def tested_together(qm: float, m: int, df: float | None) -> tuple[float, float]:
    """The statistic of the test of m coefficients from b' Cov(b)^-1 b, and its p-value: F, or chi2 without `df`."""
    return (qm, chi2_upper(qm, m).p) if df is None else (qm / m, float(scipy.special.fdtrc(m, df, qm / m)))


def scale_of(interval: str, q: np.ndarray) -> np.ndarray:
    """The factor of (X'WX)^-1, from q = y'Py / (k - p)."""
    if interval == NORMAL:
        return np.ones_like(q)
    return q if interval == UNMODIFIED else np.maximum(1.0, q)


def wald(coefficients: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """b' Cov(b)^-1 b, of (..., m) coefficients."""
    solved = np.linalg.solve(covariance, coefficients[..., None])[..., 0]
    return np.asarray((coefficients * solved).sum(axis=-1))
