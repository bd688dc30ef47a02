"""Effects against costs: the Pareto front by hand, and a figure in which nothing is cut off."""

import json
from pathlib import Path

import pytest

from scripts.reports.costs import Beside, row
from scripts.reports.draw_costs import cost_figure
from scripts.reports.figures.cost_data import Point, pareto_front, point


def test_pareto_front_by_hand():
    points = [(5, 0.0), (20, 0.09), (20, 0.02), (25, 0.03), (300, 0.1), (3, -0.1), (300, 0.1)]
    assert pareto_front(points) == [5, 0, 1, 4, 6]  # cheapest first; of equal points both
    assert pareto_front([]) == []


def test_a_point_averages_tasks_and_seeds_and_an_untrained_system_cost_no_training():
    rows = [{"latency_p50_ms": 2.0, "training_seconds": None}, {"latency_p50_ms": 4.0, "training_seconds": None}]
    control = point("BM25", rows, None)
    assert (control.latency_ms, control.training_seconds, control.effect, control.is_control) == (3.0, 0.0, 0.0, True)
    summary = {"effect": 0.1, "ci_low": 0.0, "ci_high": 0.2}
    made = point("x", [{"latency_p50_ms": None, "training_seconds": 9.0}], summary)
    assert (made.latency_ms, made.training_seconds, made.effect) == (None, 9.0, 0.1)
    sized = [
        {"latency_p50_ms": 1.0, "training_seconds": None, "index_mb": size, "weights_mb": 9.0} for size in (1.0, 2.0)
    ]
    assert (made.index_mb, point("y", sized, None).index_mb, point("y", sized, None).weights_mb) == (None, 1.5, 9.0)


SYSTEMS = [Point("BM25", 0, 0, 0, 4.9, 0.0, True), Point("a system with a name of many words", 0.1, 0.05, 0.15, 20.0, 113.0),
           Point("x", -0.1, -0.15, -0.05, 267.0, 0.0)]  # fmt: skip


SMALL = [
    Point("whole", 0, 0, 0, 4.9, 0.0, True, 5.2, 90.9),
    Point("codes", 0.01, 0.0, 0.02, 4.1, 3.0, False, 0.7, 23.1),
]


@pytest.mark.parametrize(
    ("points", "sizes"),
    [(SYSTEMS, []), (SYSTEMS * 6, []), ([SYSTEMS[0], SYSTEMS[2]], []), (SYSTEMS[:1], []), (SMALL, ["index_mb"]),
     ([*SYSTEMS[1:], *SMALL], ["index_mb", "weights_mb"])],
)  # fmt: skip
def test_the_figure_holds_every_system_and_fits_its_page(points, sizes):
    figure = cost_figure(points, "MD", "nDCG@10", 0.05, sizes, last_step=len(points) > 2)
    said = " ".join(text.get_text() for text in figure.texts)
    assert ("Times are of a system's own step" in said) == (len(points) > 2)
    trained = any(one.training_seconds for one in points)
    assert len(figure.axes) == 1 + trained + len(sizes) and figure.get_size_inches()[0] <= 7.001
    figure.draw_without_rendering()
    renderer, page = figure.canvas.get_renderer(), figure.bbox.padded(0.5)
    for text in [*figure.texts, *(label for ax in figure.axes for label in [ax.xaxis.label, ax.yaxis.label])]:
        box = text.get_window_extent(renderer)
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, text.get_text()
    numbers = [text.get_text() for text in figure.axes[0].texts]
    assert numbers == [str(number) for number in range(1, len(points) + 1)]


def test_a_row_has_the_joules_of_its_parts_where_they_were_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, encoding, training = (
        Path("results/e", name)
        for name in (
            "runs/d/s/seed-1.timing.json",
            "embeddings/d/m/r/seed-1.timing.json",
            "models/m/r/seed-1.timing.json",
        )
    )
    every = {"peak_rss_bytes": 1e6, "peak_gpu_bytes": 0, "device": "A100", "threads": 2, "seconds": 1.0}
    counted = {run: {"gpu": 5.0, "processor": 2.0}, encoding: {"gpu": 70.0}, training: None}
    for path, joules in counted.items():
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(every | ({"energy_joules": joules} if joules else {})))
    found = row(run, Beside(training=str(training), encoding=str(encoding)))
    told = {name: value for name, value in found.items() if name.endswith("_joules")}
    assert told == {"gpu_joules": 5.0, "processor_joules": 2.0, "encoding_gpu_joules": 70.0}
