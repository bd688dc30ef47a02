"""Records that planning resolves and jobs of the synthesis read: sources of seed variance, cells of a matrix of sources
and targets, and points of curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

ZERO, FULL = "zero", "full"  # trained on none of the target's judgements, or on all


@dataclass(frozen=True)
class MatrixCell:
    """The cell of a system in a matrix."""

    row: Annotated[str, "the source's name, the baseline's or pseudo-labels"]
    kind: Annotated[str, "of its row: source, baseline or pseudo-labels"]
    target: Annotated[str, "task"]
    shot: Annotated[str, "zero: not trained on the target's judgements; full: trained on all of them"]
    system: str


@dataclass(frozen=True)
class Matrix:
    """A table of sources by targets; `rows` maps the names of rows to labels, in the order of the table."""

    name: str
    cells: tuple[MatrixCell, ...]
    rows: dict[str, str]
    targets: tuple[str, ...]
    measure: str
    alpha: float
    title: str


@dataclass(frozen=True)
class CurvePoint:
    """A system trained from `start` with `queries` of the target; 0 queries: the starting point itself."""

    target: Annotated[str, "task"]
    start: Annotated[str, "the starting point: scratch, pseudo-labels or a source"]
    queries: Annotated[int | str, "of the target, or all; 0: the starting point itself"]
    system: str


@dataclass(frozen=True)
class Curves:
    """Curves over the number of training queries; `starts` maps the names of starting points to labels."""

    name: str
    points: tuple[CurvePoint, ...]
    starts: dict[str, str]
    targets: tuple[str, ...]
    baseline: str
    measure: str
    alpha: float
    interval: str
    title: str


OWN, BORROWED, UNKNOWN = "own", "borrowed", "unknown"


@dataclass(frozen=True)
class SeedsOf:
    """The system whose seeds are used to estimate the seed variance of a trained system."""

    status: Annotated[str, "own: several seeds of its own; borrowed: those of another system; unknown"]
    system: Annotated[str | None, "whose seeds these are"] = None
