"""Variances of small tasks: by hand, whose they are, and what they do to a summary."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from ranktrial.statistics.comparison import TaskScores, compare
from ranktrial.statistics.dependence import Counts, Dependence
from ranktrial.statistics.heterogeneity import q_statistic
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.prediction_powered import ModelScores
from ranktrial.statistics.sensitivity import sensitivity
from ranktrial.statistics.synthesise import prior_degrees, shrunk, synthesise, with_shrunk_variances


def test_the_prior_is_smyths_estimate():
    of_query, degrees = np.array([0.01, 0.2, 0.9, 0.05]), np.array([9.0, 19.0, 99.0, 29.0])
    e = np.log(of_query) - special.digamma(degrees / 2) + np.log(degrees / 2)
    between = ((e - e.mean()) ** 2).sum() / 3 - special.polygamma(1, degrees / 2).mean()
    assert special.polygamma(1, prior_degrees(of_query, degrees) / 2) == pytest.approx(between, rel=1e-10)
    assert math.isinf(prior_degrees(np.array([0.1, 0.11, 0.1, 0.09]), degrees))


def test_the_prior_of_simulated_variances_is_found():
    generator, degrees = np.random.default_rng(1), np.full(4000, 19.0)
    for prior in (4.0, 30.0):
        true = prior / generator.chisquare(prior, len(degrees))
        found = prior_degrees(true * generator.chisquare(degrees) / degrees, degrees)
        assert found == pytest.approx(prior, rel=0.15)


def test_variances_of_few_queries_are_shrunk_to_the_pooled_one_of_a_query():
    variances, degrees = np.array([0.0001, 0.002, 0.0005]), np.array([1.0, 19.0, 99.0])
    of_query, n = np.array([0.0002, 0.04, 0.05]), degrees + 1
    pooled, prior = (1 * 0.0002 + 19 * 0.04 + 99 * 0.05) / 119, prior_degrees(of_query, degrees)
    assert 0 < prior < math.inf
    small = [(df * s2 + prior * pooled) / (df + prior) / m for df, s2, m in zip(degrees, of_query, n, strict=True)]
    assert shrunk(variances, degrees, n, n) == pytest.approx([*small[:2], 0.0005], rel=1e-14)
    equal = np.array([0.0101, 0.01, 0.0002])
    assert shrunk(equal, np.array([3.0, 4.0, 99.0]), np.array([4.0, 5.0, 200.0]), np.array([4.0, 5.0, 100.0])) == (
        pytest.approx([*((3 * 0.0404 + 4 * 0.05 + 99 * 0.04) / 106 / np.array([4, 5])), 0.0002], rel=1e-14)
    )


def test_correlations_stay_and_large_tasks_are_left_alone():
    sampling = np.array([[0.004, 0.001], [0.001, 0.0009]])
    effects = Dependence(sampling, (9.0, 199.0), (0, 0), counts=(Counts(10, 10), Counts(200, 200)))
    found = with_shrunk_variances(effects)
    assert found.shrunk and found.sampling[1, 1] == 0.0009 and found.sampling[0, 0] > 0.004
    before, after = (s[0, 1] / np.sqrt(s[0, 0] * s[1, 1]) for s in (sampling, found.sampling))
    assert after == pytest.approx(before, rel=1e-14)
    large = replace(effects, counts=(Counts(60, 50), Counts(200, 200)))  # whatever the degrees of freedom
    assert with_shrunk_variances(large) is large
    assert with_shrunk_variances(replace(effects, counts=(Counts(10, 10), None))).sampling is sampling


def clustered_tasks() -> list[TaskScores]:
    """Three tasks of 150 queries, and one of 600 in 451 clusters, the largest of 150."""
    generator, tasks = np.random.default_rng(3), []
    for name in "abc":
        control = generator.uniform(0, 1, 150)
        tasks.append(TaskScores(name, control, control + generator.normal(0.03, 0.2, 150)))
    control = generator.uniform(0, 1, 600)
    clusters = {str(query): "giant" if query < 150 else f"c{query}" for query in range(600)}
    return [*tasks, TaskScores("big", control, control + generator.normal(0.02, 0.2, 600), clusters=clusters)]


def test_a_task_of_many_clusters_of_unequal_size_has_its_own_variance():
    found = compare(clustered_tasks())
    assert found.tasks["big"].observed.df < 49 and found.tasks["big"].observed.clusters == 451
    own = compare(clustered_tasks(), Method(small_tasks="own"))
    assert found.synthesis.meta == own.synthesis.meta


def test_the_variance_of_a_query_is_compared_whatever_the_clusters():
    generator, tasks = np.random.default_rng(5), []
    for number in range(4):
        control, difference = generator.uniform(0, 1, 200), generator.normal(0.03, 0.2, 200)
        clusters = {str(query): f"c{query // 5}" for query in range(200)} if number == 0 else None
        tasks.append(TaskScores(f"t{number}", control, control + difference, clusters=clusters))
    found = compare(tasks)
    own, used = found.tasks["t0"].effect.variance, found.dependence.sampling[0, 0]
    of_query = [200 * result.effect.variance for result in found.tasks.values()]
    assert found.dependence.shrunk and min(of_query) < 200 * used < max(of_query) and abs(used / own - 1) < 0.5


def test_a_correlation_and_a_model_s_part_are_not_shrunk():
    generator = np.random.default_rng(7)
    gold = {name: generator.normal(0, 1, n) for name, n in {"a": 6, "b": 8, "c": 300}.items()}
    correlated = {name: (x, x + generator.normal(0, 1, len(x))) for name, x in gold.items()}
    found = compare(correlated, Method(effect="CORR"))
    assert not found.dependence.shrunk and found.dependence.sampling[0, 0] == pytest.approx(1 / 3)

    def human(name: str, n: int, model: bool) -> TaskScores:
        x, d = generator.uniform(0, 1, 400), generator.normal(0.02, 0.2, 400)
        judged = ModelScores(x[:n, None], (x + d)[:n, None], x[n:, None], (x + d)[n:, None])
        return TaskScores(name, x[:n], x[:n] + d[:n] + generator.normal(0, 0.1, n), model=judged if model else None)

    powered = compare([human("a", 40, True), human("b", 40, False), human("c", 300, False)])
    assert powered.dependence.sampling[0, 0] == powered.tasks["a"].effect.variance
    assert powered.dependence.sampling[1, 1] != powered.tasks["b"].effect.variance


def test_a_task_on_which_both_systems_are_the_same_leaves_the_variances_of_others():
    generator, effects = np.random.default_rng(9), {"small": (10, 0.2), "x": (200, 0.05), "y": (200, 0.04)}
    scores = {}
    for name, (n, mean) in effects.items():
        control, d = generator.uniform(0, 1, n), generator.normal(0, 0.1, n)
        scores[name] = (control, control + d - d.mean() + mean)
    scores["same"] = (np.linspace(0, 1, 10), np.linspace(0, 1, 10))
    method = Method(interval="normal")
    found = compare(scores, method)
    all_tasks = sensitivity(found.tasks, method)
    variances = [*np.diag(found.dependence.sampling), all_tasks.pooled.variance / 10]
    y = np.array([0.2, 0.05, 0.04, 0.0])
    assert all_tasks.meta.q == pytest.approx(q_statistic(y, np.array(variances)), rel=1e-12)


def test_homogeneity_is_not_rejected_too_often():
    generator = np.random.default_rng(11)
    worlds = {"few": ([5] * 10, [0.25] * 10, 0.16), "unlike": ([30] * 5 + [1000] * 5, [1.0] * 5 + [0.2] * 5, 0.11)}
    for sizes, sds, most in worlds.values():
        n, sd = np.array(sizes, dtype=float), np.array(sds)
        rejected = []
        for _ in range(300):
            y, variances = generator.normal(0, sd / np.sqrt(n)), sd**2 * generator.chisquare(n - 1) / (n - 1) / n
            q = q_statistic(y, shrunk(variances, n - 1, n, n))
            rejected.append(stats.chi2.sf(q, len(n) - 1) < 0.05)
        assert np.mean(rejected) < most


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
    assert min(shrunken.weights, key=shrunken.weights.get) == "two" and shrunken.meta.q < 20
    assert set(synthesise(effects).weights.values()) == {0.2}
    assert shrunken.fixed_mean == own.fixed_mean  # of these tasks, each with its own variance
