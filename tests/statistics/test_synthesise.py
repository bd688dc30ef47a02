"""The synthesis of named tasks: what is left out, one by one, in order, and back from Fisher's z."""

import math

import numpy as np
import pytest

from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import EffectSize, effect_size
from ranktrial.statistics.synthesise import synthesise
from ranktrial.statistics.task_intervals import TaskInterval


def effect(estimate: float, variance: float, kind: str = "MD") -> EffectSize:
    return EffectSize(kind, 100, 0.3, 0.4, estimate, variance)


A, B, C = effect(0.1, 0.01), effect(0.3, 0.02), effect(0.15, 0.005)
CONSTANT = effect_size(np.array([0.2, 0.3]), np.array([0.1, 0.2]), "MD")


def test_undefined_tasks_are_left_out_with_a_warning():
    synthesis = synthesise({"a": A, "x": CONSTANT, "b": B, "c": C}, Method(interval="normal"))
    assert synthesis.meta == meta_analysis([0.1, 0.3, 0.15], [0.01, 0.02, 0.005], "REML", "normal")
    assert list(synthesis.weights) == ["a", "b", "c"]
    assert tuple(synthesis.weights.values()) == synthesis.meta.weights
    assert synthesis.warnings == ("x: left out, the difference is the same for every query",)


def test_leave_one_out_and_cumulative():
    synthesis = synthesise({"a": A, "b": B, "c": C})
    assert list(synthesis.leave_one_out) == list(synthesis.cumulative) == ["a", "b", "c"]
    assert synthesis.leave_one_out["b"] == meta_analysis([0.1, 0.15], [0.01, 0.005])
    assert synthesis.cumulative["b"] == meta_analysis([0.1, 0.3], [0.01, 0.02])
    assert synthesis.cumulative["c"] == synthesis.meta


def test_no_task():
    synthesis = synthesise({"x": CONSTANT})
    assert synthesis.meta is None
    assert synthesis.weights == synthesis.leave_one_out == synthesis.cumulative == {}
    assert "no summary" in synthesis.warnings[-1]


def test_one_task():
    synthesis = synthesise({"x": CONSTANT, "a": A})
    assert (synthesis.meta.k, synthesis.meta.summary.effect, synthesis.leave_one_out) == (1, 0.1, {})
    assert len(synthesis.warnings) == 1 and synthesis.warnings[0].startswith("x: left out")


def test_a_task_that_is_alone_has_its_own_interval_by_its_name():
    own = {task: TaskInterval("t", -0.2, 0.4, 0.3, -0.5, 9.0) for task in "ab"}
    synthesis = synthesise({"a": A, "b": B}, task_intervals=own)
    without_b = synthesis.leave_one_out["b"]
    assert (without_b.k, without_b.interval, without_b.summary.df) == (1, "t", 9.0)
    assert (without_b.summary.effect, without_b.summary.ci_high, without_b.summary.p_value) == (0.1, 0.4, 0.3)
    assert synthesis.meta.interval == "equal-weights" and synthesise({"a": A}).meta.interval == "normal"


def test_tau2_outside_its_own_interval_is_said():
    """DL on Ranger's seven tasks; REML lies inside."""
    y = [0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292]
    se = [0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106]
    tasks = {str(place): effect(*pair) for place, pair in enumerate(zip(y, np.square(se), strict=True))}
    (warning,) = synthesise(tasks, Method(estimator="DL")).warnings
    assert warning.startswith("tau2 0.000964 (DL) lies outside its own 95% Q-profile interval [0.00113, 0.0214]")
    assert synthesise(tasks).warnings == synthesise(tasks, Method(estimator="PM")).warnings == ()


def test_an_empty_interval_of_tau2_is_said():
    homogeneous = {str(task): effect(0.1 + task * 1e-4, 0.01) for task in range(5)}
    assert "the interval of tau2 is [0, 0]" in synthesise(homogeneous).warnings[0]


def test_correlations_are_combined_as_z_and_reported_as_r():
    correlations = {str(z): effect(z, 0.01, "CORR") for z in (0.2, 0.9, 1.6, 0.5)}
    synthesis, inside = synthesise(correlations, Method(effect="CORR")), meta_analysis([0.2, 0.9, 1.6, 0.5], [0.01] * 4)
    assert synthesis.meta.summary.effect == math.tanh(inside.summary.effect)
    assert synthesis.meta.summary.ci_high == math.tanh(inside.summary.ci_high)
    assert synthesis.meta.fixed.ci_low == math.tanh(inside.fixed.ci_low)
    assert synthesis.meta.prediction_interval == tuple(map(math.tanh, inside.prediction_interval))
    assert synthesis.leave_one_out["0.2"].summary.effect == pytest.approx(math.tanh(1.0), rel=1e-12)
    assert (synthesis.meta.summary.se, synthesis.meta.tau2) == (inside.summary.se, inside.tau2)
