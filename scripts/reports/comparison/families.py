"""A multiple comparison as its figure and tables show it: read from multiple-comparisons/{family}.json and its TSV.

Writes nothing. Names are replaced by labels here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.common.records import read_record
from scripts.common.tables import read_table
from scripts.records.family import FamilyRecord, ScopeRecord
from scripts.reports.comparison.reading import Labels

_LETTER = re.compile(r"\.*[A-Za-z]")
HIGHER, LOWER, OPEN = "higher", "lower", "no significant difference"


@dataclass(frozen=True)
class Standing:
    """A system on one task or over all: its mean, and its letters or what sets it apart from the control."""

    system: str
    mean: float
    sign: str
    is_control: bool = False


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
    differences: pd.DataFrame


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


def read_family(table: Path, record: Path, labels: Labels) -> FoundFamily:
    """Read the two files of a multiple comparison."""
    contents = read_record(FamilyRecord, record)
    lines = read_table(table, "task", "system", "other", "system_letters", "other_letters")
    found = [_scope(one, lines[lines["task"] == one.task], contents, labels) for one in contents.scopes]
    return FoundFamily(contents, tuple(found))


def read_families(tables: list[Path], records: list[Path], labels: Labels) -> dict[str, FoundFamily]:
    """All multiple comparisons by name, from their files in one order."""
    return {table.stem: read_family(table, record, labels) for table, record in zip(tables, records, strict=True)}


def _scope(scope: ScopeRecord, lines: pd.DataFrame, family: FamilyRecord, labels: Labels) -> Scope:
    means, signs = {}, {}
    for line in lines.to_dict("records"):
        for role in ("system", "other"):
            means[line[role]] = line[f"{role}_mean"]
            signs[line[role]] = line[f"{role}_letters"]
        if family.against:
            signs[line["system"]] = _verdict(line, family.alpha)
            signs[line["other"]] = "control"
    order = sorted(means, key=means.__getitem__, reverse=not family.lower_is_better)
    standings = tuple(Standing(labels.system(name), means[name], signs[name], name == family.against) for name in order)
    return Scope(
        task=labels.task(scope.task),
        queries=scope.queries,
        standings=standings,
        groups=tuple(group for group in _groups(standings) if len(group) > 1),
        critical_difference=scope.critical_value if family.statistic == "difference" else None,
        permutations=scope.permutations,
        exact=scope.exact,
        differences=lines.assign(system=lines["system"].map(labels.system), other=lines["other"].map(labels.system)),
    )


def _verdict(line: dict[str, Any], alpha: float) -> str:
    if line["p_value"] >= alpha:
        return OPEN
    return HIGHER if line["difference"] > 0 else LOWER


def _groups(standings: tuple[Standing, ...]) -> list[tuple[int, ...]]:
    """The places of systems that have a letter in common, or that do not differ significantly from the control."""
    if any(one.is_control for one in standings):
        return [tuple(place for place, one in enumerate(standings) if one.is_control or one.sign == OPEN)]
    members: dict[str, list[int]] = {}
    for place, one in enumerate(standings):
        for name in _LETTER.findall(one.sign):
            members.setdefault(name, []).append(place)
    return [tuple(places) for places in members.values()]
