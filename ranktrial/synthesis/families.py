"""The settings and outputs of a multiple comparison's job: the rows of its table and its record.

Reads and writes nothing itself; the tests are those of statistics/multiple.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.common.projection import filled
from ranktrial.ir.nouns import Nouns, nouns_of
from ranktrial.ir.scores import are_counted, check_scales
from ranktrial.records.comparison import Difference, FamilyRecord, ScopeRecord
from ranktrial.statistics.measure_scale import reach_of, within_reach
from ranktrial.statistics.multiple import Family, Scope, contrasts_of, family_warnings, scopes
from ranktrial.synthesis.metrics_files import on_common_queries


@dataclass(frozen=True, kw_only=True)
class Settings(Family):
    """One family of comparisons."""

    measure: Annotated[str, "column of the metrics files"]
    of_tasks: Annotated[bool, "a value is the score of a task of a leaderboard, not of a query"] = False


ScoresBySystem = Mapping[str, pd.DataFrame]  # of one task, each by query (index) and seed (columns)


def compared_at_once(scores: Mapping[str, ScoresBySystem], settings: Settings) -> tuple[pd.DataFrame, FamilyRecord]:
    """The table and the record of a family, from the scores by task and system.

    Values are paired by query id; several seeds of a system are averaged query by query first, so that all that is said
    holds for these checkpoints: other seeds would add to the uncertainty. Raises UserError for systems without a common
    query, or on different scales.
    """
    tables, warnings, seeds = {}, [], dict.fromkeys(settings.systems, 0)
    nouns = nouns_of(settings.measure, settings.of_tasks)
    for task, of_systems in scores.items():
        values = {name: of_systems[name] for name in settings.systems}
        seeds = {name: max(seeds[name], values[name].shape[1]) for name in settings.systems}
        check_scales({name: one.to_numpy().ravel().tolist() for name, one in values.items()}, task, settings.measure)
        tables[task], said = on_common_queries({name: one.mean(axis=1) for name, one in values.items()}, task, nouns)
        warnings += [said] if said else []
    warnings += with_shared_queries(tables, nouns)
    found = scopes({task: table.to_numpy() for task, table in tables.items()}, settings)
    reach = reach_of(settings.measure, (table.to_numpy() for table in tables.values()))
    return rows(found, settings, reach), record_of(found, settings, seeds, warnings)


def with_shared_queries(tables: Mapping[str, pd.DataFrame], nouns: Nouns) -> list[str]:
    """The tasks that have the same query ids, as text: over tasks they are taken to be independent."""
    alike: dict[frozenset[str], list[str]] = {}
    for task, table in tables.items():
        alike.setdefault(frozenset(table.index), []).append(task)
    groups = [tasks for ids, tasks in alike.items() if len(tasks) > 1 and not are_counted(ids)]
    why = f"over tasks these count as different {nouns.queries}; if they are the same, too many differences are "
    why += "significant there"
    return [f"{', '.join(tasks)} have the same {nouns.query} ids: {why}" for tasks in groups]


def rows(found: Sequence[Scope], settings: Settings, reach: float | None) -> pd.DataFrame:
    """One row per scope and difference; cells that do not apply are empty. Intervals end at `reach`, the largest
    difference that the measure allows."""
    contrasts = contrasts_of(settings)
    pairs = list(enumerate(zip(*contrasts, strict=True)))
    return pd.DataFrame([_difference(one, number, i, j, settings, reach) for one in found for number, (i, j) in pairs])


def _difference(one: Scope, number: int, i: int, j: int, settings: Settings, reach: float | None) -> Difference:
    """The difference of this number in a scope, of systems i and j."""
    difference, half = one.difference[number], one.half_widths[number]
    return Difference(
        task=one.task,
        n=one.queries,
        system=settings.systems[i],
        other=settings.systems[j],
        system_mean=one.means[i],
        other_mean=one.means[j],
        difference=difference,
        se=_finite(one.se[number]),
        ci_low=_finite(within_reach(difference - half, reach)) if math.isfinite(half) else None,
        ci_high=_finite(within_reach(difference + half, reach)) if math.isfinite(half) else None,
        p_value=one.test.p_values[number],
        parametric_p_value=_finite(one.parametric_p[number]),
        system_letters=one.letters[i] if one.letters else None,
        other_letters=one.letters[j] if one.letters else None,
    )


def record_of(found: Sequence[Scope], settings: Settings, seeds: dict[str, int], warnings: list[str]) -> FamilyRecord:
    """The content of multiple-comparisons/{family}.json; `seeds` is the number of seeds by system."""
    nouns = nouns_of(settings.measure, settings.of_tasks)
    said = (*warnings, *family_warnings(found, settings, (nouns.query, nouns.queries)))
    return filled(FamilyRecord, settings, seeds=seeds, scopes=tuple(map(_scope, found)), warnings=said)


def _scope(found: Scope) -> ScopeRecord:
    test = found.test
    return ScopeRecord(found.task, found.queries, test.permutations, test.exact, _finite(test.critical))


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
