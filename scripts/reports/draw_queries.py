"""Draw the differences of all queries of a comparison: sorted, as rainclouds, and the wins, ties and losses.

Reads tables/query-differences/{comparison}.tsv and tables/queries/{comparison}.tsv. Writes
figures/queries-{comparison}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import run
from ranktrial.common.tables import read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from ranktrial.reports.figures.queries import QueriesPlot, TaskQueries, queries_plot


@dataclass(frozen=True, kw_only=True)
class Settings(Typeset):
    """The names in the figure."""

    measure: Annotated[str, "of the differences"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    lower_is_better: Annotated[bool, "of the measure: a query is won by the lower value"] = False
    control: Annotated[str, "the control's label"]
    treatment: Annotated[str, "the treatment's label"]
    labels: Annotated[Labels, "labels of tasks that have one"]


def queries_data(differences: pd.DataFrame, table: pd.DataFrame, settings: Settings) -> QueriesPlot:
    """What the figure shows, from the differences and the table of counts."""
    by_task = {task: rows["difference"].to_numpy() for task, rows in differences.groupby("task", sort=False)}
    tasks = tuple(
        TaskQueries(
            task=settings.labels.task(row["task"]),
            differences=by_task[row["task"]],
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
    arguments = figure_arguments(__doc__, "differences", "table", settings=Settings)
    differences, table = (read_table(path, "task", "query_id") for path in (arguments.differences, arguments.table))
    plot = queries_plot(queries_data(differences, table, arguments.settings))
    save(plot, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
