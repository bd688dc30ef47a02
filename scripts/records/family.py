"""multiple-comparisons/{family}.json: the tests of many systems at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScopeRecord:
    """The test on one task or over all of them; `critical_value` None: no difference can be significant."""

    task: str
    queries: int
    permutations: int
    exact: bool
    critical_value: float | None


@dataclass(frozen=True)
class FamilyRecord:
    """A family, its settings and its tests; `seeds` is the number of seeds by system."""

    systems: list[str]
    against: str | None
    measure: str
    statistic: str
    alpha: float
    lower_is_better: bool
    seeds: dict[str, int]
    scopes: tuple[ScopeRecord, ...]
    warnings: tuple[str, ...]
