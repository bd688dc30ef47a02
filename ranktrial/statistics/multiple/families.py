"""A family of differences over the tasks: the tests of each task, those over all tasks, and warnings.

Reads and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ranktrial.statistics.multiple.contrasts import Contrasts, against, all_pairs, differences, observed, variances
from ranktrial.statistics.multiple.letters import letters
from ranktrial.statistics.multiple.parametric import dunnett_p, tukey_p, variance_of_mean
from ranktrial.statistics.multiple.permutations import Simultaneous, max_t_test
from ranktrial.statistics.task.paired import queries

OVER_TASKS = "over tasks"  # no task's name has a space
FEW_QUERIES = 10
UNLIKE = 2.0  # ratio of standard errors above which a common critical difference is inappropriate


@dataclass(frozen=True, kw_only=True)
class Family:
    """The systems of a family, by the columns of their values, and the settings of the tests."""

    systems: Annotated[list[str], "their names"]
    against: Annotated[str | None, "the control; none: all pairs"] = None
    statistic: Annotated[str, "t: difference / standard error; difference: the difference itself"] = "t"
    alpha: Annotated[float, "of the whole family; 1 - alpha is the level of the simultaneous intervals"] = 0.05
    permutations: Annotated[int, "of the permutation test, at most"] = 10_000
    seed: Annotated[int, "of the permutation test"] = 42
    lower_is_better: Annotated[bool, "of the measure: the lowest mean comes first"] = False


class Scope(NamedTuple):
    """The results for one task or over all tasks; systems by their columns."""

    task: str
    queries: int
    means: np.ndarray
    difference: np.ndarray
    se: np.ndarray
    test: Simultaneous
    half_widths: np.ndarray
    parametric_p: np.ndarray
    letters: list[str] | None


def contrasts_of(family: Family) -> Contrasts:
    """The differences that are tested together."""
    if family.against is None:
        return all_pairs(len(family.systems))
    return against(family.systems.index(family.against), len(family.systems))


def scopes(tables: dict[str, np.ndarray], family: Family) -> list[Scope]:
    """Each task and, if there are several, all of them together."""
    found = [scope(task, {task: table}, family) for task, table in tables.items()]
    return [*found, scope(OVER_TASKS, tables, family)] if len(tables) > 1 else found


def scope(name: str, tables: dict[str, np.ndarray], family: Family) -> Scope:
    """Test a family on these tasks; a table has one row per query and one column per system."""
    contrasts, values = contrasts_of(family), list(tables.values())
    test = max_t_test(values, contrasts, family.statistic, family.alpha, family.permutations, family.seed)
    tasks = [observed(table) for table in values]
    difference = differences(tasks, contrasts)[0]
    se = np.sqrt(variances(tasks, contrasts)[0])
    with np.errstate(invalid="ignore"):  # infinite: no statistic can be significant
        half = test.critical * se if family.statistic == "t" else np.full(len(se), test.critical)
    return Scope(
        task=name,
        queries=sum(map(len, values)),
        means=np.mean([table.mean(axis=0) for table in values], axis=0),
        difference=difference,
        se=se,
        test=test,
        half_widths=half,
        parametric_p=parametric(values, difference, family),
        letters=None if family.against else by_mean(values, contrasts, test, family),
    )


def parametric(tables: Sequence[np.ndarray], difference: np.ndarray, family: Family) -> np.ndarray:
    """Tukey's or Dunnett's p of the two-way model; NaN if the model leaves no error."""
    variance, df = variance_of_mean(tables)
    if not variance > 0:
        return np.full(len(difference), math.nan)
    test = tukey_p if family.against is None else dunnett_p
    return test(difference, variance, df, len(family.systems))


def by_mean(tables: Sequence[np.ndarray], contrasts: Contrasts, test: Simultaneous, family: Family) -> list[str]:
    """The letters of each system; the system with the best mean has an a."""
    means = np.mean([table.mean(axis=0) for table in tables], axis=0)
    order = np.argsort(means if family.lower_is_better else -means, kind="stable")
    place = np.argsort(order)
    significant = [
        (place[system], place[other])
        for system, other, p in zip(*contrasts, test.p_values, strict=True)
        if p < family.alpha
    ]
    in_order = letters(len(order), significant)
    return [in_order[position] for position in place]


def family_warnings(found: Sequence[Scope], family: Family) -> list[str]:
    """Warnings about a test with little power, or a statistic that does not suit all pairs, as text."""
    said = []
    for one in found:
        se = one.se[one.se > 0]
        if one.task != OVER_TASKS and one.queries < FEW_QUERIES:
            said.append(f"{one.task}: {queries(one.queries)}; below {FEW_QUERIES} hardly any difference is significant")
        if not math.isfinite(one.test.critical):
            said.append(f"{one.task}: no difference, however large, can be significant: too few queries")
        elif family.statistic == "difference" and len(se) and se.max() > UNLIKE * se.min():
            problem = f"the standard errors of the differences differ by a factor of {se.max() / se.min():.1f}"
            said.append(
                f"{one.task}: {problem}, so one critical difference does not fit all; statistic: t allows for that"
            )
    return said
