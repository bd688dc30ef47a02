"""Effects that are equal or nearly so: kept by a pooled variance, and cautioned against."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ranktrial.statistics.comparison import TaskScores, compare
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.method import Method
from ranktrial.statistics.sensitivity import SameTask, pooled_variance, sensitivity
from ranktrial.statistics.task_results import TaskResult, task_result, task_warnings

METHOD = Method(interval="knapp-hartung", permutations=1000, seed=7, small_tasks="own")
RANDOM = np.random.default_rng(4)


def result(control: np.ndarray, treatment: np.ndarray, **changes) -> TaskResult:
    by_seed = (values if values.ndim == 2 else values[:, None] for values in (control, treatment))
    return task_result(*by_seed, replace(METHOD, **changes))


def tasks(gains: dict[str, float | None], **changes) -> dict[str, TaskResult]:
    """Tasks of 20 to 40 queries with a mean difference; None for systems that are the same."""
    results = {}
    for place, (task, gain) in enumerate(gains.items()):
        control = RANDOM.uniform(0, 1, 20 + 5 * place)
        noise = RANDOM.normal(0, 0.1, len(control))
        treatment = control if gain is None else control + gain + noise - noise.mean()
        results[task] = result(control, treatment, **changes)
    return results


def test_a_task_on_which_nothing_changes_keeps_its_place_by_the_pooled_variance():
    """The mean of .25, .25 and three times 0 is .10: the summary of the others is .25, that of all is near .10."""
    results = tasks({"a": 0.25, "b": 0.25, "c": None, "d": None, "e": None})
    found = sensitivity(results, METHOD)
    differences = {
        task: outcome.effect.variance * outcome.effect.n for task, outcome in results.items() if task in "ab"
    }
    within = (19 * differences["a"] + 24 * differences["b"]) / 43
    assert found.pooled.variance == pytest.approx(within, rel=1e-12) and found.pooled.df == 43
    assert found.meta.k == 5 and found.tasks["c"] == SameTask(30, 0.0, pytest.approx(within / 30))
    assert found.meta.summary.effect == pytest.approx(0.1, abs=0.01)
    assert found.meta.summary.ci_low < 0.1 < found.meta.summary.ci_high


def test_its_equivalence_is_tested_with_the_pooled_variance():
    results = tasks({"a": 0.2, "b": None}, margin=0.05)
    test = sensitivity(results, replace(METHOD, margin=0.05)).tasks["b"]
    expected = stats.t.sf(0.05 / np.sqrt(test.variance), 19)
    assert test.p_equivalence == test.p_non_inferiority == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_non_inferiority_where_every_query_is_worse_by_the_same_has_the_sign_of_the_measure(lower_is_better):
    """An error that is higher by 0.4 on every query is no case of "not worse"."""
    results = tasks({"a": 0.2, "b": -0.1}, margin=0.05)
    control, worse = RANDOM.uniform(0, 1, 30), 0.4 if lower_is_better else -0.4
    results["c"] = result(control, control + worse, margin=0.05)
    method = replace(METHOD, margin=0.05, lower_is_better=lower_is_better)
    assert sensitivity(results, method).tasks["c"].p_non_inferiority > 0.99


@pytest.mark.parametrize(("effect", "shift", "same"), [
    ("MD", 0.0, 0.0), ("MD", 0.1, 0.1), ("SMD", 0.0, 0.0), ("SMD", 0.1, None), ("d_av", 0.0, 0.0), ("CORR", 0.0, None),
])  # fmt: skip
def test_what_is_the_same(effect, shift, same):
    control = RANDOM.uniform(0, 1, 12)
    found = result(control, control + shift, effect=effect)
    assert found.effect.undefined and found.same == (None if same is None else pytest.approx(same))


def test_without_such_a_task_or_without_another_there_is_no_such_summary():
    assert sensitivity(tasks({"a": 0.2, "b": 0.1}), METHOD) is None
    nothing = tasks({"a": None, "b": None})
    assert sensitivity(nothing, METHOD) is None
    assert pooled_variance({task: outcome.effect for task, outcome in nothing.items()}) is None


def test_a_standardised_difference_of_alike_systems_is_cautioned_against():
    control = RANDOM.uniform(0, 1, 40)
    alike, unlike = control + RANDOM.normal(0, 0.05, 40), RANDOM.uniform(0, 1, 40)
    (warning,) = task_warnings({"a": result(control, alike, effect="SMD"), "b": result(control, unlike, effect="SMD")})
    assert warning.startswith("a: r is 0.9") and "effect d_av fits" in warning
    assert task_warnings({"a": result(control, alike, effect="d_av")}) == []


def test_ddof_holds_for_the_test_the_equivalence_and_the_seeds():
    control, n = RANDOM.uniform(0, 1, (15, 1)), 15
    treatment = control + RANDOM.normal(0.05, 0.1, (15, 3))
    difference = treatment.mean(axis=1) - control[:, 0]
    ones, zeros = (result(control, treatment, ddof=ddof, margin=0.1, task_interval="t") for ddof in (1, 0))
    assert zeros.t_test.t == pytest.approx(difference.mean() / (difference.std() / np.sqrt(n)), rel=1e-12)
    assert zeros.t_test.p_value == pytest.approx(zeros.interval.p_value, rel=1e-12)
    expected = stats.t.sf((difference.mean() + 0.1) / (difference.std() / np.sqrt(n)), n - 1)
    assert zeros.equivalence.p_non_inferiority == pytest.approx(expected, rel=1e-10)
    assert zeros.variance.sampling == pytest.approx(zeros.effect.variance, rel=1e-12)
    assert ones.variance.total - zeros.variance.total == pytest.approx(ones.effect.variance / n, rel=1e-9)


def tasks_that_depend() -> list[TaskScores]:
    """Two tasks with the same queries and three checkpoints of the treatment, and a task on which nothing changes."""
    random = np.random.default_rng(11)
    common, seed_effect = random.normal(0.05, 0.1, 30), np.array([-0.03, 0.0, 0.04])
    found = []
    for task in "ab":
        control = random.uniform(0, 1, 30)
        gain = (common + random.normal(0, 0.05, 30))[:, None] + seed_effect + random.normal(0, 0.01, (30, 3))
        found.append(TaskScores(task, control, control[:, None] + gain, corpus="x"))
    still = random.uniform(0, 1, 30)
    return [*found, TaskScores("c", still, np.tile(still[:, None], (1, 3)), corpus="y")]


def test_it_takes_the_covariance_and_the_seed_effects_of_the_summary():
    method = replace(METHOD, interval="normal")
    found = compare(tasks_that_depend(), method)
    seed_effects = tuple(found.seed_effects.values())
    assert list(found.seed_effects) == ["treatment"] and found.corpora == {"a": "x", "b": "x", "c": "y"}
    all_tasks = sensitivity(found.tasks, method, found.corpora, seed_effects)
    main = found.dependence
    sampling = np.zeros((3, 3))
    sampling[:2, :2], sampling[2, 2] = main.sampling, all_tasks.tasks["c"].variance
    assert sampling[0, 1] > 0.5 * sampling[0, 0]  # tasks a and b share queries
    by_hand = Dependence(sampling, (*main.degrees, all_tasks.pooled.df), (0, 0, 1), seed_effects)
    estimates = [*found.synthesis.estimates, 0.0]
    expected = dependent_meta_analysis(estimates, by_hand, "REML", "normal", 0.05, "k-2")
    assert all_tasks.meta.summary.effect == pytest.approx(expected.summary.effect, rel=1e-12)
    assert all_tasks.meta.summary.variance == pytest.approx(expected.summary.variance, rel=1e-12)
    assert expected.summary.variance > expected.given_seeds.variance
    given = sensitivity(found.tasks, method, found.corpora)
    assert given.meta.summary.variance < all_tasks.meta.summary.variance
    independent = sensitivity(found.tasks, method, {}, seed_effects)
    assert independent.meta.summary.effect != pytest.approx(all_tasks.meta.summary.effect, rel=1e-6)
