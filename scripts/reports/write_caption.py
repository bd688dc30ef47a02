"""The caption of a forest plot whose notes are not in the figure: an explanation of its marks, and its notes.

Reads what the figure is drawn from (ranktrial/reports/figures/forest.py). Writes figures/{name}.txt, a paragraph per
note, and figures/{name}.tex, a LaTeX caption to input inside a figure environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.settings import read_record
from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.reports.comparison.plot_text import caption
from ranktrial.reports.figures.fonts import use_font
from ranktrial.reports.figures.forest import Settings, noted, plotted
from ranktrial.reports.writing.content import listed
from ranktrial.reports.writing.printed import latex_escaped

USE = "% \\input this file inside a figure environment, below \\includegraphics."


def title(plot: Forest) -> str:
    """What the figure compares; one line, also for a list of figures."""
    treatments = listed([group.treatment for group in plot.groups])
    return f"{plot.title or f'{treatments} against {plot.control}, {plot.measure}'}."


def sentences(plot: Forest, own: Mapping[str, Any]) -> list[str]:
    """The caption: the title, how to read the figure, and its notes."""
    texts = [title(plot), caption(plot, own), *noted(plot)]
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]


def as_tex(plot: Forest, texts: list[str]) -> str:
    """The caption in LaTeX, with its title for the list of figures."""
    whole = "\n  ".join(map(latex_escaped, texts))
    return f"{USE}\n\\caption[{{{latex_escaped(title(plot))}}}]{{%\n  {whole}}}\n"


def write_caption(
    effects: list[Path],
    meta: list[Path],
    moderators: list[Path],
    comparisons: list[Path],
    axis_effects: list[Path],
    axis_meta: list[Path],
    text: Path,
    tex: Path,
    settings: Settings,
) -> None:
    """Write the caption of a forest plot as text and in LaTeX."""
    if settings.font:
        use_font(settings.font)
    plot = plotted(effects, meta, moderators, comparisons, axis_effects, axis_meta, settings)
    texts = sentences(plot, read_record(MetaRecord, meta[0]).own)
    for path, written in ((text, "\n".join(texts) + "\n"), (tex, as_tex(plot, texts))):
        write_text(path, written)


if __name__ == "__main__":
    job(write_caption)
