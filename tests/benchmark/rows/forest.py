"""Forest plots of 20 tasks, each as SVG, PDF and PNG of 300 dpi, from a comparison's files: matplotlib by hand, and ours.

By hand are an error bar a task and one for the summary, as matplotlib's gallery draws them, with names and numbers.
Ours also has weights, means, p-values and heterogeneity in columns that it measures, and embeds its fonts as journals
ask for it. Reads and writes below the row's folder. What is compared is what the figures hold: estimates, and the ends
of intervals.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.benchmark.row import Result, Work
from tests.benchmark.rows import comparisons

TITLE = "forest plots of 20 tasks, against matplotlib's errorbar"
UNIT = "figures"
FORMATS = ("svg", "pdf", "png")
DPI = 300
TOLERANCE = 1e-9  # of an effect, which ours turns into points on the page


def prepare(folder: Path, small: bool) -> int:
    """Write effects and summaries of comparisons, as their jobs do."""
    from ranktrial.common.keys import given
    from ranktrial.synthesis.comparing import compared
    from ranktrial.synthesis.comparison_results import meta_record, rows

    for old in folder.glob("c*.*"):
        old.unlink()
    count = 2 if small else 10
    for number, tasks in enumerate(np.random.default_rng(1).uniform(size=(count, *comparisons.SHAPE))):
        found = compared(comparisons.pairs(tasks), comparisons.settings())
        record = meta_record(found.synthesis, comparisons.settings(), 1.0)
        rows(found.tasks, found.synthesis.weights).to_csv(folder / f"c{number}.tsv", sep="\t", index=False)
        (folder / f"c{number}.json").write_text(json.dumps(given(record)))
    return count


def plain(folder: Path) -> Work:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import pandas as pd

    def one(name: str, target: Path) -> np.ndarray:
        table, summary = (
            pd.read_csv(folder / f"{name}.tsv", sep="\t"),
            json.loads((folder / f"{name}.json").read_text()),
        )
        ends = table[["effect", "ci_low", "ci_high"]].to_numpy()
        ends = np.vstack([ends, [summary["summary"][key] for key in ("effect", "ci_low", "ci_high")]])
        places = np.arange(len(ends))[::-1]
        figure, ax = plt.subplots(figsize=(7, 5))
        drawn = []
        for chosen, mark in ((slice(None, -1), "s"), (slice(-1, None), "D")):
            effects, low, high = ends[chosen].T
            error = [effects - low, high - effects]
            drawn.append(ax.errorbar(effects, places[chosen], xerr=error, fmt=mark, capsize=2, color="tab:blue"))
        ax.axvline(0, color="grey", linewidth=0.8)
        ax.set_yticks(places, labels=[*table["task"], "Summary"])
        for place, (effect, low, high) in zip(places, ends, strict=True):
            ax.text(
                1.02, place, f"{effect:.3f} [{low:.3f}, {high:.3f}]", va="center", transform=ax.get_yaxis_transform()
            )
        ax.set(xlabel="Mean difference in nDCG@10", title="t against c")
        figure.tight_layout()
        for kind in FORMATS:
            figure.savefig(target / f"{name}.{kind}", dpi=DPI)
        plt.close(figure)
        return np.vstack([bars_drawn(container) for container in drawn])

    return drawing(folder, "plain", one)


def bars_drawn(container) -> np.ndarray:
    """Effect and interval of each bar that matplotlib drew."""
    points, _, (bars,) = container.lines
    return np.array([[x, *segment[:, 0]] for x, segment in zip(points.get_xdata(), bars.get_segments(), strict=True)])


def ours(folder: Path) -> Work:
    from ranktrial.records.facts import Facts, Labels
    from ranktrial.reports.comparison.reading import Forest, Looks, read_found
    from ranktrial.reports.figures.forest import forest_plot
    from ranktrial.reports.figures.page import save

    looks = Looks(alpha=0.05, judged="")

    def one(name: str, target: Path) -> np.ndarray:
        shown = Forest((read_found(folder / f"{name}.tsv", folder / f"{name}.json"),), looks, Facts(Labels({}, {}), []))
        figure = forest_plot(shown)
        save(figure, *(target / f"{name}.{kind}" for kind in FORMATS))
        return marks_drawn(figure.axes[0], shown)

    return drawing(folder, "ours", one)


def marks_drawn(ax, shown) -> np.ndarray:
    """Effect and interval of each square and of the diamond, from their places on the page."""
    from ranktrial.reports.comparison import number_text
    from ranktrial.reports.comparison.plot_text import lines_of
    from ranktrial.reports.figures.forest_layout import layout

    numbers = number_text.numbers(shown)
    place = layout(shown, lines_of(shown, numbers), numbers)
    marks = {patch.get_gid(): patch for patch in ax.patches if patch.get_gid()}
    rules = {float(y[0]): x for x, y in (line.get_data() for line in ax.lines) if y[0] == y[-1]}
    found = []
    for gid in sorted((gid for gid in marks if gid.startswith("square-")), key=lambda gid: int(gid.split("-")[1])):
        x, y = marks[gid].get_center()
        found.append([x, *rules[min(rules, key=lambda of: abs(of - y))]])
    (diamond,) = (mark.get_xy() for gid, mark in marks.items() if gid.startswith("diamond-"))
    found.append([diamond[diamond[:, 1].argmax(), 0], diamond[:, 0].min(), diamond[:, 0].max()])
    low, high = place.limits
    return low + (np.array(found) - place.left) / (place.right - place.left) * (high - low)


def drawing(folder: Path, side: str, one: Callable[[str, Path], np.ndarray]) -> Work:
    """All figures, drawn into a folder of the side's; one before, since matplotlib then finds its fonts."""
    target = folder / side
    target.mkdir(exist_ok=True)
    names = sorted(path.stem for path in folder.glob("c*.tsv"))
    one(names[0], target)

    def work() -> Result:
        drawn = np.array([one(name, target) for name in names])
        return {
            "drawn": drawn,
            "bytes": np.array([[(target / f"{n}.{k}").stat().st_size for k in FORMATS] for n in names]),
        }

    return work


SIDES = {"plain": plain, "ours": ours}


def agree(side: str, plain: Result, ours: Result) -> str:
    assert plain["bytes"].shape == ours["bytes"].shape and min(plain["bytes"].min(), ours["bytes"].min()) > 5000
    assert plain["drawn"].shape == ours["drawn"].shape, f"{plain['drawn'].shape} numbers and {ours['drawn'].shape}"
    apart = float(np.abs(plain["drawn"] - ours["drawn"]).max())
    assert apart < TOLERANCE, f"estimates or ends of intervals are {apart:.1e} apart"
    return f"the same estimates and ends of intervals, {ours['drawn'].size} numbers"
