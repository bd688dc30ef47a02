"""Draw a bubble plot: the effects of a comparison over one of its moderators.

Reads effects/{comparison}.tsv and moderators/{comparison}.json. Writes figures/bubble-{comparison}-{moderator}.svg,
.pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import run
from ranktrial.common.tables import EFFECTS, read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.comparison import ModerationRecord
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.moderation import read_moderation, statement
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.bubble import Bubble, BubblePlot, Fitted, bubble_plot
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.moderation import FittedModel


@dataclass(frozen=True)
class Settings(Typeset):
    """The content of the figure and its labels."""

    moderator: Annotated[str, "name of the moderator"]
    measure: str
    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def filled(table: pd.DataFrame, record: ModerationRecord, settings: Settings) -> BubblePlot:
    """The plot with its numbers; `table` is the effects file. Without a model the areas are the summary's weights."""
    label = record.labels[settings.moderator]
    model = next(one for one in record.models if one.moderators == (label,))
    rows = {row["task"]: row for row in table.to_dict("records") if pd.notna(row["effect"])}
    weights = model.fit.weights if model.fit else {task: row["weight"] for task, row in rows.items()}
    bubbles = tuple(
        Bubble(settings.labels.task(task), record.values[task][settings.moderator], row["effect"], weights[task])
        for task, row in rows.items()
    )
    notes = [statement(model, record.alpha)]
    if model.fit:
        what = "Line and band: the mean effect" if model.fit.line else "Lines and bands: the mean effect of each group"
        notes.append(f"{what} and its {form.percent(record.alpha)} CI. Area of a bubble: the task's weight.")
    axis = effect_named(record.effect_type).AXIS.format(measure=settings.measure)
    return BubblePlot(label, axis, bubbles, fitted(model.fit), tuple(notes))


def fitted(fit: FittedModel | None) -> tuple[Fitted, ...]:
    """The mean effect along the line of a model, or of each of its levels."""
    if fit is None:
        return ()
    if fit.line:
        return tuple(Fitted(at.x, at.effect, at.ci_low, at.ci_high) for at in fit.line)
    of_levels = {word: level.summary for word, level in (fit.levels or {}).items()}
    return tuple(Fitted(word, one.effect, one.ci_low, one.ci_high) for word, one in of_levels.items())


def main() -> None:
    arguments = figure_arguments(__doc__, "effects", "moderators", settings=Settings)
    table = read_table(arguments.effects, *EFFECTS)
    plot = filled(table, read_moderation(arguments.moderators), arguments.settings)
    save(bubble_plot(plot), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
