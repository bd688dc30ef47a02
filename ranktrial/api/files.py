"""Where findings are written: figures, tables and pages by the endings of their names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES, TABLES, PAGES = (".pdf", ".svg", ".png"), (".tex", ".md", ".tsv"), (".html",)


def ending(path: str | Path, allowed: tuple[str, ...]) -> str:
    """The ending of a file's name. Raises UserError for one that is not allowed, and where there is no folder."""
    place = Path(path)
    if place.suffix not in allowed:
        raise UserError(f"{place}: expected a name that ends in {' or '.join(allowed)}")
    if not place.parent.is_dir():
        raise UserError(f"{place}: no folder {str(place.parent)!r}")
    return place.suffix


def saved(figure: Figure, path: str | Path | None) -> Figure:
    """The figure, which Jupyter shows, written to a path if there is one. Raises UserError as `ending` does."""
    from ranktrial.reports.figures.page import as_svg, save

    if path is not None:
        ending(path, FIGURES)
        save(figure, Path(path))
    setattr(figure, "_repr_svg_", partial(as_svg, figure, "figure"))  # noqa: B010 (an attribute that Figure lacks)
    return figure


def save_text(text: str, path: str | Path | None) -> None:
    """Write a text, if there is a path."""
    if path is not None:
        write_text(Path(path), text)
