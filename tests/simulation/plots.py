"""Draw the plots of docs/simulations.md from the tables beside it.

Reads docs/simulations/coverage.tsv and weights-by-sizes.tsv; writes coverage.png and weights.png beside them:

    python -m tests.simulation.plots
"""

from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib import pyplot as plt

FOLDER = Path(__file__).parents[2] / "docs/simulations"
INTERVALS = {
    "equal weights (the default)": ("like these: equal weights", "o", "#0072b2"),
    "Knapp-Hartung": ("like these: Knapp-Hartung", "s", "#d55e00"),
    "normal": ("like these: normal", "^", "#666666"),
}
CANDIDATES = {
    "equal (the default)": ("equal", "o", "#0072b2"),
    "by queries": ("by queries", "D", "#009e73"),
    "averaged": ("averaged", "v", "#cc79a7"),
    "Bayesian": ("Bayesian", "P", "#e69f00"),
    "Knapp-Hartung": ("Knapp-Hartung", "s", "#d55e00"),
}
NOMINAL = {"color": "black", "linewidth": 0.8, "linestyle": "--", "zorder": 0}


def table(name: str) -> pd.DataFrame:
    """One table, with its first column as the index."""
    return pd.read_csv(FOLDER / f"{name}.tsv", sep="\t", index_col=0)


def coverage() -> plt.Figure:
    """Coverage of three intervals over collections like these, by number of tasks; one panel per tau."""
    found = table("coverage")
    worlds = found.index.to_series().str.extract(r"^(?P<tasks>\d+) tasks of 30 to 1,000 queries, tau (?P<tau>.+)$")
    worlds = worlds.dropna()
    figure, panels = plt.subplots(1, worlds.tau.nunique(), figsize=(9, 2.8), sharey=True, layout="constrained")
    for panel, (tau, these) in zip(panels, worlds.groupby("tau", sort=False), strict=True):
        for label, (column, marker, colour) in INTERVALS.items():
            panel.plot(these.tasks, found.loc[these.index, column], marker=marker, color=colour, label=label)
        panel.axhline(0.95, **NOMINAL)
        panel.set(title=f"τ = {tau}", xlabel="collections")
    panels[0].set_ylabel("coverage of the 95% interval")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def weights() -> plt.Figure:
    """Lowest coverage and width of each candidate; one point per set of sizes."""
    found = table("weights-by-sizes")
    figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
    for label, (name, marker, colour) in CANDIDATES.items():
        points = found[f"{name}: width"], found[f"{name}: lowest coverage"]
        panel.scatter(*points, marker=marker, color=colour, alpha=0.8, label=label)
    panel.axhline(0.95, **NOMINAL)
    panel.set(xlabel="mean width relative to equal weights", ylabel="lowest coverage of the 95% interval")
    panel.legend(loc="lower left", frameon=False)
    return figure


def main() -> None:
    matplotlib.use("agg")
    for draw in (coverage, weights):
        draw().savefig(FOLDER / f"{draw.__name__}.png", dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
