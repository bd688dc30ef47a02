"""Gauss and Legendre's nodes, found once: they are the eigenvalues of a matrix. Reads and writes nothing."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes on [-1, 1] and their weights, which are shared and therefore cannot be written."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    places.flags.writeable = weights.flags.writeable = False
    return places, weights
