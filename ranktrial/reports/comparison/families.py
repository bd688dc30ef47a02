"""The results of a multiple comparison for figures and tables, from multiple-comparisons/{family}.json and its TSV.

Writes nothing. Names are replaced by labels here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ranktrial.common.records import read_record
from ranktrial.common.tables import read_table
from ranktrial.records.family import Difference, FamilyRecord, ScopeRecord
from ranktrial.reports.comparison.reading import Labels
from ranktrial.statistics.multiple.ranks import rank_intervals

_LETTER = re.compile(r"\.*[A-Za-z]")
HIGHER, LOWER, OPEN = "higher", "lower", "no significant difference"


@dataclass(frozen=True)
class Standing:
    """A system on one task or over all: its mean, and its letters or what sets it apart from the control.

    `ranks` are the ends of its rank interval, where all pairs are compared.
    """

    system: str
    mean: float
    sign: str
    is_control: bool = False
    ranks: tuple[int, int] | None = None


@dataclass(frozen=True)
class Scope:
    """One task or all together. `standings` begin with the best mean; `groups` are the places there of systems that
    do not differ significantly.
    """

    task: str
    queries: int
    standings: tuple[Standing, ...]
    groups: tuple[tuple[int, ...], ...]
    critical_difference: float | None
    permutations: int
    exact: bool
    differences: list[Difference]


@dataclass(frozen=True)
class FoundFamily:
    """The results of one multiple comparison; the last scope is that over all tasks, or the only task."""

    record: FamilyRecord
    scopes: tuple[Scope, ...]

    @property
    def whole(self) -> Scope:
        """All tasks together."""
        return self.scopes[-1]

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return max(1, len(self.scopes) - 1)

    def unbeaten(self, task: str, systems: Collection[str]) -> set[str]:
        """The systems that do not differ significantly from the best on a task; none if other systems were tested."""
        for scope in self.scopes:
            names = [one.system for one in scope.standings]
            if scope.task == task and set(names) == set(systems):
                return {names[0], *(names[place] for group in scope.groups if 0 in group for place in group)}
        return set()


def read_family(table: Path, record: Path, labels: Labels) -> FoundFamily:
    """Read the two files of a multiple comparison."""
    contents = read_record(FamilyRecord, record)
    lines = read_table(table, "task", "system", "other", "system_letters", "other_letters")
    found = [_scope(one, lines[lines["task"] == one.task], contents, labels) for one in contents.scopes]
    return FoundFamily(contents, tuple(found))


def of_all_pairs(families: Mapping[str, FoundFamily], measure: str) -> tuple[str, FoundFamily | None]:
    """The first family of all pairs with this measure and its name."""
    every = (one for one in families.items() if one[1].record.measure == measure and one[1].record.against is None)
    return next(every, ("", None))


def read_families(tables: list[Path], records: list[Path], labels: Labels) -> dict[str, FoundFamily]:
    """All multiple comparisons by name, from their files in one order."""
    return {table.stem: read_family(table, record, labels) for table, record in zip(tables, records, strict=True)}


def _scope(scope: ScopeRecord, lines: pd.DataFrame, family: FamilyRecord, labels: Labels) -> Scope:
    means, signs = {}, {}
    differences = [Difference(**line) for line in lines.to_dict("records")]
    for one in differences:
        means |= {one.system: one.system_mean, one.other: one.other_mean}
        signs |= {one.system: one.system_letters or "", one.other: one.other_letters or ""}
        if family.against:
            signs |= {one.system: _verdict(one, family.alpha), one.other: "control"}
    order = sorted(means, key=means.__getitem__, reverse=not family.lower_is_better)
    ranks = dict.fromkeys(order) if family.against else _ranks(order, differences, family)
    standings = tuple(
        Standing(labels.system(name), means[name], signs[name], name == family.against, ranks[name]) for name in order
    )
    return Scope(
        task=labels.task(scope.task),
        queries=scope.queries,
        standings=standings,
        groups=tuple(group for group in _groups(standings) if len(group) > 1),
        critical_difference=scope.critical_value if family.statistic == "difference" else None,
        permutations=scope.permutations,
        exact=scope.exact,
        differences=[
            replace(one, system=labels.system(one.system), other=labels.system(one.other)) for one in differences
        ],
    )


def _ranks(order: list[str], differences: list[Difference], family: FamilyRecord) -> dict[str, tuple[int, int] | None]:
    place = {name: index for index, name in enumerate(order)}  # the better of two means stands before the other
    pairs = [sorted((place[one.system], place[one.other])) for one in differences if one.p_value < family.alpha]
    return dict(zip(order, rank_intervals(len(order), [(first, second) for first, second in pairs]), strict=True))


def _verdict(one: Difference, alpha: float) -> str:
    if one.p_value >= alpha:
        return OPEN
    return HIGHER if one.difference > 0 else LOWER


def _groups(standings: tuple[Standing, ...]) -> list[tuple[int, ...]]:
    """The places of systems that have a letter in common, or that do not differ significantly from the control."""
    if any(one.is_control for one in standings):
        return [tuple(place for place, one in enumerate(standings) if one.is_control or one.sign == OPEN)]
    members: dict[str, list[int]] = {}
    for place, one in enumerate(standings):
        for name in _LETTER.findall(one.sign):
            members.setdefault(name, []).append(place)
    return [tuple(places) for places in members.values()]
