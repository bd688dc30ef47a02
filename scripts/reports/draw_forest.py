"""Draw a forest plot: of one comparison, or of several that have their control in common.

Reads effects/{comparison}.tsv and meta/{comparison}.json of each, in order; tables/comparisons.tsv where p-values are
corrected for their number. Writes figures/{name}.svg, .pdf, .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.reports.comparison.adjustment import adjustments
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import Labels, forest, read_found
from scripts.reports.figures.forest import forest_plot, save


@dataclass(frozen=True, kw_only=True)
class Settings(Looks):
    """How the figure shows its comparisons, and the names in it."""

    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def main() -> None:
    paths = ("effects*", "meta*", "comparisons*", "svg", "pdf", "png")
    arguments = parser(__doc__, *paths, settings=Settings).parse_args()
    table = arguments.comparisons[0] if arguments.comparisons else None
    adjusted = adjustments(pd.read_csv(table, sep="\t")) if table else {}
    pairs = zip(arguments.effects, arguments.meta, strict=True)
    comparisons = [read_found(effects, meta, adjusted.get(meta.stem)) for effects, meta in pairs]
    plot = forest_plot(forest(comparisons, arguments.settings, arguments.settings.labels))
    save(plot, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
