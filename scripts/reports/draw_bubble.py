"""Draw a bubble plot: the effects of a comparison over one of its moderators.

Reads effects/{comparison}.tsv and moderators/{comparison}.json. Writes figures/bubble-{comparison}-{moderator}.svg,
.pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.tables import EFFECTS, read_table
from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.moderation import read_moderation, statement
from scripts.reports.comparison.reading import Labels
from scripts.reports.figures.bubble import Bubble, BubblePlot, Fitted, bubble_plot
from scripts.reports.figures.forest import save
from scripts.statistics.effects import effect_named


@dataclass(frozen=True)
class Settings:
    """What the figure shows, and the names in it."""

    moderator: Annotated[str, "name of the moderator"]
    measure: str
    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def filled(table: pd.DataFrame, record: dict[str, Any], settings: Settings) -> BubblePlot:
    """The plot with its numbers; `table` is the effects file. Without a model the areas are the summary's weights."""
    label = record["labels"][settings.moderator]
    model = next(one for one in record["models"] if one["moderators"] == [label])
    rows = {row["task"]: row for row in table.to_dict("records") if pd.notna(row["effect"])}
    weights = model.get("weights") or {task: row["weight"] for task, row in rows.items()}
    bubbles = tuple(
        Bubble(settings.labels.task(task), record["values"][task][settings.moderator], row["effect"], weights[task])
        for task, row in rows.items()
    )
    if model["problem"]:
        fitted, notes = [], [statement(model, record["alpha"])]
    else:
        if "line" in model:
            fitted = [Fitted(at["x"], at["effect"], at["ci_low"], at["ci_high"]) for at in model["line"]]
            what = "Line and band: the mean effect"
        else:
            shown = model["levels"].items()
            fitted = [Fitted(word, at["effect"], at["ci_low"], at["ci_high"]) for word, at in shown]
            what = "Lines and bands: the mean effect of each group"
        what += f" and its {form.percent(record['alpha'])} CI. Area of a bubble: the task's weight."
        notes = [statement(model, record["alpha"]), what]
    axis = effect_named(record["effect_type"]).AXIS.format(measure=settings.measure)
    return BubblePlot(label, axis, bubbles, tuple(fitted), tuple(notes))


def main() -> None:
    arguments = parser(__doc__, "effects", "moderators", "svg", "pdf", "png", settings=Settings).parse_args()
    table = read_table(arguments.effects, *EFFECTS)
    plot = filled(table, read_moderation(arguments.moderators), arguments.settings)
    save(bubble_plot(plot), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
