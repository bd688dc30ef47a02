"""The shared command line of all scripts of figures: inputs, output files, settings with a font.

Reads and writes nothing.
"""

from __future__ import annotations

import argparse

from ranktrial.common.command_line import parser
from ranktrial.reports.figures.fonts import use_font


def figure_arguments(
    description: str | None, *paths: str, settings: type, files: tuple[str, ...] = ("svg", "pdf", "png")
) -> argparse.Namespace:
    """The arguments of a script that makes files of one figure. Raises UserError if its font is not installed."""
    arguments = parser(description, *paths, *files, settings=settings).parse_args()
    if arguments.settings.font:
        use_font(arguments.settings.font)
    return arguments
