"""Draw the influence of each task of a comparison: its summary without it, Cook's distances, Baujat's plot.

Reads tables/influence/{comparison}.tsv and meta/{comparison}.json. Writes figures/influence-{comparison}.svg, .pdf and
.png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import run
from ranktrial.common.settings import read_record
from ranktrial.common.tables import read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from ranktrial.reports.figures.influence import InfluencePlot, Point, influence_plot
from ranktrial.statistics.effects import effect_named


@dataclass(frozen=True, kw_only=True)
class Settings(Typeset):
    """The names in the figure."""

    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def influence_data(table: pd.DataFrame, meta: MetaRecord, settings: Settings) -> InfluencePlot:
    """What the figure shows, from the table and the meta record of a comparison."""
    labels = settings.labels
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    points = tuple(
        Point(
            task=labels.task(row["task"]),
            effect=row["effect_without"],
            ci_low=row["ci_low_without"],
            ci_high=row["ci_high_without"],
            cooks_distance=row["cooks_distance"],
            baujat_x=row["baujat_x"],
            baujat_y=row["baujat_y"],
            influential=row["influential"] == "yes",
        )
        for row in rows
    )
    treatment, control = labels.system(meta.treatment), labels.system(meta.control)
    return InfluencePlot(
        title=f"Influence of each task: {treatment} against {control}",
        effect_label=effect_named(meta.effect_type).AXIS.format(measure=meta.measure),
        points=points,
        alpha=settings.alpha,
        **{end: getattr(meta.summary, end, 0.0) for end in ("effect", "ci_low", "ci_high")},
    )


def main() -> None:
    arguments = figure_arguments(__doc__, "table", "meta", settings=Settings)
    table = read_table(arguments.table, "task", "influential")
    plot = influence_data(table, read_record(MetaRecord, arguments.meta), arguments.settings)
    save(influence_plot(plot), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
