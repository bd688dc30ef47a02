"""Agreement of two assessors, of rankings of systems, and of an experiment with its repetition.

Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1), 37-46.

Measures of reproduction (of rankings, scores and effects) have the definitions of Breuer et al. (2020), "How to Measure
the Reproducibility of System-oriented IR Experiments", as repro_eval 0.4 computes them; tests compare the values with
its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy


def confusion(pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The confusion matrix over all grades of both assessors, in their order."""
    counts = Counter(pairs)
    first, second = (sorted({pair[place] for pair in pairs}) for place in (0, 1))
    return {(one, other): counts[one, other] for one in first for other in second}


def cohens_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """(observed - expected agreement) / (1 - expected agreement); None if the expected agreement is 1."""
    n = len(pairs)
    observed = sum(one == other for one, other in pairs) / n if n else 0.0
    first, second = (Counter(pair[place] for pair in pairs) for place in (0, 1))
    expected = sum(first[grade] * second[grade] for grade in first) / n**2 if n else 1.0
    return (observed - expected) / (1 - expected) if expected < 1 else None


def order_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two rankings of the same systems; None for fewer than two, or if one ranking ties all."""
    if len(first) < 2:
        return None
    tau = float(scipy.stats.kendalltau(first, second).statistic)
    return None if np.isnan(tau) else tau


PERSISTENCE = 0.8  # of rank-biased overlap: repro_eval's default


def kendalls_tau_union(original: Sequence[str], repeated: Sequence[str]) -> float | None:
    """Kendall's tau between the documents at equal ranks, coded by their positions in the sorted union.

    Two rankings of document ids, best first; the longer one is cut at the length of the other. Returns -1 to 1 (1: the
    same order), or None for fewer than two documents, where tau is not defined.
    """
    length = min(len(original), len(repeated))
    if length < 2:
        return None
    place = {document: index for index, document in enumerate(sorted({*original[:length], *repeated[:length]}))}
    places = [[place[document] for document in ranking[:length]] for ranking in (original, repeated)]
    return float(scipy.stats.kendalltau(*places).statistic)


def rank_biased_overlap(original: Sequence[str], repeated: Sequence[str], p: float = PERSISTENCE) -> float | None:
    """Rank-biased overlap (Webber et al. 2010) of two rankings, normalised to the depth of the longer one.

    The shares of common documents at each depth, weighted by powers of `p`: top-heavy where `p` is small. Returns 0
    to 1 (1: the same order), or None for two empty rankings.
    """
    depth = max(len(original), len(repeated))
    if not depth:
        return None
    rank = {document: index for index, document in enumerate(original)}
    found = [max(index, rank[document]) for index, document in enumerate(repeated) if document in rank]
    common = np.cumsum(np.bincount(found, minlength=depth))
    weights = p ** np.arange(depth)
    return float(np.average(common / np.arange(1, depth + 1), weights=weights))


def root_mean_square_error(original: np.ndarray, repeated: np.ndarray) -> float:
    """Root mean square of the differences between scores of the same queries (shape: queries), in their units."""
    return float(np.sqrt(np.mean(np.square(original - repeated))))


def effect_ratio(original: float, repeated: float) -> float | None:
    """The mean improvement of treatment over control in the repetition, relative to the original's.

    1: as large as in the original. None if the original has no improvement.
    """
    return repeated / original if original else None


def relative_improvement(control: float, treatment: float) -> float | None:
    """The difference between treatment's and control's mean, relative to the control's; None if that is 0."""
    return (treatment - control) / control if control else None


def delta_relative_improvement(original: tuple[float, float], repeated: tuple[float, float]) -> float | None:
    """The original's relative improvement minus the repetition's, each of the means of (control, treatment).

    0: the same improvement; below 0, the repetition improves more. None if the mean of a control is 0.
    """
    first, second = relative_improvement(*original), relative_improvement(*repeated)
    return None if first is None or second is None else first - second
