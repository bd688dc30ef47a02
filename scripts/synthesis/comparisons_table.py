"""Table of the comparisons: one row each, with the summary effect, its heterogeneity and p-values for their number.

Reads meta/{comparison}.json. Writes a TSV at full precision; `p_holm` and `p_bh` are adjusted over all comparisons.
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
from scripts.synthesis.significance import benjamini_hochberg, holm

COLUMNS = ["comparison", "control", "treatment", "measure", "effect_type", "k", "effect", "se", "ci_low", "ci_high",
           "p_value", "p_holm", "p_bh", "log10_p", "p_equivalence", "p_non_inferiority", "prediction_low",
           "prediction_high", "q", "q_df", "q_p_value", "i2", "h2", "tau2", "tau2_low", "tau2_high", "estimator",
           "interval", "alpha", "ddof", "fixed_effect", "fixed_ci_low", "fixed_ci_high", "fixed_p_value",
           "control_tried", "treatment_tried"]  # fmt: skip


@dataclass(frozen=True)
class Settings:
    tried: Annotated[dict[str, list[int]], "comparison: configurations tried for control, treatment; default 1, 1"] = (
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


def table(metas: dict[str, dict[str, Any]], tried: dict[str, list[int]]) -> pd.DataFrame:
    """The rows of all comparisons."""
    rows = [row(name, meta, tried.get(name, [1, 1])) for name, meta in metas.items()]
    p_values = [cells["p_value"] for cells in rows]
    for cells, by_holm, by_bh in zip(rows, holm(p_values), benjamini_hochberg(p_values), strict=True):
        cells |= {"p_holm": by_holm, "p_bh": by_bh}
    return pd.DataFrame(rows, columns=COLUMNS)


def main() -> None:
    arguments = parser(__doc__, "meta*", "table", settings=Settings).parse_args()
    metas = {path.stem: json.loads(Path(path).read_text()) for path in arguments.meta}
    with atomic_text(arguments.table) as file:
        table(metas, arguments.settings.tried).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
