"""The components of variance of a finished comparison: by simulation, by hand, and through files."""

import math

import numpy as np
import pandas as pd
import pytest

from ranktrial.study_design import Task, components_of, devices, hours_of, seed_variance_of, tasks_of

SIZES = {"a": 40, "b": 80, "c": 25, "d": 60}


def experiment(generator, query, seed_variance, seeds, control_seed_variance=(0.0, 0.0, 0.0), control_seeds=1):
    """Values of both systems by task, query x seed, and the tasks with the variance of their mean differences."""
    names = ("treatment", seed_variance, seeds), ("control", control_seed_variance, control_seeds)
    values = {}
    for name, (seed, by_task, by_query), m in names:
        common = math.sqrt(seed) * generator.standard_normal(m)
        values[name] = {
            task: common
            + math.sqrt(by_task) * generator.standard_normal(m)
            + math.sqrt(by_query) * generator.standard_normal((n, m))
            for task, n in SIZES.items()
        }
    tasks = []
    for task, n in SIZES.items():
        values["treatment"][task] = values["treatment"][task] + math.sqrt(query) * generator.standard_normal((n, 1))
        difference = values["treatment"][task].mean(axis=1) - values["control"][task].mean(axis=1)
        tasks.append(Task(task, n, difference.var(ddof=1) / n, 1.0))
    frames = {
        name: {task: pd.DataFrame(of_task) for task, of_task in by_task.items()} for name, by_task in values.items()
    }
    return tasks, frames


def test_the_components_are_those_that_were_simulated():
    generator = np.random.default_rng(3)
    found = []
    for _ in range(150):
        tasks, values = experiment(generator, 0.05, (0.0009, 0.0004, 0.01), 5, (0.0004, 0.0, 0.02), 3)
        components = components_of(tasks, 0.001, [values["treatment"], values["control"]])
        treatment, control = components.seed_variances
        found.append([components.query, treatment.seed, treatment.seed_by_collection, treatment.seed_by_query,
                      control.seed, control.seed_by_query])  # fmt: skip
        assert (components.collection, treatment.df, control.df) == (0.001, 4, 2)
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(150)
    expected = [0.05, 0.0009, 0.0004, 0.01, 0.0004, 0.02]
    # a component below 0 counts as 0, which lifts the mean of small ones a little
    assert (np.abs(means - expected) < 4 * errors + 0.1 * np.array(expected)).all(), (means, expected)


def test_components_by_hand():
    """Seed means -1 and 1 on one task, -3 and 3 on the other, without noise: variances 2 and 18, covariance 6."""
    values = {"a": pd.DataFrame([[-1.0, 1.0], [-1.0, 1.0]]), "b": pd.DataFrame([[-3.0, 3.0], [-3.0, 3.0]])}
    tasks = [Task("a", 2, 0.5, 1.0), Task("b", 2, 0.5, 1.0)]
    seed_variance = seed_variance_of(tasks, values)
    assert (seed_variance.seed, seed_variance.seed_by_collection, seed_variance.seed_by_query, seed_variance.df) == (
        6.0,
        4.0,
        0.0,
        1,
    )
    twice = seed_variance_of([task._replace(scale=2.0) for task in tasks], values)
    assert (twice.seed, twice.seed_by_collection) == (24.0, 16.0)
    assert components_of(tasks, 0.1, [values]).query == 1.0


def test_with_one_task_or_one_seed_the_seed_variance_is_common_or_unknown():
    values = {"a": pd.DataFrame([[-1.0, 1.0], [-1.0, 1.0]]), "b": pd.DataFrame([[0.5], [0.7]], columns=[1])}
    tasks = [Task("a", 2, 0.5, 1.0), Task("b", 2, 0.5, 1.0)]
    seed_variance = seed_variance_of(tasks, values)  # a selected seed ranks the other collection
    assert (seed_variance.seed, seed_variance.seed_by_collection) == (2.0, 0.0)
    assert seed_variance_of(tasks[1:], values) is None
    assert components_of(tasks[1:], 0.0, [values]).seed_variances == ()


def test_a_standardised_effect_has_its_scale_and_ddof_is_undone():
    effects = pd.DataFrame({"task": ["a", "b", "c"], "n": [5, 10, 4], "control_mean": [0.1, 0.2, 0.3],
                            "treatment_mean": [0.2, 0.4, 0.3], "effect": [0.5, 0.4, None],
                            "variance": [0.01, 0.02, None]})  # fmt: skip
    smd = tasks_of(effects, in_units_of_measure=False, ddof=1)
    assert [(task.name, task.scale, task.variance) for task in smd] == [
        ("a", pytest.approx(5.0), 0.01), ("b", pytest.approx(2.0), 0.02),
    ]  # fmt: skip
    md = tasks_of(effects, in_units_of_measure=True, ddof=0)
    assert [task.scale for task in md] == [1.0, 1.0]
    assert [task.variance for task in md] == pytest.approx([0.01 * 5 / 4, 0.02 * 10 / 9])


def test_hours_are_means_over_tasks_and_seeds_and_a_training_counts_once():
    costs = pd.DataFrame(
        {
            "task": ["a", "b", "a", "b", "a"],
            "system": ["t", "t", "t", "t", "bm25"],
            "seed": ["1", "1", "2", "2", "0"],
            "queries_per_second": [10.0, 10.0, 5.0, 5.0, 100.0],
            "seconds": [20.0, 20.0, 40.0, 40.0, 2.0],
            "end_to_end_seconds": [30.0, 30.0, 60.0, 60.0, 2.0],  # with a first stage that takes half as long again
            "end_to_end_encoding_seconds": [36.0, 72.0, 36.0, 72.0, 0],
            "end_to_end_training_seconds": [3600.0, 3600.0, 7200.0, 7200.0, 0],
            "device": ["A100", "A100", "A100", "A100", "cpu"],
        }
    )
    trained, bm25 = hours_of(costs, "t"), hours_of(costs, "bm25")
    assert trained.training == pytest.approx(1.5) and trained.collection == pytest.approx(54 / 3600)
    assert trained.query == pytest.approx(1.5 * 0.15 / 3600)
    assert (bm25.training, bm25.collection, bm25.query) == (None, 0.0, pytest.approx(0.01 / 3600))
    assert hours_of(costs, "theirs") is None and hours_of(pd.DataFrame(), "t") is None
    assert devices(costs, ["t", "bm25"]) == ["A100", "cpu"] and devices(pd.DataFrame(), ["t"]) == []


def test_the_scale_of_a_task_without_a_difference_is_that_of_the_others():
    """The seed variance of an SMD is on the scale 1 / S, not 1, where the difference is 0 by chance."""
    effects = pd.DataFrame({
        "task": list("abcd"), "n": 20, "variance": 0.05, "effect": [0.5, 0.0, 0.8, -1.2],
        "control_mean": 0.4, "treatment_mean": [0.5, 0.4, 0.6, 0.2],
    })  # fmt: skip
    assert [task.scale for task in tasks_of(effects, False, 1)] == pytest.approx([5.0, 5.0, 4.0, 6.0])
    assert [task.scale for task in tasks_of(effects, True, 1)] == [1.0] * 4
    assert [task.scale for task in tasks_of(effects[1:2], False, 1)] == [1.0]
