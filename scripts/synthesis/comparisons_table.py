"""Table of the comparisons: one row each, with the summary effect, its heterogeneity and adjusted p-values.

Reads meta/{comparison}.json. Writes a TSV at full precision; `p_holm` and `p_bh` are adjusted over the `hypotheses` of
the comparison's `family` that have a p-value: several analyses of one hypothesis (MD and SMD, say) count once.
`control_tried` and `treatment_tried` are the configurations compared on dev before each side stood as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.synthesis.significance import benjamini_hochberg, holm, over_hypotheses

COLUMNS = ["comparison", "control", "treatment", "measure", "effect_type", "k", "effect", "se", "ci_low", "ci_high",
           "p_value", "family", "hypotheses", "p_holm", "p_bh", "log10_p", "p_equivalence", "p_non_inferiority",
           "prediction_low", "prediction_high", "q", "q_df", "q_p_value", "i2", "h2", "tau2", "tau2_low", "tau2_high",
           "estimator", "interval", "alpha", "ddof", "fixed_effect", "fixed_ci_low", "fixed_ci_high", "fixed_p_value",
           "control_tried", "treatment_tried"]  # fmt: skip


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


def row(name: str, meta: dict[str, Any], tried: list[int]) -> dict[str, Any]:
    """One comparison; cells that do not exist are empty."""
    summary, fixed = meta["summary"] or {}, meta.get("fixed") or {}
    low, high = meta.get("prediction_interval") or (None, None)
    tau2_low, tau2_high = meta.get("tau2_ci") or (None, None)
    values = meta | summary | meta.get("equivalence", {})
    values |= {"comparison": name, "prediction_low": low, "prediction_high": high}
    values |= {"tau2_low": tau2_low, "tau2_high": tau2_high}
    values |= {f"fixed_{key}": fixed.get(key) for key in ("effect", "ci_low", "ci_high", "p_value")}
    values |= dict(zip(("control_tried", "treatment_tried"), tried, strict=True))
    return {column: values.get(column) for column in COLUMNS}


def table(metas: dict[str, dict[str, Any]], settings: Settings) -> pd.DataFrame:
    """The rows of all comparisons."""
    rows = {name: row(name, meta, settings.tried.get(name, [1, 1])) for name, meta in metas.items()}
    of_families: dict[str, list[str]] = {}
    for name in rows:
        of_families.setdefault(settings.families.get(name, ""), []).append(name)
    for family, members in of_families.items():
        p_values = [rows[name]["p_value"] for name in members]
        hypotheses = [settings.repeated.get(name, name) for name in members]
        size = len({hypothesis for p, hypothesis in zip(p_values, hypotheses, strict=True) if p is not None})
        by_holm, by_bh = (over_hypotheses(p_values, hypotheses, adjust) for adjust in (holm, benjamini_hochberg))
        for place, name in enumerate(members):
            adjusted = {"p_holm": by_holm[place], "p_bh": by_bh[place]}
            rows[name] |= {"family": family, "hypotheses": size, **adjusted}
    return pd.DataFrame(list(rows.values()), columns=COLUMNS)


def main() -> None:
    arguments = parser(__doc__, "meta*", "table", settings=Settings).parse_args()
    metas = {path.stem: json.loads(Path(path).read_text()) for path in arguments.meta}
    with atomic_text(arguments.table) as file:
        table(metas, arguments.settings).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
