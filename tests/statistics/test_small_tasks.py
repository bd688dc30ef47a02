"""Variances of small tasks: by hand, and what they do to a summary."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.statistics.dependence.structure import Dependence
from scripts.statistics.meta_analysis.small_tasks import shrunk, with_shrunk_variances
from scripts.statistics.method import Method
from scripts.statistics.synthesise import synthesise
from scripts.statistics.task.effect_sizes import effect_size


def test_variances_of_few_queries_are_shrunk_to_the_pooled_one_of_a_query():
    variances, degrees = np.array([0.0001, 0.002, 0.0005]), np.array([1.0, 19.0, 99.0])
    of_query = np.array([0.0002, 0.04, 0.05])
    pooled = (1 * 0.0002 + 19 * 0.04 + 99 * 0.05) / 119
    expected = [(0.0002 + 20 * pooled) / 21 / 2, (19 * of_query[1] + 20 * pooled) / 39 / 20, 0.0005]
    assert shrunk(variances, degrees) == pytest.approx(expected, rel=1e-14)


def test_correlations_stay_and_large_tasks_are_left_alone():
    sampling = np.array([[0.004, 0.001], [0.001, 0.0009]])
    found = with_shrunk_variances(Dependence(sampling, (9.0, 199.0), (0, 0)))
    assert found.shrunk and found.sampling[1, 1] == 0.0009
    before, after = (s[0, 1] / np.sqrt(s[0, 0] * s[1, 1]) for s in (sampling, found.sampling))
    assert after == pytest.approx(before, rel=1e-14)
    large = Dependence(sampling, (49.0, 199.0), (0, 0))
    assert with_shrunk_variances(large) is large


def test_a_task_of_two_queries_does_not_weigh_the_most():
    generator = np.random.default_rng(2)
    sizes = {"two": 2, "a": 60, "b": 80, "c": 100, "d": 90}
    effects = {}
    for name, n in sizes.items():
        difference = np.array([0.5, 0.51]) if n == 2 else generator.normal(0.02, 0.25, n)
        effects[name] = effect_size(difference, 0 * difference, "MD")
    own = synthesise(effects, Method(interval="normal", small_tasks="own"))
    assert max(own.weights, key=own.weights.get) == "two" and own.meta.q > 100
    shrunken = synthesise(effects, Method(interval="normal"))
    assert min(shrunken.weights, key=shrunken.weights.get) == "two" and shrunken.meta.q < 15
    assert set(synthesise(effects).weights.values()) == {0.2}
    assert shrunken.fixed_mean == own.fixed_mean  # of these tasks, each with its own variance
