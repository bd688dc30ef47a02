"""Meta-regression of dependent effects and of effects with seed variance; reads and writes nothing.

For tasks that share nothing, it is that of independent tasks (independent.py); else generalised least squares with the
covariance and the levels of the summary (dependent_tasks.py), tau2 by restricted maximum likelihood given the
moderators: metafor's rma.mv(V, mods = ). A coefficient is a weighted sum of the effects, like the summary, so seed
variance is added to it in the same way, with its weights (structure.of_mean). A seed effect that all tasks share moves
the intercept and not a slope.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ranktrial.statistics.dependence.structure import Dependence
from ranktrial.statistics.least_squares.gls import gls_regression, projection
from ranktrial.statistics.least_squares.variance_components import omega_of, reml, structures
from ranktrial.statistics.least_squares.weighted import orthonormal
from ranktrial.statistics.meta_analysis.dependent_tasks import ESTIMATOR
from ranktrial.statistics.meta_analysis.tails import chi2_upper
from ranktrial.statistics.meta_regression.independent import (
    NORMAL,
    MetaRegression,
    meta_regression,
    scale_of,
    tested_together,
    wald,
)


def dependent_meta_regression(
    design: np.ndarray, y: np.ndarray, dependence: Dependence, estimator: str, interval: str, alpha: float
) -> MetaRegression:
    """Fit the effects `y` (k,) to a design (k, p); see `meta_regression` for the rest."""
    if dependence.independent:
        fit = meta_regression(design, y, dependence.variances, estimator, interval, alpha)
    else:
        fit = _generalised(design, y, dependence, interval, alpha)
    return _with_seeds(fit, dependence) if dependence.seed_effects else fit


def too_few_collections(dependence: Dependence, p: int) -> str | None:
    """Why there are too few collections for a model with p coefficients, as text; None if there are enough."""
    collections = len(set(dependence.collections))
    if len(structures(dependence.collections)) == 1 or collections > p:
        return None
    return f"the tasks are of {collections} corpora; a model with {p} coefficients needs at least {p + 1}"


def _generalised(
    design: np.ndarray, y: np.ndarray, dependence: Dependence, interval: str, alpha: float
) -> MetaRegression:
    """By generalised least squares, given the seeds. Degrees of freedom are of collections if these are a level."""
    k, p = design.shape
    q, r = orthonormal(design)
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    z = structures(dependence.collections)
    components = reml(y, sampling, z, q)
    omega = omega_of(sampling, z, components)
    fit, back = gls_regression(y, q, omega), np.linalg.inv(r)
    scale = float(scale_of(interval, np.asarray(fit.q / (k - p))))
    df = k - p if len(z) == 1 else min(k - p, len(set(dependence.collections)) - p)
    coefficients, covariance = back @ fit.coefficients, scale * back @ fit.covariance @ back.T
    qe, typical = gls_regression(y, q, sampling).q, (k - p) / float(np.trace(projection(sampling, q)))
    qm, tau2, weights = float(wald(coefficients[1:], covariance[1:, 1:])), sum(components), 1 / np.diag(omega)
    tested = tested_together(qm, p - 1, None if interval == NORMAL else df)
    return MetaRegression(
        k=k,
        p=p,
        alpha=alpha,
        coefficients=coefficients,
        covariance=covariance,
        df=None if interval == NORMAL else df,
        weights=weights / weights.sum(),
        tau2=tau2,
        tau2_of_all=sum(reml(y, sampling, z)),
        qe=qe,
        qe_df=k - p,
        qe_p_value=chi2_upper(qe, k - p).p,
        qm=tested[0],
        qm_df=p - 1,
        qm_p_value=tested[1],
        i2=100 * tau2 / (tau2 + typical),
        h2=tau2 / typical + 1,
        linear=back @ fit.linear,
        scale=scale,
        estimator=ESTIMATOR,
        qm_error_df=None if interval == NORMAL else df,
    )


def _with_seeds(fit: MetaRegression, dependence: Dependence) -> MetaRegression:
    """The fit with seed variance in each coefficient and in the test of all."""
    fit = replace(fit, dependence=dependence)
    tested = [fit.coefficient(number) for number in range(1, fit.p)]
    degrees = [one.df for one in tested if one.df is not None]
    if len(tested) == 1:
        qm = float(tested[0].effect ** 2 / tested[0].variance)
    else:
        covariance = fit.covariance + fit.linear @ _seed_covariance(dependence, fit.scale) @ fit.linear.T
        qm = float(wald(fit.coefficients[1:], covariance[1:, 1:]))
    df = min(degrees, default=None)
    statistic, p_value = tested_together(qm, fit.p - 1, df)
    return replace(fit, qm=statistic, qm_p_value=p_value, qm_error_df=df)


def _seed_covariance(dependence: Dependence, scale: float) -> np.ndarray:
    """The shared seed covariance of the effects, (k, k), beyond the unshared part that the fit includes."""
    alone = scale * np.diag(dependence.seed_variance_of_tasks_alone)
    added: np.ndarray = dependence.covariance - dependence.sampling - alone
    return added
