"""The table of all comparisons: one row each, with the summary effect, its heterogeneity and adjusted p-values.

Each test (of the random-effects summary, of the mean on these collections, of the summary against the margin) is
adjusted separately over the hypotheses of the comparison's `family` that have it: several scales of one hypothesis
(such as MD and SMD) count once. `control_tried` and `treatment_tried` are the numbers of configurations compared on dev
to obtain each system. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

import pandas as pd

from ranktrial.records.comparison import ComparisonRow, MetaRecord
from ranktrial.statistics.significance import CORRECTIONS, over_hypotheses

COLUMNS = [column.name for column in fields(ComparisonRow)]
ENDS = ("low", "high")
TESTS = {  # column of a p-value -> prefix of the names of its adjusted ones
    "p_value": "p",
    "fixed_mean_p_value": "fixed_mean_p",
    "p_equivalence": "p_equivalence",
    "p_non_inferiority": "p_non_inferiority",
}


@dataclass(frozen=True)
class Settings:
    """Properties of the comparisons other than their numbers."""

    tried: Annotated[dict[str, list[int]], "comparison: configurations tried for control, treatment; default 1, 1"] = (
        field(default_factory=dict)
    )
    repeated: Annotated[dict[str, str], "comparison: an earlier one that tests the same hypothesis"] = field(
        default_factory=dict
    )
    families: Annotated[dict[str, str], "comparison: the family within which it is adjusted, where it names one"] = (
        field(default_factory=dict)
    )


def row(name: str, meta: MetaRecord, tried: list[int], family: str) -> ComparisonRow:
    """One comparison; cells that do not apply are empty."""
    numbers = meta.numbers
    tests = vars(meta.equivalence) if meta.equivalence else {}
    intervals = {"prediction": numbers.get("prediction_interval"), "tau2": numbers.get("tau2_ci")}
    ends = {
        f"{of}_{end}": value for of, found in intervals.items() for end, value in zip(ENDS, found or (), strict=False)
    }
    means = {
        f"{of}_{key}": getattr(numbers.get(of), key, None)
        for of in ("fixed", "fixed_mean")
        for key in ("effect", "ci_low", "ci_high", "p_value")
    }
    budgets = dict(zip(("control_tried", "treatment_tried"), tried, strict=True))
    values = {**numbers, **tests, **ends, **means, **budgets, **_unjudged(meta), "comparison": name, "family": family}
    values["of_tasks"] = int(meta.of_tasks)
    own: dict[str, Any] = {name: values[name] for name in COLUMNS if name in values}
    return ComparisonRow(**own)


def _unjudged(meta: MetaRecord) -> dict[str, float | None]:
    """The number of unjudged documents per query, and the means on these collections in the cases of holes.py."""
    if meta.unjudged is None:
        return {"unjudged": None}
    ends = {
        f"{case}_{key}": getattr(found.fixed_mean, key)
        for case, found in meta.unjudged.cases.items()
        for key in ("effect", "ci_low", "ci_high")
    }
    numbers = meta.unjudged.number.values()
    return {"unjudged": sum(numbers) / len(numbers), **ends}


def comparisons(metas: Mapping[str, MetaRecord], settings: Settings) -> pd.DataFrame:
    """The rows of all comparisons."""
    of_families: dict[str, list[str]] = {}
    for name in metas:
        of_families.setdefault(settings.families.get(name, ""), []).append(name)
    rows: dict[str, ComparisonRow] = {}
    for family, members in of_families.items():
        alone = [row(name, metas[name], settings.tried.get(name, [1, 1]), family) for name in members]
        rows |= zip(members, adjusted(alone, [settings.repeated.get(name, name) for name in members]), strict=True)
    return pd.DataFrame([rows[name] for name in metas], columns=COLUMNS)


def adjusted(family: list[ComparisonRow], hypotheses: list[str]) -> list[ComparisonRow]:
    """The rows of a family with adjusted p-values and numbers of hypotheses; `hypotheses` names that of each."""
    sizes = {
        "hypotheses": _size(family, hypotheses, "p_value", "fixed_mean_p_value"),
        "margin_hypotheses": _size(family, hypotheses, "p_non_inferiority"),
    }
    cells: list[dict[str, Any]] = [dict(sizes) for _ in family]
    for column, test in TESTS.items():
        p_values = [getattr(row, column) for row in family]
        counted = list(map(_untested_is_1, family)) if column == "p_value" else p_values
        for correction, by in CORRECTIONS.items():
            for cell, p, value in zip(cells, p_values, over_hypotheses(counted, hypotheses, by), strict=True):
                cell[f"{test}_{correction}"] = None if p is None else value
    return [replace(row, **cell) for row, cell in zip(family, cells, strict=True)]


def _untested_is_1(row: ComparisonRow) -> float | None:
    """The p-value of a summary; 1 for equal effects, which have no test, so that the family is complete."""
    return 1.0 if row.p_value is None and row.fixed_mean_p_value is not None else row.p_value


def _size(family: list[ComparisonRow], hypotheses: list[str], *columns: str) -> int:
    """The number of hypotheses with a value in one of these columns."""
    tested = [any(getattr(row, column) is not None for column in columns) for row in family]
    return len({hypothesis for hypothesis, is_tested in zip(hypotheses, tested, strict=True) if is_tested})
