"""A family of differences over the tasks: each task's tests, those over all tasks, and what is to be said about them.

Reads and writes nothing; `rows` are the lines of tables/multiple-comparisons/{family}.tsv.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.synthesis.multiple.contrasts import Contrasts, against, all_pairs, differences, observed, variances
from scripts.synthesis.multiple.letters import letters
from scripts.synthesis.multiple.parametric import dunnett_p, tukey_p, variance_of_mean
from scripts.synthesis.multiple.permutations import Simultaneous, max_t_test
from scripts.synthesis.paired import queries

OVER_TASKS = "over tasks"  # no task's name has a space
FEW_QUERIES = 10
UNLIKE = 2.0  # standard errors of one family that differ by more have no common critical difference


@dataclass(frozen=True)
class Settings:
    """One family of comparisons."""

    systems: Annotated[list[str], "their names"]
    measure: Annotated[str, "column of the metrics files"]
    statistic: Annotated[str, "t: difference / standard error; difference: the difference itself"]
    alpha: Annotated[float, "of the whole family; 1 - alpha is the level of the simultaneous intervals"]
    permutations: Annotated[int, "of the permutation test, at most"]
    seed: Annotated[int, "of the permutation test"]
    against: Annotated[str | None, "the control; none: all pairs"] = None
    lower_is_better: Annotated[bool, "of the measure: the lowest mean comes first"] = False


class Scope(NamedTuple):
    """The results of one task or over all of them; systems by their columns."""

    task: str
    queries: int
    means: np.ndarray
    difference: np.ndarray
    se: np.ndarray
    test: Simultaneous
    half_widths: np.ndarray
    parametric_p: np.ndarray
    letters: list[str] | None


def family_of(settings: Settings) -> Contrasts:
    """The differences that are tested together."""
    if settings.against is None:
        return all_pairs(len(settings.systems))
    return against(settings.systems.index(settings.against), len(settings.systems))


def scopes(tables: dict[str, np.ndarray], settings: Settings) -> list[Scope]:
    """Each task and, where there are several, all of them together."""
    found = [scope(task, {task: table}, settings) for task, table in tables.items()]
    return [*found, scope(OVER_TASKS, tables, settings)] if len(tables) > 1 else found


def scope(name: str, tables: dict[str, np.ndarray], settings: Settings) -> Scope:
    """Test a family on these tasks; a table holds one row per query and one column per system."""
    contrasts, values = family_of(settings), list(tables.values())
    test = max_t_test(values, contrasts, settings.statistic, settings.alpha, settings.permutations, settings.seed)
    tasks = [observed(table) for table in values]
    difference = differences(tasks, contrasts)[0]
    se = np.sqrt(variances(tasks, contrasts)[0])
    with np.errstate(invalid="ignore"):  # without an end: no statistic of this size can be significant
        half = test.critical * se if settings.statistic == "t" else np.full(len(se), test.critical)
    return Scope(
        task=name,
        queries=sum(map(len, values)),
        means=np.mean([table.mean(axis=0) for table in values], axis=0),
        difference=difference,
        se=se,
        test=test,
        half_widths=half,
        parametric_p=parametric(values, difference, settings),
        letters=None if settings.against else by_mean(values, contrasts, test, settings),
    )


def parametric(tables: Sequence[np.ndarray], difference: np.ndarray, settings: Settings) -> np.ndarray:
    """Tukey's or Dunnett's p of the two-way model; NaN where the model leaves no error."""
    variance, df = variance_of_mean(tables)
    if not variance > 0:
        return np.full(len(difference), math.nan)
    test = tukey_p if settings.against is None else dunnett_p
    return test(difference, variance, df, len(settings.systems))


def by_mean(tables: Sequence[np.ndarray], contrasts: Contrasts, test: Simultaneous, settings: Settings) -> list[str]:
    """The letters of each system; the system with the best mean has an a."""
    means = np.mean([table.mean(axis=0) for table in tables], axis=0)
    order = np.argsort(means if settings.lower_is_better else -means, kind="stable")
    place = np.argsort(order)
    significant = [
        (place[system], place[other])
        for system, other, p in zip(*contrasts, test.p_values, strict=True)
        if p < settings.alpha
    ]
    in_order = letters(len(order), significant)
    return [in_order[position] for position in place]


def rows(found: Sequence[Scope], settings: Settings) -> pd.DataFrame:
    """A line a scope and difference; cells that do not exist are empty."""
    contrasts = family_of(settings)
    lines: list[dict[str, Any]] = []
    for one in found:
        for number, (i, j) in enumerate(zip(*contrasts, strict=True)):
            difference, half = one.difference[number], one.half_widths[number]
            lines.append(
                {
                    "task": one.task,
                    "n": one.queries,
                    "system": settings.systems[i],
                    "other": settings.systems[j],
                    "system_mean": one.means[i],
                    "other_mean": one.means[j],
                    "difference": difference,
                    "se": _finite(one.se[number]),
                    "ci_low": _finite(difference - half),
                    "ci_high": _finite(difference + half),
                    "p_value": one.test.p_values[number],
                    "parametric_p_value": _finite(one.parametric_p[number]),
                    "system_letters": one.letters[i] if one.letters else None,
                    "other_letters": one.letters[j] if one.letters else None,
                }
            )
    return pd.DataFrame(lines)


def record(found: Sequence[Scope], settings: Settings, seeds: dict[str, int], warnings: list[str]) -> dict[str, Any]:
    """What multiple-comparisons/{family}.json holds; `seeds` is the number of seeds by system."""
    return {
        "systems": settings.systems,
        "against": settings.against,
        "measure": settings.measure,
        "statistic": settings.statistic,
        "alpha": settings.alpha,
        "lower_is_better": settings.lower_is_better,
        "seeds": seeds,
        "scopes": [
            {
                "task": one.task,
                "queries": one.queries,
                "permutations": one.test.permutations,
                "exact": one.test.exact,
                "critical_value": _finite(one.test.critical),
            }
            for one in found
        ],
        "warnings": [*warnings, *_warnings(found, settings)],
    }


def _warnings(found: Sequence[Scope], settings: Settings) -> list[str]:
    said = []
    for one in found:
        se = one.se[one.se > 0]
        if one.task != OVER_TASKS and one.queries < FEW_QUERIES:
            said.append(f"{one.task}: {queries(one.queries)}; below {FEW_QUERIES} hardly any difference is significant")
        if not math.isfinite(one.test.critical):
            said.append(f"{one.task}: no difference, however large, can be significant: too few queries")
        elif settings.statistic == "difference" and len(se) and se.max() > UNLIKE * se.min():
            problem = f"the standard errors of the differences differ by a factor of {se.max() / se.min():.1f}"
            said.append(
                f"{one.task}: {problem}, so one critical difference does not fit all; statistic: t allows for that"
            )
    return said


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
