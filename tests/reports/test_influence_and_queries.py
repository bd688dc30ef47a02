"""The figures of influence and of queries: marks in their places, nothing over anything else, at any number of tasks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ranktrial.experiment import exhibits
from ranktrial.experiment.exhibits import influence as influence_exhibit
from ranktrial.experiment.exhibits import queries as queries_exhibit
from ranktrial.ir.nouns import LEADERBOARD, RETRIEVAL
from ranktrial.records.facts import Labels
from ranktrial.reports.figures import influence
from ranktrial.reports.figures import queries as queries_figure
from ranktrial.reports.figures.influence import InfluencePlot, Point, free_places, influence_plot
from ranktrial.reports.figures.page import Scale, limits_of
from ranktrial.reports.figures.queries import QueriesPlot, TaskQueries, density_of, quantiles, queries_plot
from ranktrial.statistics.superiority import superiority
from scripts.synthesis.tables import influence_table
from tests.experiment.test_config import resolved
from tests.reports.test_forest import LONG, outside, overlapping, patches, words
from tests.support.meta_records import meta_record


def points(k: int, names: tuple[str, ...] = (), scale: float = 1.0) -> InfluencePlot:
    g = np.random.default_rng(k)
    effects = pd.DataFrame({
        "task": [names[task % len(names)] if names else f"Task {task + 1}" for task in range(k)],
        "effect": scale * np.append(0.2, g.normal(0.03, 0.03, k - 1)), "variance": scale**2 * g.uniform(1e-5, 4e-4, k),
    })  # fmt: skip
    meta = meta_record(
        estimator="REML", interval="knapp-hartung", summary={"effect": 0.04, "ci_low": 0.01, "ci_high": 0.07}
    )
    settings = influence.Settings(alpha=0.05, labels=Labels({"Task 1": "First"}, {"t": "Treatment"}))
    return influence.influence_data(influence_table(effects, meta), meta, settings)


@pytest.mark.parametrize("plot", [points(3), points(20), points(5, LONG), points(4, scale=1e-7)])
def test_influence_fits_its_page(plot):
    figure = influence_plot(plot)
    assert overlapping(figure) == [] == outside(figure)
    assert figure.get_size_inches()[0] == 7.0


def test_influence_of_fewer_than_three_tasks_says_why_there_is_none():
    assert "Fewer than three tasks have an effect: none can be left out." in words(influence_plot(points(2)))


def test_influential_tasks_are_marked_and_labels_replace_names():
    said = words(influence_plot(points(7)))
    assert "First*" in said and "Task 2" in said and any("* influential" in text for text in said)
    assert "Influence of each task: Treatment against c" in said
    plain = points(7)
    calm = replace(plain, points=tuple(replace(point, influential=False) for point in plain.points))
    assert "First" in words(influence_plot(calm)) and not any(
        "influential" in text for text in words(influence_plot(calm))
    )


def test_an_undefined_distance_is_said():
    point = Point("a", 0.1, 0.1, 0.1, None, 0.0, None, False)
    plot = InfluencePlot("x", "Mean difference", (point, point, point), 0.1, 0.1, 0.1, 0.05)
    assert words(influence_plot(plot)).count("undefined") == 3


def test_numbers_in_baujats_plot_stand_free_or_not_at_all():
    close = [(50.0, 50.0), (50.5, 50.5), (90.0, 20.0)] + [(52.0 + 0.1 * more, 51.0) for more in range(30)]
    places = free_places(close, (0.0, 100.0, 0.0, 100.0))
    assert 3 in places and len(places) < len(close)
    for number, (x, y) in places.items():
        assert all(abs(a - x) > 5 or abs(b - y) > 5 for a, b in close), number


def test_a_scale_holds_what_lies_outside_at_its_edge():
    scale = Scale(10.0, 20.0, (0.0, 4.0), 0.5)
    assert [scale.at(value) for value in (-1.0, 0.0, 1.0, 4.0, 9.0)] == [10.0, 10.0, 15.0, 20.0, 20.0]
    assert limits_of([0.0])[0] == 0.0 < limits_of([0.0])[1]


def queries(k: int, names: tuple[str, ...] = (), lower: bool = False) -> QueriesPlot:
    g, tasks = np.random.default_rng(k), []
    for task in range(k):
        n = int(g.integers(20, 900))
        values = [np.clip(g.normal(0.03, 0.2, n), -1, 1), np.zeros(12), g.choice([-0.5, 0, 0.5], n)][task % 3]
        counts = superiority(-values if lower else values, 0.05)
        tasks.append(TaskQueries(names[task] if names else f"Task {task + 1}", values, *counts))
    return QueriesPlot("A title", "nDCG@10", RETRIEVAL, "Treatment", tuple(tasks), 0.05, lower)


@pytest.mark.parametrize("plot", [queries(1), queries(3), queries(20), queries(5, LONG, lower=True)])
def test_queries_fit_their_page(plot):
    figure = queries_plot(plot)
    assert overlapping(figure) == [] == outside(figure)


def test_the_bars_of_counts_are_in_proportion():
    plot = queries(1)
    bars = patches(queries_plot(plot), "counts")
    (task,) = plot.tasks
    total = sum(bar.get_width() for bar in bars)
    n = len(task.differences)
    assert [bar.get_width() / total for bar in bars] == pytest.approx([task.wins / n, task.ties / n, task.losses / n])
    assert f"{task.wins} / {task.ties} / {task.losses}" in words(queries_plot(plot))


def test_colours_follow_the_direction_of_the_measure():
    colours = [
        [patch.get_facecolor() for patch in patches(queries_plot(queries(1, lower=lower)), "sorted")]
        for lower in (False, True)
    ]
    assert colours[0] == colours[1][::-1] and colours[0][0] != colours[0][1]


def test_many_values_are_drawn_by_their_quantiles_and_equal_ones_have_no_density():
    assert list(quantiles(np.array([3.0, 1.0, 2.0]), 3)) == [1.0, 2.0, 3.0]
    assert list(quantiles(np.arange(100.0), 4)) == [12.0, 37.0, 62.0, 87.0]
    assert len(density_of(np.zeros(50), (-1.0, 1.0))[0]) == 0 == len(density_of(np.array([0.1, 0.2]), (-1.0, 1.0))[0])
    grid, density = density_of(np.random.default_rng(1).normal(0, 0.1, 500), (-1.0, 1.0))
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=0.02)


def test_figures_of_queries_are_given_labels_and_what_is_compared():
    settings = queries_figure.Settings(
        measure="P@1", alpha=0.05, control="BM25", treatment="Tuned", labels=Labels({"d": "Data"}, {})
    )
    table = pd.DataFrame([{"task": "d", "n": 2, **superiority(np.array([0.1, 0.0]), 0.05)._asdict()}])
    differences = pd.DataFrame({"task": "d", "query_id": ["1", "2"], "difference": [0.1, 0.0]})
    plot = queries_figure.queries_data(differences, table, settings)
    assert plot.title == "Queries: Tuned against BM25" and plot.tasks[0].task == "Data" and plot.tasks[0].ties == 1
    of_scores = queries_figure.queries_data(differences, table, replace(settings, measure="accuracy", of_tasks=True))
    assert of_scores.title == "Tasks: Tuned against BM25" and of_scores.nouns is LEADERBOARD


FURTHER = {"comparisons/c/figure": {"influence": True, "queries": True}}


def further(experiment):
    return [*influence_exhibit.names(experiment), *queries_exhibit.names(experiment)]


def test_comparisons_that_ask_for_further_figures_have_them():
    few = resolved(FURTHER)  # one task: nothing to leave out
    assert further(few) == ["queries-c"]
    data = {f"datasets/{name}": {"format": "beir", "location": at} for name, at in (("x", "docs"), ("y", "rules"))}
    experiment = resolved(FURTHER | data | {"tasks": ["d", "x", "y"], "datasets/d/label": "Data"})
    assert further(experiment) == ["influence-c", "queries-c"]
    assert "results/e/figures/queries-c.pdf" in exhibits.files(experiment)
    placed = {place["name"]: place["section"] for place in exhibits.shown(experiment)}
    assert [placed[name] for name in further(experiment)] == ["comparison-c", "comparison-c"]
    reported = queries_exhibit.settings(experiment, "c")
    assert reported["measure"] == "nDCG@10" and reported["labels"]["tasks"] == {"d": "Data"}
    assert reported["control"] == "bm25"
    assert set(exhibits.exhibit(experiment, "influence-c").settings) == {"alpha", "labels"}
