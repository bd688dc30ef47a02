"""Effects against costs: end-to-end sums and the Pareto front by hand, and a figure in which nothing is cut off."""

import json
import math
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from ranktrial.records.facts import Labels
from ranktrial.reports.contents import costs as contents
from ranktrial.reports.contents.costs import COLUMNS, costs, costs_table
from ranktrial.reports.figures.cost_data import Beside, Cost, Point, latency, pareto_front, point_of, row, side_by_side
from ranktrial.reports.figures.costs import (
    END_TO_END,
    Box,
    Settings,
    Shown,
    around,
    cost_axis,
    cost_figure,
    notes,
    placed,
)
from ranktrial.reports.writing.content import plain
from ranktrial.statistics.summaries import normal_summary


def system(effect, half, low, high, **more):
    return Point("x", effect, effect - half, effect + half, Cost((low + high) / 2, low, high), None, **more)


def front(*points):
    return pareto_front(points, "latency_ms")


def test_the_pareto_front_of_costs_and_effects_without_noise():
    points = [system(effect, 0, ms, ms) for ms, effect in ((5, 0.0), (20, 0.09), (20, 0.02), (25, 0.03), (300, 0.1),
                                                           (3, -0.1), (300, 0.1))]  # fmt: skip
    assert front(*points) == {0, 1, 4, 5, 6}  # of equal points both
    assert front() == set()


def test_noise_puts_no_system_off_the_front():
    """Three systems of one architecture at 29, 34 and 63 ms, whose runs range over one another, and a slow one."""
    three = [system(0.03, 0.03, 15, 43), system(0.05, 0.03, 20, 48), system(0.04, 0.03, 33, 93)]
    assert front(*three) == {0, 1, 2}
    alone = [system(0.03, 0.03, 29, 29), system(0.05, 0.03, 34, 34), system(0.04, 0.03, 63, 63)]
    assert front(*alone) == {0, 1}  # the third costs more than the second, beyond its range, and gains less
    assert front(system(0.05, 0.03, 34, 34), system(0.04, 0.03, 36, 36)) == {0, 1}  # a time differs by a tenth
    assert front(system(0.05, 0.03, 34, 34), system(0.04, 0.03, 38, 38)) == {0}
    worse = [system(0.05, 0.01, 15, 43), system(0.01, 0.01, 20, 48)]
    assert front(*worse) == {0}  # the ranges are one, but the effects are apart
    dearer = [system(0.05, 0.01, 30, 30), system(0.06, 0.05, 300, 300)]
    assert front(*dearer) == {0, 1}  # what gains more by its mean is never off


def test_a_point_averages_tasks_and_seeds_and_has_their_range():
    rows = [{"end_to_end_p50_ms": ms, "end_to_end_training_seconds": 0} for ms in (2.0, 4.0)]
    control = point_of("BM25", rows, None)
    assert (control.latency_ms, control.training_seconds) == (Cost(3.0, 2.0, 4.0), Cost(0, 0, 0))
    assert (control.effect, control.is_control) == (0.0, True)
    summary = normal_summary(0.1, 0.0025, 0.05)
    made = point_of("x", [{"end_to_end_p50_ms": None, "end_to_end_training_seconds": 9.0}], summary)
    assert (made.latency_ms, made.training_seconds, made.effect, made.index_mb) == (None, Cost(9, 9, 9), 0.1, None)
    sized = point_of("y", [row | {"index_mb": size} for row, size in zip(rows, (1.0, 2.0), strict=True)], None)
    assert sized.index_mb == Cost(1.5, 1.0, 2.0)
    once = [{"end_to_end_p25_ms": 2.0, "end_to_end_p50_ms": 3.0, "end_to_end_p75_ms": 5.0}]
    assert latency(once) == Cost(3.0, 2.0, 5.0)  # of one run the quartiles of its queries


def timing(folder, name, **figures):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    every = {"peak_rss_bytes": 1e6, "peak_gpu_bytes": 0, "device": "A100", "threads": 2, "seconds": 1.0}
    path.write_text(json.dumps(every | figures))
    return path


def of_queries(median):
    return {"latency_ms": {"mean": median + 1, "p25": median / 2, "p50": median, "p75": 2 * median, "p95": 9 * median}}


def test_a_fusion_costs_what_it_fuses(tmp_path, monkeypatch):
    """By hand: a fusion of .2 ms over 5 and 58 ms takes 63.2, and the training of 196 s is behind it."""
    monkeypatch.chdir(tmp_path)
    at = Path("results/e/runs/d")
    fusion = timing(Path("results/e/runs"), "d/fused/seed-1.timing.json", **of_queries(0.2), other_cores=1.5)
    parts = [
        timing(at, "bm25/seed-0.timing.json", **of_queries(5)),
        timing(at, "tuned/seed-1.timing.json", **of_queries(58)),
    ]
    features = timing(Path("results/e/features"), "d/f.timing.json", seconds=2.0, queries=1000)  # timed as a whole
    training = timing(Path("results/e/models"), "m/r/seed-1.timing.json", seconds=196.0)
    found = row(fusion, Beside(parts=[str(path) for path in parts], trainings=[str(training)]))
    assert found["latency_p50_ms"] == 0.2 and found["end_to_end_p50_ms"] == pytest.approx(63.2)
    assert found["end_to_end_mean_ms"] == pytest.approx(66.2) and found["end_to_end_p25_ms"] == pytest.approx(31.6)
    assert (found["training_seconds"], found["end_to_end_training_seconds"]) == (None, 196.0)
    assert found["other_cores"] == 1.5
    large = [timing(at, f"{name}/seed-0.timing.json", peak_rss_bytes=rss, seconds=seconds, queries=100, **sizes)
             for name, rss, seconds, sizes in (("b", 3e8, 2.0, {"index_bytes": 2e6}),
                                               ("t", 1e8, 3.0, {"index_bytes": 5e6, "weights_bytes": 9e7}))]  # fmt: skip
    encoding = timing(Path("results/e/embeddings"), "d.timing.json", peak_rss_bytes=7e8, index_bytes=5e6)
    thin = timing(at, "f/seed-0.timing.json", peak_rss_bytes=1e8, seconds=5.0, queries=100)
    whole = row(thin, Beside(parts=[str(path) for path in large], encodings=[str(encoding)]))
    assert whole["end_to_end_peak_rss_mb"] == 700 and whole["peak_rss_mb"] == 100, "the most of its steps"
    assert (whole["end_to_end_index_mb"], whole["end_to_end_weights_mb"]) == (7, 90) and "index_mb" not in whole
    assert whole["end_to_end_queries_per_second"] == pytest.approx(10), "100 queries in 2 + 3 + 5 seconds"
    with_features = row(fusion, Beside(parts=[str(features)]))
    assert with_features["end_to_end_p50_ms"] == pytest.approx(2.2)
    alone = row(parts[1], Beside(training=str(training)))
    assert (alone["end_to_end_p50_ms"], alone["end_to_end_training_seconds"]) == (58, 196.0)
    unknown = row(fusion, Beside(parts=[str(parts[0])], untimed=["theirs"]))
    assert unknown["end_to_end_p50_ms"] is None is unknown["end_to_end_training_seconds"]
    assert unknown["latency_p50_ms"] == 0.2


def test_work_side_by_side_is_said():
    assert side_by_side([0.0, 0.4]) == "" == side_by_side([])
    busy = "2 of the 3 jobs in which this could be measured ran beside other work, which kept up to 3.4 cores busy, and took longer than alone"
    assert side_by_side([0.6, 0.1, 3.4]) == busy
    settings = Settings("c", 0.05, {}, {"a": Beside(parts=["b"])})
    assert notes(settings, {"s": [{"other_cores": 0.6}, {"other_cores": None}]})[0] == END_TO_END
    assert notes(settings, {"s": [{"other_cores": 0.6}]})[1].startswith(
        "1 of the 1 jobs in which this could be measured ran beside"
    )
    assert notes(Settings("c", 0.05, {}, {"a": Beside()}), {"s": [{"other_cores": 0.0}]}) == []


COSTS = pd.DataFrame([
    {"system": "bm25", "end_to_end_p50_ms": 5.0, "latency_p50_ms": 5.0, "latency_p95_ms": 9.0, "device": "cpu",
     "end_to_end_training_seconds": 0, "training_seconds": None, "other_cores": 0.0},
    {"system": "bm25", "end_to_end_p50_ms": 7.0, "latency_p50_ms": 7.0, "latency_p95_ms": 9.0, "device": "cpu",
     "end_to_end_training_seconds": 0, "training_seconds": None, "other_cores": 0.0},
    {"system": "fused", "end_to_end_p50_ms": 63.2, "latency_p50_ms": 0.2, "latency_p95_ms": 0.3, "device": "cpu",
     "end_to_end_training_seconds": 196, "training_seconds": None, "other_cores": 1.2},
])  # fmt: skip


def test_the_page_has_no_cost_of_an_own_step_beside_those_end_to_end():
    assert all(name.startswith("end_to_end_") for name in COLUMNS)


def test_the_pages_tables_have_costs_end_to_end_with_their_range():
    labels = Labels({}, {"bm25": "BM25"})
    table = costs_table(COSTS, labels)
    names = [column.name for column in table.columns]
    assert names == ["System", "Median latency (ms)", "Training (s)"]
    assert [list(map(plain, row)) for row in table.blocks[0]] == [
        ["BM25", "6.0 (5.0 to 7.0)", ""], ["fused", "63.2", "196"]
    ]  # fmt: skip
    section = costs(COSTS, contents.Shown(figures=True), labels)
    assert section.blocks[0].text == (
        "Times exclude loading and a warm-up; measured on cpu; 1 of the 3 jobs in which this could be measured ran beside other work, which kept up to "
        "1.2 cores busy, and took longer than alone."
    )
    assert section.blocks[-1].text.endswith("whose intervals overlap may still differ significantly.")


def test_a_small_cost_has_two_significant_digits():
    runs = pd.DataFrame(
        {"system": "mine", "end_to_end_p50_ms": [0.002, 0.0028], "end_to_end_index_mb": [0.0044, 0.0044]}
    )
    (row,) = costs_table(runs, Labels({}, {})).blocks[0]
    assert list(map(plain, row)) == ["mine", "0.0024 (0.0020 to 0.0028)", "0.0044"]


def one(label, effect, low, high, ms, seconds, is_control=False, index=None, weights=None):
    sizes = [None if size is None else Cost(size, size, size) for size in (index, weights)]
    return Point(
        label, effect, low, high, Cost(ms, 0.8 * ms, 1.3 * ms), Cost(seconds, seconds, seconds), is_control, *sizes
    )


SYSTEMS = [one("BM25", 0, 0, 0, 4.9, 0.0, True), one("a system with a name of many words", 0.1, 0.05, 0.15, 20.0, 113.0),
           one("x", -0.1, -0.15, -0.05, 267.0, 0.0)]  # fmt: skip
SMALL = [one("whole", 0, 0, 0, 4.9, 0.0, True, 5.2, 90.9), one("codes", 0.01, 0.0, 0.02, 4.1, 3.0, False, 0.7, 23.1)]


@pytest.mark.parametrize(
    ("points", "sizes", "named"),
    [(SYSTEMS, [], True), (SYSTEMS * 6, [], False), ([SYSTEMS[0], SYSTEMS[2]], [], True), (SYSTEMS[:1], [], True),
     (SMALL, ["index_mb"], True), ([*SYSTEMS[1:], *SMALL], ["index_mb", "weights_mb"], False)],
)  # fmt: skip
def test_the_figure_holds_every_system_and_fits_its_page(points, sizes, named):
    said_below = [END_TO_END] if len(points) > 2 else []
    figure = cost_figure(points, Shown("MD", "nDCG@10", 0.05, said_below), sizes)
    said = " ".join(text.get_text() for text in figure.texts)
    assert ("Times are end to end" in said) == (len(points) > 2)
    assert "overlap of CIs is a cautious rule, since effects are paired" in said
    trained = any(point.training_seconds.mean for point in points)
    assert len(figure.axes) == 1 + trained + len(sizes) and figure.get_size_inches()[0] <= 7.001
    figure.draw_without_rendering()
    renderer, page = figure.canvas.get_renderer(), figure.bbox.padded(0.5)
    ticks = [label for ax in figure.axes for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]]
    for text in [*figure.texts, *ticks, *(label for ax in figure.axes for label in [ax.xaxis.label, ax.yaxis.label])]:
        box = text.get_window_extent(renderer)
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text.get_text()
    shown = [text.get_text() for text in figure.axes[0].texts]
    names = [f"{point.label} (control)" if point.is_control else point.label for point in points]
    assert shown == (names if named else [str(number) for number in range(1, len(points) + 1)])
    assert all((f"{number}  {name.split()[0]}" in said) != named for number, name in enumerate(names, 1)), "a key"
    for ax in figure.axes:
        boxes = [text.get_window_extent(renderer) for text in ax.texts]
        assert all(ax.bbox.padded(0.5).contains(*box.get_points().mean(axis=0)) for box in boxes)
        assert not named or not any(box.overlaps(other) for box, other in combinations(boxes, 2))
    effects = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len({len(text.partition(".")[2]) for text in effects}) == 1  # one number of decimals


def test_systems_that_cost_nothing_stand_side_by_side_and_the_others_in_order():
    axis = cost_axis([Cost(value, value, 1.2 * value) for value in (0, 113, 0, 9, 0, 2000)], 190, 7)
    xs = [place.x for place in axis.places]
    assert max(xs[0], xs[2], xs[4]) < axis.strip < xs[3] < xs[1] < xs[5] < 190 and len(set(xs)) == 6
    assert axis.ticks[0] == (axis.strip / 2, "none") and [label for _, label in axis.ticks[1:]] == [
        "10",
        "30",
        "100",
        "300",
        "1,000",
    ]
    assert axis.places[5].low == xs[5] < axis.places[5].high <= 190
    nothing = cost_axis([Cost(0, 0, 0)] * 3, 190, 7)
    assert nothing.strip is None and nothing.ticks == [(95, "none")]
    (alone,) = cost_axis([Cost(5, 5, 5)], 190, 7).places
    assert alone == pytest.approx((95, 95, 95))
    close = cost_axis([Cost(35.03, 34.8, 35.3), Cost(35.35, 35.0, 35.7)], 190, 7)
    assert 0 < close.places[1].x - close.places[0].x < 190 / 20
    assert [label for _, label in close.ticks] == ["30.0", "32.5", "35.0", "37.5", "40.0"]


@pytest.mark.parametrize("apart", [2, 6])
def test_labels_stand_off_one_another_and_off_the_dots(apart):
    dots = [(50.0 + 3 * math.sin(one), 40.0 + apart * one) for one in range(6)]
    places = placed(dots, [4.0] * 6, 5.0, Box(0, 0, 100, 100), [], 4.5)
    boxes = [around(spot.x, spot.y, 4.0, 5.0) for spot in places]
    for number, box in enumerate(boxes):
        assert not any(box.meets(other) for other in boxes[:number])
        assert not any(box.meets(around(*dot, 4.5, 4.5)) for dot in dots)
        assert box.left >= 0 and box.right <= 100
        nearest = min(range(6), key=lambda other: box.distance(*dots[other]))
        assert nearest == number or not places[number].clear, "a clear label is nearest to its own dot"
    assert all(spot.clear for spot in places) == (apart == 6)
    wide = placed(dots, [40.0] * 6, 5.0, Box(0, 0, 60, 100), [], 4.5)
    assert not all(spot.clear for spot in wide), "names without room, for which numbers stand"


def test_a_row_has_the_joules_of_its_parts_where_they_were_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = timing(Path("results/e"), "runs/d/s/seed-1.timing.json", energy_joules={"gpu": 5.0, "processor": 2.0})
    encoding = timing(Path("results/e"), "embeddings/d/m/r/seed-1.vectors.timing.json", energy_joules={"gpu": 70.0})
    training = timing(Path("results/e"), "models/m/r/seed-1.timing.json")
    found = row(run, Beside(training=str(training), encoding=str(encoding)))
    reported = {name: value for name, value in found.items() if name.endswith("_joules")}
    assert reported == {"gpu_joules": 5.0, "processor_joules": 2.0, "encoding_gpu_joules": 70.0}


@pytest.mark.parametrize("ratio", [1.3, 3.3, 5.01, 40, 3000])
def test_an_axis_has_two_ticks_or_more(ratio):
    for low in (0.7, 1.01, 2.01, 5.67, 51):
        assert len(cost_axis([Cost(low, low, low), Cost(low * ratio, low * ratio, low * ratio)], 190, 7).ticks) >= 2
