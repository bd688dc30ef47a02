"""The covariance of the effects of tasks that partly share queries or clusters of queries.

E_iu is the sum of the influence (see influence.py) that the queries of unit u have on the effect of task i. Two tasks
of one corpus are correlated through the units that they share,

    r_il = sum_u E_iu E_lu / sqrt(sum_u E_iu^2 sum_u E_lu^2),    S_il = r_il sqrt(V_i V_l),

the sandwich estimate for effects that are functions of sample means (Liang and Zeger 1986, Biometrika 73(1), 13-22),
with the variances V_i of the effects on the diagonal. r is a matrix of cosines, so S is never indefinite. Units of
different corpora are different. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

SMALLEST_EIGENVALUE = 1e-3  # of r: below it, tasks are nearly the same, and weights would be differences of noise


def covariance(
    variances: Sequence[float], unit_sums: Sequence[Mapping[Hashable, float] | None], corpora: Sequence[str]
) -> np.ndarray:
    """S, shape (k, k). `unit_sums` are E_i by unit, None for a task with unknown influence of queries."""
    k = len(variances)
    correlation = np.eye(k)
    for i in range(k):
        for second in range(i + 1, k):
            a, b = unit_sums[i], unit_sums[second]
            if a is not None and b is not None and corpora[i] == corpora[second]:
                correlation[i, second] = correlation[second, i] = _cosine(a, b)
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    if smallest < SMALLEST_EIGENVALUE:
        correlation += (SMALLEST_EIGENVALUE - smallest) / (1 - SMALLEST_EIGENVALUE) * np.eye(k)
        correlation /= correlation[0, 0]
    root = np.sqrt(np.asarray(variances, dtype=float))
    matrix: np.ndarray = correlation * np.outer(root, root)
    np.fill_diagonal(matrix, variances)  # to the last digit
    return matrix


def _cosine(a: Mapping[Hashable, float], b: Mapping[Hashable, float]) -> float:
    shared = sum(value * b[unit] for unit, value in a.items() if unit in b)
    lengths = sum(v**2 for v in a.values()) * sum(v**2 for v in b.values())
    return shared / lengths**0.5 if lengths else 0.0


def is_diagonal(matrix: np.ndarray) -> bool:
    """Whether no two effects are correlated."""
    return not (matrix - np.diag(np.diag(matrix))).any()
