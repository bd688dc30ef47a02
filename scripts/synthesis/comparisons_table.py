"""Table of the comparisons: one row each, with the summary effect, its heterogeneity and adjusted p-values.

Reads meta/{comparison}.json. Writes a TSV at full precision. Each test (of the random-effects summary, of the mean on
these collections, of the summary against the margin) is adjusted by itself over the hypotheses of the comparison's
`family` that have it: several analyses of one hypothesis (MD and SMD, say) count once.
`control_tried` and `treatment_tried` are the configurations compared on dev before each side stood as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.common.records import read_record
from scripts.records.comparison import MetaRecord
from scripts.statistics.multiple.corrections import CORRECTIONS, over_hypotheses

COLUMNS = ["comparison", "control", "treatment", "measure", "effect_type", "k", "effect", "se", "ci_low", "ci_high",
           "p_value", "family", "hypotheses", "p_holm", "p_bh", "log10_p", "fixed_mean_effect", "fixed_mean_ci_low",
           "fixed_mean_ci_high", "fixed_mean_p_value", "fixed_mean_p_holm", "fixed_mean_p_bh", "margin_hypotheses",
           "p_equivalence", "p_equivalence_holm", "p_equivalence_bh", "p_non_inferiority", "p_non_inferiority_holm",
           "p_non_inferiority_bh", "prediction_low", "prediction_high", "q", "q_df", "q_p_value", "i2", "h2", "tau2",
           "tau2_low", "tau2_high", "estimator", "interval", "alpha", "ddof", "fixed_effect", "fixed_ci_low",
           "fixed_ci_high", "fixed_p_value", "control_tried", "treatment_tried"]  # fmt: skip
ENDS = ("low", "high")
TESTS = {  # column of a p-value -> beginning of the names of its adjusted ones
    "p_value": "p",
    "fixed_mean_p_value": "fixed_mean_p",
    "p_equivalence": "p_equivalence",
    "p_non_inferiority": "p_non_inferiority",
}


@dataclass(frozen=True)
class Settings:
    """What is known of the comparisons beside their numbers."""

    tried: Annotated[dict[str, list[int]], "comparison: configurations tried for control, treatment; default 1, 1"] = (
        field(default_factory=dict)
    )
    repeated: Annotated[dict[str, str], "comparison: an earlier one that tests the same hypothesis"] = field(
        default_factory=dict
    )
    families: Annotated[dict[str, str], "comparison: the family within which it is adjusted, where it names one"] = (
        field(default_factory=dict)
    )


def row(name: str, meta: MetaRecord, tried: list[int]) -> dict[str, Any]:
    """One comparison; cells that do not exist are empty."""
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
    values = {**numbers, **tests, **ends, **means, **budgets, "comparison": name}
    return {column: values.get(column) for column in COLUMNS}


def table(metas: dict[str, MetaRecord], settings: Settings) -> pd.DataFrame:
    """The rows of all comparisons."""
    rows = {name: row(name, meta, settings.tried.get(name, [1, 1])) for name, meta in metas.items()}
    of_families: dict[str, list[str]] = {}
    for name in rows:
        of_families.setdefault(settings.families.get(name, ""), []).append(name)
    for family, members in of_families.items():
        hypotheses = [settings.repeated.get(name, name) for name in members]
        adjust([rows[name] for name in members], hypotheses)
        for name in members:
            rows[name]["family"] = family
    return pd.DataFrame(list(rows.values()), columns=COLUMNS)


def adjust(family: list[dict[str, Any]], hypotheses: list[str]) -> None:
    """Add adjusted p-values and the numbers of hypotheses to the rows of a family; `hypotheses` names that of each."""
    for column, test in TESTS.items():
        p_values = [row[column] for row in family]
        counted = [_untested_is_1(row) for row in family] if column == "p_value" else p_values
        for correction, by in CORRECTIONS.items():
            for row, p, adjusted in zip(family, p_values, over_hypotheses(counted, hypotheses, by), strict=True):
                row[f"{test}_{correction}"] = None if p is None else adjusted
    sizes = {"hypotheses": _size(family, hypotheses, "p_value", "fixed_mean_p_value")}
    sizes["margin_hypotheses"] = _size(family, hypotheses, "p_non_inferiority")
    for row in family:
        row |= sizes


def _untested_is_1(row: dict[str, Any]) -> float | None:
    """The p-value of a summary; that of equal effects, which has no test, counts as 1: the family stays whole."""
    p: float | None = row["p_value"]
    return 1.0 if p is None and row["fixed_mean_p_value"] is not None else p


def _size(family: list[dict[str, Any]], hypotheses: list[str], *columns: str) -> int:
    """How many hypotheses have a number in one of these columns."""
    tested = [any(row[column] is not None for column in columns) for row in family]
    return len({hypothesis for hypothesis, is_tested in zip(hypotheses, tested, strict=True) if is_tested})


def main() -> None:
    arguments = parser(__doc__, "meta*", "table", settings=Settings).parse_args()
    metas = {path.stem: read_record(MetaRecord, path) for path in arguments.meta}
    with atomic_text(arguments.table) as file:
        table(metas, arguments.settings).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
