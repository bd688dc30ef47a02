"""Draw a forest plot: of one comparison, or of several that have their control in common.

Reads effects/{comparison}.tsv and meta/{comparison}.json of each, in one order. Writes figures/{name}.svg, .pdf, .png.
"""

from __future__ import annotations

from scripts.common.command_line import parser, run
from scripts.reports.comparison.reading import Labels, forest, read_found
from scripts.reports.figures.forest import forest_plot, save


def main() -> None:
    arguments = parser(__doc__, "effects*", "meta*", "svg", "pdf", "png").parse_args()
    found = [read_found(effects, meta) for effects, meta in zip(arguments.effects, arguments.meta, strict=True)]
    labels = Labels(**arguments.settings["labels"])
    save(forest_plot(forest(found, arguments.settings, labels)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
