"""Draw a figure: the kind that the first word names, in the files --svg, --pdf and --png.

Its further options and settings are the parameters of `draw` in ranktrial/reports/figures/{kind}.py.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.plugins import ROOT, load, stem
from ranktrial.experiment.drawing import Typeset
from ranktrial.experiment.results_paths import FIGURE_FORMATS
from ranktrial.reports.figures.fonts import use_font
from ranktrial.reports.figures.page import save


def drawn(kind: str) -> Callable[..., None]:
    """The job that draws and writes a figure of a kind. Raises UserError if its font is not installed."""
    draw = load("ranktrial.reports.figures", kind).draw

    def figure(svg: Path, pdf: Path, png: Path, settings: Typeset, **inputs: list[Path] | Path) -> None:
        if settings.font:
            use_font(settings.font)
        save(draw(**inputs, settings=settings), svg, pdf, png)

    hints = typing.get_type_hints(draw, include_extras=True)
    hints.pop("return")
    figure.__annotations__ = dict.fromkeys(FIGURE_FORMATS, Path) | hints
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in figure.__annotations__]
    figure.__doc__, figure.__signature__ = draw.__doc__, inspect.Signature(options)  # type: ignore[attr-defined]
    return figure


def main() -> None:
    """Run the job of the kind that the command line names."""
    kinds = [path.stem for path in sorted((ROOT / "ranktrial/experiment/exhibits").glob("[!_]*.py"))]
    if len(sys.argv) < 2 or stem(sys.argv[1]) not in kinds:
        sys.exit(f"error: expected one of {', '.join(kinds)} as the first word")
    job(drawn(sys.argv.pop(1)))


if __name__ == "__main__":
    main()
