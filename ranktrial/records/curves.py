"""curves/{curve}.json: a measure over the number of training queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import INLINE
from ranktrial.statistics.significance import Difference

ALL = "all"  # the number of queries of a point that was trained with all queries of its target


@dataclass(frozen=True)
class Baseline:
    """The baseline on a target: its mean and the number of queries."""

    mean: float
    n: int


@dataclass(frozen=True)
class AgainstStart:
    """A point minus its starting point; per sample, minus the checkpoint from which it was trained further."""

    difference: Annotated[Difference, INLINE]
    samples: dict[str, float]


@dataclass(frozen=True)
class Point:
    """A system on a curve: `queries` as configured (0: the starting point, or all), `size` their number.

    `samples` are the means per seed; `sd` and `t_interval` are over them, None for one sample. `n` queries are ranked.
    """

    target: str
    start: str
    queries: int | str
    size: int
    system: str
    samples: dict[str, float]
    mean: float
    sd: float | None
    n: int
    t_interval: tuple[float, float] | None
    against_baseline: Difference
    against_start: AgainstStart | None


@dataclass(frozen=True)
class Pair:
    """Two starting points, trained with all queries of a target: `start` minus `other`."""

    target: str
    start: str
    other: str
    difference: Annotated[Difference, INLINE]
    p_holm: float | None


@dataclass(frozen=True)
class CurvesRecord:
    """Curves: their points, and the comparison of starting points trained with all queries."""

    measure: str
    alpha: float
    baseline: dict[str, Baseline]
    points: tuple[Point, ...]
    full: tuple[Pair, ...]
