"""Draw a forest plot: of one comparison, or of several that have their control in common.

Reads effects/{comparison}.tsv and meta/{comparison}.json of each, in one order, and of one whose tasks are in subgroups
moderators/{comparison}.json. Writes figures/{name}.svg, .pdf, .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scripts.common.command_line import parser, run
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import Labels, forest, read_found
from scripts.reports.figures.forest import forest_plot, save


@dataclass(frozen=True, kw_only=True)
class Settings(Looks):
    """How the figure shows its comparisons, and the names in it."""

    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def main() -> None:
    paths = ("effects*", "meta*", "moderators*", "svg", "pdf", "png")
    arguments = parser(__doc__, *paths, settings=Settings).parse_args()
    moderators = {path.stem: path for path in arguments.moderators}
    pairs = zip(arguments.effects, arguments.meta, strict=True)
    comparisons = [read_found(effects, meta, moderators.get(meta.stem)) for effects, meta in pairs]
    plot = forest_plot(forest(comparisons, arguments.settings, arguments.settings.labels))
    save(plot, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
