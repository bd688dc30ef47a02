"""multiple-comparisons/{family}.json and its table: simultaneous tests of many systems, and their differences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScopeRecord:
    """The test on one task or over all tasks; `critical_value` None: no difference can be significant."""

    task: str
    queries: int
    permutations: int
    exact: bool
    critical_value: float | None


@dataclass(frozen=True)
class Difference:
    """One row of the table: two systems on one task or over all tasks; the fields are the columns."""

    task: str
    n: int
    system: str
    other: str
    system_mean: float
    other_mean: float
    difference: float
    se: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float
    parametric_p_value: float | None
    system_letters: str | None
    other_letters: str | None


@dataclass(frozen=True)
class FamilyRecord:
    """A family, its settings and its tests; `seeds` is the number of seeds per system. `of_tasks`: a value is the
    score of a task of a leaderboard, not of a query.
    """

    systems: list[str]
    against: str | None
    measure: str
    statistic: str
    alpha: float
    lower_is_better: bool
    seeds: dict[str, int]
    scopes: tuple[ScopeRecord, ...]
    warnings: tuple[str, ...]
    of_tasks: bool = False
