"""Draw the importance of each feature to a ranker: by permutation, gain and SHAP, means over its seeds.

Reads the tables of importance, one per seed. Writes figures/importance/{source}/{system}.svg, .pdf and .png. Features
are in the order of what the measure loses without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import run
from ranktrial.common.errors import UserError
from ranktrial.experiment.drawing import Typeset
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from ranktrial.reports.figures.importance import Panel, importance_chart, mean_importance, read_importance


@dataclass(frozen=True)
class Settings(Typeset):
    title: Annotated[str, "the figure's title"]
    measure: Annotated[str, "the measure that falls when a feature is shuffled"]


def panels_of(tables: list[pd.DataFrame], measure: str) -> tuple[list[str], list[Panel]]:
    """The features in the order of the figure, and a panel for each column that has numbers: means of the tables."""
    whole = mean_importance(tables)
    panels = [
        Panel(
            f"Permutation: fall of {measure} on dev (± 1 SD of the shuffles)",
            whole["permutation"].tolist(),
            whole["permutation_sd"].tolist(),
        )
    ]
    labels = {"shap": "SHAP: mean |value| on dev, in units of the score", "gain": "Gain: share of all splits' gain"}
    panels += [Panel(label, whole[key].tolist()) for key, label in labels.items() if whole[key].notna().all()]
    return list(whole.index), panels


def main() -> None:
    arguments = figure_arguments(__doc__, "tables*", settings=Settings)
    if not arguments.tables:
        raise UserError("--tables: expected at least one")
    features, panels = panels_of([read_importance(path) for path in arguments.tables], arguments.settings.measure)
    chart = importance_chart(arguments.settings.title, features, panels)
    save(chart, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
