"""Simultaneous intervals of the ranks of systems, from the pairs that differ significantly.

Reads and writes nothing. Al Mohamad, Goeman and van Zwet (2022), Simultaneous confidence intervals for ranks with
application to ranking institutions, Biometrics 78(1), 238-247; Mogstad et al. (2024), Inference for ranks, Review of
Economic Studies 91(1), 476-518.
"""

from __future__ import annotations

from collections.abc import Iterable


def rank_intervals(systems: int, better: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The best and the worst rank, from 1, of systems 0, 1, ….

    `better` are all pairs (better system, worse system) that differ significantly. A system ranks below all that are
    significantly better and above all that are significantly worse. The rank intervals have the simultaneous coverage
    of the intervals of pairs.
    """
    lowest, highest = [1] * systems, [systems] * systems
    for winner, loser in better:
        lowest[loser] += 1
        highest[winner] -= 1
    return list(zip(lowest, highest, strict=True))
