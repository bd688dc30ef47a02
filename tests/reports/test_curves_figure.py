"""Curves over training queries, drawn: everything on the page, nothing on another, places on a log axis, ends of bars."""

from dataclasses import replace
from itertools import pairwise

import pytest

from ranktrial.reports.figures.curves import LOOKS, CurvesPlot, Panel, Spot, curves_plot
from ranktrial.reports.transfer_studies import Curves, all_queries, curve_notes, ends
from tests.reports.test_transfer_answers import RECORD, point
from tests.support.drawn import check_texts

STARTS = {
    "scratch": "from scratch",
    "pseudo-labels": "pseudo-labels",
    **{f"s{n}": f"a source with a long name {n}" for n in range(6)},
}
SIZES = (0, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def curve(first, whole, zero=True):
    sizes = [size for size in SIZES if size < whole and (zero or size)]
    return [
        Spot(n, first + 0.02 * i, first + 0.02 * i - 0.01, first + 0.02 * i + 0.02)
        for i, n in enumerate((*sizes, whole))
    ]


def panel(label, starts, whole=809, zero=True):
    curves = {start: curve(0.2 + 0.03 * n, whole, zero) for n, start in enumerate(starts)}
    return Panel(label, curves, 0.35, whole)


def plot(panels, starts=STARTS):
    return CurvesPlot("A title", "RR@100", tuple(panels), starts, "BM25", ("A note. " * 30,))


@pytest.mark.parametrize(
    "made",
    [
        plot([panel("One", list(STARTS)[:5])]),
        plot([panel(f"Target {n}", STARTS, whole) for n, whole in enumerate((100, 809, 7000, 80000, 530))]),
        plot([panel("Without a start", ["scratch"], zero=False), panel("Small", ["scratch"], 40)]),
        plot([Panel("A single size", {"scratch": [Spot(64, 0.3)]}, 0.3)]),
    ],
)
def test_everything_stays_on_the_page_and_nothing_lies_on_another(made):
    figure = curves_plot(made)
    check_texts(figure)
    left, right = figure.axes[0].get_xlim()
    for line in figure.axes[0].lines:
        assert all(left <= x <= right for x in line.get_xdata())


def drawn(figure, name):
    return [line for line in figure.axes[0].lines if line.get_gid() == name]


def test_places_are_logarithmic_and_the_start_stands_apart():
    (points,) = drawn(curves_plot(plot([panel("T", ["scratch"], 512)])), "points-scratch")
    zero, *x = points.get_xdata()
    steps = [b - a for a, b in pairwise(x)]
    assert steps == pytest.approx([steps[0]] * len(steps))  # 32, 64, … 512: equal ratios
    assert x[0] - zero > 0
    (line,) = drawn(curves_plot(plot([panel("T", ["scratch"], 512)])), "curve-scratch")
    assert list(line.get_xdata()) == x  # the solid line does not cross the gap


def test_a_bar_ends_where_the_samples_do():
    figure = curves_plot(plot([Panel("T", {"scratch": [Spot(32, 0.3, 0.2, 0.5), Spot(64, 0.4)]}, 0.45, None)]))
    (bar,) = drawn(figure, "bar")
    (points,) = drawn(figure, "points-scratch")
    (low, high), (mean, other) = bar.get_ydata(), points.get_ydata()
    assert (low - mean) / (mean - high) == pytest.approx(0.5) and mean > other  # y runs downwards
    (level,) = drawn(figure, "baseline")
    assert level.get_ydata()[0] == pytest.approx(mean + (other - mean) * 1.5)


def test_curves_differ_in_colour_and_in_marker_and_keep_them_in_all_panels():
    assert len({colour for colour, _ in LOOKS}) == len({marker for _, marker in LOOKS}) == len(LOOKS)
    figure = curves_plot(plot([panel("One", ["scratch", "s1"]), panel("Two", ["s1"])]))
    first, second = drawn(figure, "points-s1")
    assert (first.get_color(), first.get_marker()) == (second.get_color(), second.get_marker())
    many = curves_plot(plot([panel("One", STARTS)]))
    assert [drawn(many, f"points-{name}")[0].get_markerfacecolor() for name in STARTS][len(LOOKS) :] == ["white"]


def test_bars_are_the_range_or_the_t_interval():
    few = replace(point("s1", 32, [0.2, 0.4, 0.3]), t_interval=(0.1, 0.5))
    assert ends(few, "range") == (0.2, 0.4) and ends(few, "t") == (0.1, 0.5)
    assert ends(replace(few, samples={"1": 0.2}, t_interval=None), "t") == (None, None)
    record = replace(RECORD, points=(few, replace(few, queries="all", size=90)))
    assert all_queries(record, "t") == 90 and all_queries(record, "u") is None
    names = Curves([["t", "T"]], [], "BM25", interval="t")
    assert "the 95% t interval over the samples" in curve_notes(record, names)[0]
