"""Draw a forest plot of one comparison, or of several with the same control.

Reads effects/{comparison}.tsv and meta/{comparison}.json of each, in order, and those of the comparisons with which it
has its axis in common, if any; tables/comparisons.tsv where p-values are corrected for their number;
moderators/{comparison}.json of one whose tasks are in subgroups. Writes figures/{name}.svg, .pdf, .png.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import run
from ranktrial.common.tables import COMPARISONS, read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.reports.comparison.reading import Adjustment, Found, Labels, Looks, adjustments, forest, read_found
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import forest_plot, save
from ranktrial.reports.figures.forest_layout import common_limits

FILES = ("effects*", "meta*", "moderators*", "comparisons*", "axis-effects*", "axis-meta*")  # that a plot is made of


@dataclass(frozen=True, kw_only=True)
class Settings(Looks, Typeset):
    """How the figure shows its comparisons, and the names in it."""

    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def found(
    effects: list[Path], meta: list[Path], family: dict[str, Adjustment], moderators: Sequence[Path] = ()
) -> list[Found]:
    """The results of comparisons from their files, both in one order, and their places among all comparisons."""
    of_moderators = {path.stem: path for path in moderators}
    return [
        read_found(rows, one, family.get(one.stem), of_moderators.get(one.stem))
        for rows, one in zip(effects, meta, strict=True)
    ]


def plotted(arguments: argparse.Namespace) -> Forest:
    """The forest plot that a command line asks for."""
    settings: Settings = arguments.settings
    table = arguments.comparisons[0] if arguments.comparisons else None
    family = adjustments(read_table(table, *COMPARISONS)) if table else {}
    plot = forest(found(arguments.effects, arguments.meta, family, arguments.moderators), settings, settings.labels)
    if not arguments.axis_effects:
        return plot
    on_axis = found(arguments.axis_effects, arguments.axis_meta, {})
    return replace(plot, limits=common_limits(on_axis, settings, settings.labels))


def main() -> None:
    arguments = figure_arguments(__doc__, *FILES, settings=Settings)
    save(forest_plot(plotted(arguments)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
