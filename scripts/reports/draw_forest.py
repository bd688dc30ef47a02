"""Draw the forest plot of a comparison.

Reads effects/{comparison}.tsv and meta/{comparison}.json. Writes figures/{comparison}.svg, .pdf and .png.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from scripts.common.cli import parser
from scripts.common.errors import run
from scripts.reports.forest import forest_plot, save
from scripts.reports.forest_data import Diamond, Forest, Group, Heterogeneity, Row


def read_rows(path: Path) -> tuple[Row, ...]:
    """The tasks of an effects file, in its order; empty cells are None."""
    table = pd.read_csv(path, sep="\t", dtype={"task": str, "undefined": str}).astype(object)
    table = table.where(table.notna(), None)
    fields = [name for name in Row.__dataclass_fields__ if name in table]
    return tuple(Row(**{name: one[name] for name in fields}) for one in table.to_dict("records"))


def diamond(meta: dict) -> Diamond | None:
    """The summary of a meta file; None where no task has an effect."""
    summary = meta["summary"]
    if summary is None:
        return None
    prediction = meta["prediction_interval"]
    ends = {name: summary[name] for name in ("effect", "ci_low", "ci_high", "p_value")}
    return Diamond(**ends, prediction_interval=tuple(prediction) if prediction else None)


def heterogeneity(meta: dict) -> Heterogeneity | None:
    """The heterogeneity of a meta file; None for fewer than two tasks."""
    if meta.get("q") is None:
        return None
    return Heterogeneity(
        q=meta["q"], df=meta["q_df"], p_value=meta["q_p_value"], i2=meta["i2"], tau2=meta["tau2"],
        tau2_ci=tuple(meta["tau2_ci"]),
    )  # fmt: skip


def forest(rows: tuple[Row, ...], meta: dict, settings: dict) -> Forest:
    """The forest plot of one comparison."""
    return Forest(
        control=meta["control"],
        groups=(Group(meta["treatment"], rows, diamond(meta), heterogeneity(meta)),),
        effect_type=meta["effect_type"],
        measure=meta["measure"],
        **{key: settings[key] for key in ("alpha", "estimator", "interval", "judged", "title", "sort", "width")},
    )


def main() -> None:
    arguments = parser(__doc__, "effects", "meta", "figure").parse_args()
    meta = json.loads(arguments.meta.read_text())
    plot = forest_plot(forest(read_rows(arguments.effects), meta, arguments.settings))
    save(plot, arguments.figure)


if __name__ == "__main__":
    run(main)
