"""Draw the differences of all queries of a comparison: sorted, as rainclouds, and who wins how many.

Reads the metrics files of control and treatment and tables/queries/{comparison}.tsv. Writes
figures/queries-{comparison}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from scripts.common.command_line import parser, run
from scripts.reports.comparison.reading import Labels
from scripts.reports.figures.forest import save
from scripts.reports.figures.queries import QueriesPlot, TaskQueries, queries_plot
from scripts.synthesis import query_differences as queries


@dataclass(frozen=True, kw_only=True)
class Settings(queries.Settings):
    """What is compared, and the names in the figure."""

    control: Annotated[str, "the control's label"]
    treatment: Annotated[str, "the treatment's label"]
    labels: Annotated[Labels, "labels of tasks that have one"]


def queries_data(differences: dict[str, np.ndarray], table: pd.DataFrame, settings: Settings) -> QueriesPlot:
    """What the figure shows, from the differences and the table of counts."""
    tasks = tuple(
        TaskQueries(
            task=settings.labels.task(row["task"]),
            differences=differences[row["task"]],
            **{name: row[name] for name in ("wins", "ties", "losses", "superiority", "ci_low", "ci_high")},
        )
        for row in table.to_dict("records")
    )
    return QueriesPlot(
        title=f"Queries: {settings.treatment} against {settings.control}",
        measure=settings.measure,
        treatment=settings.treatment,
        tasks=tasks,
        alpha=settings.alpha,
        lower_is_better=settings.lower_is_better,
    )


def main() -> None:
    names = ("control*", "treatment*", "table", "svg", "pdf", "png")
    arguments = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = arguments.settings
    files = arguments.control, arguments.treatment
    differences = queries.query_differences(*files, settings.measure, settings.treatment_on)
    table = pd.read_csv(arguments.table, sep="\t", dtype={"task": str})
    save(queries_plot(queries_data(differences, table, settings)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
