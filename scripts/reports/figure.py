"""Draw a figure of the kind that the first word names, in the files --svg, --pdf and --png, or write its caption.

Its further options and settings are the parameters of `draw` in ranktrial/reports/figures/{kind}.py. With the word
`caption` they are those of a forest plot: --text gets its title, an explanation of its marks and the notes that are not
in the figure, a paragraph each; --tex the same as a LaTeX caption to input inside a figure environment.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.home import own_file
from ranktrial.common.plugins import load, stem
from ranktrial.experiment.drawing import Typeset
from ranktrial.experiment.results_paths import CAPTION_FORMATS, FIGURE_FORMATS
from ranktrial.reports.figures.fonts import use_font
from ranktrial.reports.figures.page import save
from ranktrial.reports.writing.printed import latex_escaped

FIGURES, CAPTION = "ranktrial.reports.figures", "caption"
USE = "% \\input this file inside a figure environment, below \\includegraphics."


def drawn(kind: str) -> Callable[..., None]:
    """The job that draws and writes a figure of a kind, or a caption. Raises UserError if its font is not installed."""
    if kind == CAPTION:
        return _written(load(FIGURES, "forest").in_words, write_caption, CAPTION_FORMATS)
    return _written(load(FIGURES, kind).draw, save, FIGURE_FORMATS)


def _written(make: Callable, write: Callable[..., None], formats: tuple[str, ...]) -> Callable[..., None]:
    """A job with the parameters of `make`, of which `write` gets the result and a file for each format."""

    def figure(settings: Typeset, **given: list[Path] | Path) -> None:
        files = [given.pop(one) for one in formats]
        if settings.font:
            use_font(settings.font)
        write(make(**given, settings=settings), *files)

    hints = typing.get_type_hints(make, include_extras=True)
    hints.pop("return")
    figure.__annotations__ = dict.fromkeys(formats, Path) | hints
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in figure.__annotations__]
    figure.__doc__, figure.__signature__ = make.__doc__, inspect.Signature(options)  # type: ignore[attr-defined]
    return figure


def write_caption(texts: list[str], txt: Path, tex: Path) -> None:
    """Write a title and the paragraphs below it as text and in LaTeX; there the list of figures has the title."""
    whole = "\n  ".join(map(latex_escaped, texts))
    write_text(txt, "\n".join(texts) + "\n")
    write_text(tex, f"{USE}\n\\caption[{{{latex_escaped(texts[0])}}}]{{%\n  {whole}}}\n")


def main() -> None:
    """Run the job of the kind that the command line names."""
    kinds = [path.stem for path in sorted(own_file("ranktrial/experiment/exhibits").glob("[!_]*.py"))]
    if len(sys.argv) < 2 or stem(sys.argv[1]) not in (*kinds, CAPTION):
        sys.exit(f"error: expected one of {', '.join((*kinds, CAPTION))} as the first word")
    job(drawn(sys.argv.pop(1)))


if __name__ == "__main__":
    main()
