"""Table of the comparisons: a row each, with the summary effect and its heterogeneity.

Reads meta/{comparison}.json. Writes a TSV at full precision.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from scripts.common.cli import parser
from scripts.common.errors import run
from scripts.common.files import whole_text


def row(name: str, meta: dict) -> dict:
    """One comparison; cells that do not exist are empty."""
    summary = meta["summary"] or {}
    low, high = meta.get("prediction_interval") or (None, None)
    tau2_low, tau2_high = meta.get("tau2_ci") or (None, None)
    return {
        "comparison": name,
        **{key: meta[key] for key in ("control", "treatment", "measure", "effect_type", "k")},
        **{key: summary.get(key) for key in ("effect", "se", "ci_low", "ci_high", "p_value")},
        "prediction_low": low,
        "prediction_high": high,
        **{key: meta.get(key) for key in ("q", "q_df", "q_p_value", "i2", "tau2")},
        "tau2_low": tau2_low,
        "tau2_high": tau2_high,
    }


def main() -> None:
    arguments = parser(__doc__, "meta*", "table", settings=False).parse_args()
    table = pd.DataFrame([row(path.stem, json.loads(Path(path).read_text())) for path in arguments.meta])
    with whole_text(arguments.table) as file:
        table.to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
