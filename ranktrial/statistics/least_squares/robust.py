"""CR2: a variance of a mean of dependent effects that is valid even if their covariance matrix is misspecified.

Bell and McCaffrey (2002); Pustejovsky and Tipton (2018, Journal of Business & Economic Statistics 36(4), 672-683; 2022,
Prevention Science 23, 425-438). The variance is estimated from the residuals e_j of each collection j, adjusted by the
matrix A_j that makes it unbiased if the working matrix Omega is right:

    var(M) = sum_j (p_j'Y)^2,    p_j = (I - H)_j' A_j' w_j,    H = 1 w',
    A_j = G_j' (G_j ((I - H) Omega (I - H)')_j G_j')^(-1/2) G_j,    Omega_j = G_j'G_j (Cholesky),

w the weights of the effects in the mean (W1 / 1'W1, or equal), with the degrees of freedom of Satterthwaite under
Omega: df = (sum_j p_j' Omega p_j)^2 / sum_jl (p_j' Omega p_l)^2. It is clubSandwich's coef_test(vcov = "CR2",
test = "Satterthwaite"). Omega has no covariance between collections. Reads and writes nothing.
"""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.least_squares.gls import Fit
from ranktrial.statistics.least_squares.satterthwaite import Part


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
