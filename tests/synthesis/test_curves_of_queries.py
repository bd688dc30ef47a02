"""Curves over the number of training queries: samples, differences to start and baseline, and how many all are."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.synthesis.transfer import CurvesSettings, Point, Values, curves_record, curves_rows
from scripts.synthesis.transfer import sizes_of_all, trained_queries

RNG = np.random.default_rng(2)
BASE = RNG.uniform(0.2, 0.8, (30, 1))


def system(mean, seeds):
    return Values(BASE + RNG.normal(mean, 0.1, (30, len(seeds))), tuple(seeds))


VALUES = {
    "t": {
        "bm25": Values(BASE, ("0",)),
        "start": system(0.1, "12"),
        "few": system(0.05, "12"),
        "whole": system(0.2, "12"),
        "other": system(0.21, "12"),
    }
}
POINTS = [
    Point("t", "pseudo-labels", "all", "whole", "m/r"),
    Point("t", "pseudo-labels", 32, "few"),
    Point("t", "pseudo-labels", 0, "start"),
    Point("t", "scratch", "all", "other", "m/s"),
]
SETTINGS = CurvesSettings("RR", 0.05, "bm25", POINTS, {"t": "d"})
SIZES = {("t", "pseudo-labels"): 500, ("t", "scratch"): 500}


def found(points=POINTS):
    return curves_record(CurvesSettings("RR", 0.05, "bm25", points, {"t": "d"}), VALUES, SIZES)


def test_points_ascend_and_all_is_its_number():
    assert [(p.start, p.queries, p.size) for p in found().points] == [
        ("pseudo-labels", 0, 0),
        ("pseudo-labels", 32, 32),
        ("pseudo-labels", "all", 500),
        ("scratch", "all", 500),
    ]
    json.dumps(given(found()), allow_nan=False)


def test_a_sample_is_set_against_the_start_that_it_goes_on_from():
    few, start = (VALUES["t"][name].table.mean(axis=0) for name in ("few", "start"))
    against = found().points[1].against_start
    assert against.samples == pytest.approx({"1": few[0] - start[0], "2": few[1] - start[1]})
    fixed = [Point("t", "pseudo-labels", 32, "few", start_seed=2), *POINTS[2:3]]
    against = (
        curves_record(CurvesSettings("RR", 0.05, "bm25", fixed, {"t": "d"}), VALUES, SIZES).points[1].against_start
    )
    assert against.samples == pytest.approx({"1": few[0] - start[1], "2": few[1] - start[1]})
    assert against.difference.difference == pytest.approx(few.mean() - start[1])


def test_tests_are_over_queries_whose_values_are_means_over_samples():
    point = found().points[1]
    test = stats.ttest_rel(VALUES["t"]["few"].table.mean(axis=1), BASE[:, 0])
    assert point.against_baseline.p_value == pytest.approx(test.pvalue)
    assert point.against_baseline.difference == pytest.approx(point.mean - BASE.mean())


def test_the_t_interval_over_samples():
    means = VALUES["t"]["few"].table.mean(axis=0)
    low, high = stats.t.interval(0.95, 1, means.mean(), stats.sem(means))
    assert found().points[1].t_interval == pytest.approx([low, high])


def test_starting_points_are_compared_where_all_queries_train():
    (pair,) = found().full
    whole, other = (VALUES["t"][name].table.mean(axis=1) for name in ("whole", "other"))
    assert (pair.start, pair.other) == ("pseudo-labels", "scratch")
    assert pair.difference.p_value == pytest.approx(stats.ttest_rel(whole, other).pvalue) == pytest.approx(pair.p_holm)


def test_a_row_a_point():
    table = curves_rows(found())
    assert list(table.columns[:9]) == ["target", "start", "queries", "size", "system", "mean", "min", "max", "samples"]
    means = VALUES["t"]["few"].table.mean(axis=0)
    line = table.iloc[1]
    assert (line["min"], line["max"], line["samples"]) == (pytest.approx(means.min()), pytest.approx(means.max()), 2)
    assert pd.isna(table.iloc[0]["start_difference"]) and not pd.isna(line["start_difference"])


def test_how_many_all_are_is_stated_by_the_training_else_by_the_dataset(tmp_path):
    timings = []
    for seed, reported in ((1, {"queries": 480}), (2, {"queries": 490}), (3, {})):
        path = tmp_path / "models" / "m" / "r" / f"seed-{seed}.timing.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(reported))
        timings.append(path)
    datasets = pd.DataFrame({"dataset": ["d", "d"], "split": ["train", "test"], "queries": [600, 10]})
    trained = trained_queries(timings)
    assert trained == {"m/r": 490}
    assert sizes_of_all(SETTINGS, trained, datasets) == {("t", "pseudo-labels"): 490, ("t", "scratch"): 600}
    with pytest.raises(UserError, match="other: neither its training nor"):
        sizes_of_all(SETTINGS, trained, datasets.iloc[1:])
