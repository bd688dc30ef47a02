"""Compact letter display: systems that have a letter in common do not differ significantly.

Reads and writes nothing. Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons,
Journal of Computational and Graphical Statistics 13(2), 456-466: insert and absorb. The letters are then all maximal
groups in which no two systems differ significantly, as in R's multcompView.
"""

from __future__ import annotations

import string
from collections.abc import Iterable

LETTERS = string.ascii_lowercase + string.ascii_uppercase


def groups(systems: int, significant: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The maximal groups of systems 0, 1, … without a significant difference, in the order of their members."""
    columns = [frozenset(range(systems))]
    for pair in significant:
        apart = frozenset(pair)
        split = [column - {system} for column in columns if apart <= column for system in apart]
        kept = [column for column in columns if not apart <= column]
        columns = list(dict.fromkeys(kept + split))
        columns = [column for column in columns if not any(column < other for other in columns)]  # absorbed
    return sorted(tuple(sorted(column)) for column in columns)


def letter(number: int) -> str:
    """a to z, A to Z, then the same after a dot for each round."""
    rounds, place = divmod(number, len(LETTERS))
    return "." * rounds + LETTERS[place]


def letters(systems: int, significant: Iterable[tuple[int, int]]) -> list[str]:
    """The letters of each system; the first system has an a."""
    named = [(letter(number), members) for number, members in enumerate(groups(systems, significant))]
    return ["".join(name for name, members in named if system in members) for system in range(systems)]
