"""Measures of reproduction: the values are those of repro_eval 0.5.0 (KTU, RBO, RMSE, ER, DRI) for the same input."""

import numpy as np
import pytest

from ranktrial.statistics.agreement import (
    delta_relative_improvement,
    effect_ratio,
    kendalls_tau_union,
    rank_biased_overlap,
    root_mean_square_error,
)

ORIGINAL, REPEATED = ["d1", "d2", "d3", "d4", "d5"], ["d2", "d1", "d7", "d4", "d3"]
CONTROL, TREATMENT = (
    np.array([[0.2, 0.5, 0.1, 0.9], [0.25, 0.5, 0.1, 0.8]]),
    np.array([[0.4, 0.45, 0.3, 1.0], [0.3, 0.5, 0.35, 0.95]]),
)


def test_rankings():
    assert kendalls_tau_union(ORIGINAL, REPEATED) == pytest.approx(0.2, abs=1e-14)
    assert kendalls_tau_union(["a", "b", "c"], ["a", "c", "x"]) == pytest.approx(1.0, abs=1e-14)
    assert rank_biased_overlap(ORIGINAL, REPEATED) == pytest.approx(0.5766143106457242, abs=1e-15)
    assert rank_biased_overlap(ORIGINAL[:3], REPEATED[:3]) == pytest.approx(0.5027322404371585, abs=1e-15)
    assert rank_biased_overlap(["a", "b", "c"], ["a", "c", "x"]) == pytest.approx(0.7486338797814206, abs=1e-15)


def test_rankings_of_other_lengths():
    assert kendalls_tau_union(ORIGINAL, REPEATED[:3]) == kendalls_tau_union(ORIGINAL[:3], REPEATED[:3])
    assert rank_biased_overlap(ORIGINAL, ORIGINAL) == 1 and rank_biased_overlap(ORIGINAL, []) == 0
    # common documents at depths 1 to 3: 1, 1, 1, of 1, 2, 3
    assert rank_biased_overlap(["a", "b", "c"], ["a"], p=0.5) == pytest.approx((1 + 0.5 / 2 + 0.25 / 3) / 1.75)
    assert kendalls_tau_union(["a"], ["a"]) is None and rank_biased_overlap([], []) is None


def test_scores_and_effects():
    assert root_mean_square_error(*TREATMENT) == pytest.approx(0.06614378277661478, abs=1e-15)
    means = [
        (float(control.mean()), float(treatment.mean())) for control, treatment in zip(CONTROL, TREATMENT, strict=True)
    ]
    gains = [treatment - control for control, treatment in means]
    assert effect_ratio(*gains) == pytest.approx(0.9999999999999998, abs=1e-12)
    assert delta_relative_improvement(*means) == pytest.approx(-0.008021390374331194, abs=1e-12)


def test_nothing_to_compare_with():
    assert effect_ratio(0.0, 0.1) is None
    assert delta_relative_improvement((0.0, 0.5), (0.1, 0.5)) is None
