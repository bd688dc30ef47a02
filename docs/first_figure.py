"""Draws the README's first figure: a forest plot of runs that are public, and beside it what its parts say.

    .venv/bin/python docs/first_figure.py data/ranger/examples/retrieval-colberter-data

Reads the runs and qrels of config/ranger.yaml, whose head says where they are; writes docs/forest-plot.png.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

import ranktrial as rt
from ranktrial.reports.figures.marks import DIAMOND, MUTED

TASKS = {
    **{"TREC-COVID": "trec-covid", "TripClick": "tripclick", "NFCorpus": "nfcorpus", "DBpedia": "dbpedia-entity"},
    **{"ANTIQUE": "antique", "TREC Podcasts": "trec_podcast", "Robust04": "robust04"},
}
SYSTEMS = {"TAS-B": "tasb_dim768_hf", "Uni-ColBERTer": "colberter_dim1_stopwords"}
SAID = {  # the text that begins a line of the figure, and what the line shows
    "TREC-COVID": "a row is a collection: the square\nis the difference of the means,\nthe line its 95% interval",
    "Mean of these 7 tasks": "hollow diamond: the mean\non these seven collections",
    "Random effects": "filled diamond: the mean over\ncollections like these",
    "95% prediction interval": "bar: where the difference in\na new collection is expected",
}
WIDE, GAP, SIZE = 118.0, 6.0, 7.0  # of the remarks in points, before them, and their type


def values(folder: Path) -> pd.DataFrame:
    """nDCG@10 of both systems for every query."""
    found = []
    for label, name in TASKS.items():
        runs = {system: folder / runs_of / f"{name}_top10.txt" for system, runs_of in SYSTEMS.items()}
        found.append(rt.evaluate(folder / f"qrels/{name}_qrels.txt", runs, measures=["nDCG@10"]).assign(task=label))
    return pd.concat(found)


def annotate(figure: Figure) -> None:
    """Make room on the right, and say there what the lines show."""
    (ax,) = figure.axes
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts if isinstance(text, Text)}
    page = right + GAP + WIDE
    ax.set(xlim=(left, page), ylim=(low, high))
    figure.set_size_inches(page / 72, figure.get_figheight())
    last = heights["TREC-COVID"] - 1.5 * SIZE
    for begins, said in SAID.items():
        row = heights[begins]
        lines = said.count("\n") + 1
        y = max(row, last + (lines + 0.6) * SIZE * 1.2 / 2)
        ax.plot([right - 2, right + GAP - 2], [row, y], color=MUTED, linewidth=0.6)
        ax.text(right + GAP, y, said, fontsize=SIZE, color=DIAMOND, va="center", linespacing=1.2)
        last = y + lines * SIZE * 1.2 / 2


def main() -> None:
    found = rt.compare(values(Path(sys.argv[1])), control="TAS-B", measure="nDCG@10")
    figure = found.forest_plot(columns=["n", "means", "effect"], notes="caption")
    annotate(figure)
    figure.savefig(Path(__file__).with_name("forest-plot.png"), dpi=300)


if __name__ == "__main__":
    main()
