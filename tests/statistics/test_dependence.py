"""Clusters, shared queries and seed variance: by hand, by another way to the same number, and by simulation."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ranktrial.common.errors import UserError
from ranktrial.statistics.comparison import TaskScores, compare
from ranktrial.statistics.dependence import Dependence, covariance, is_diagonal
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.effects import all_effects
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import effect_size, influence, per_unit_of_measure
from ranktrial.statistics.paired import Hedges
from ranktrial.statistics.seeds import SeedEffects, effect_variance, seed_source, seeds_parts, shares_of
from ranktrial.statistics.summaries import Part, total
from ranktrial.statistics.task_intervals import all_task_intervals
from ranktrial.statistics.units import TaskQueries, clustered, components, effective_number, sums, units_of_tasks

G = np.random.default_rng(1)
STORED = json.loads((Path(__file__).parent / "oracle/rma_mv.json").read_text())


def test_components_join_queries_over_others():
    relevant = {"a": ["1"], "b": ["1", "2"], "c": ["2"], "d": ["3"], "e": [], "f": []}
    found = components(relevant)
    assert found["a"] == found["b"] == found["c"]
    assert len({found["a"], found["d"], found["e"], found["f"]}) == 4  # queries without documents share nothing


def test_effective_number_of_clusters():
    assert effective_number(list("abcd")) == 4
    assert effective_number(list("aaab")) == pytest.approx(16 / 10)


def test_design_effect_is_that_of_the_means_of_equal_clusters():
    """With clusters of one size the sandwich is the variance of the mean of the clusters' means."""
    values = G.normal(0, 1, (12, 4)) + G.normal(0, 1, (12, 1))
    flat, units = values.ravel(), np.repeat(np.arange(12), 4)
    expected = (values.mean(axis=1).var(ddof=1) / 12) / (flat.var(ddof=1) / 48)
    assert clustered(flat - flat.mean(), units) == pytest.approx((expected, 11), rel=1e-12)
    assert clustered(flat - flat.mean(), np.arange(48)) == (1, 47)
    assert clustered(flat - flat.mean(), np.zeros(48, dtype=int)) is None


@pytest.mark.parametrize("case", STORED["clusters"], ids=lambda case: case["name"])
def test_clustered_variance_is_that_of_clubsandwich(case):
    """CR2 of a mean and Satterthwaite's degrees of freedom: vcovCR and coef_test of lm(d ~ 1)."""
    d, units = np.array(case["d"]), np.array(case["cluster"], dtype=int) - 1
    found = clustered(d - d.mean(), units)
    variance = d.var(ddof=1) / len(d) * found.design_effect
    assert (math.sqrt(variance), found.df) == pytest.approx((case["se"], case["df"]), rel=1e-10)


def test_clustered_variance_is_right_on_average():
    """2,000 tasks of 60 clusters of sizes 1 to 5: the mean of variance x design effect is the variance of the means."""
    sizes = np.tile([1, 2, 3, 4, 5], 12)
    units = np.repeat(np.arange(60), sizes)
    means, variances = [], []
    for _ in range(2000):
        x = G.normal(0, 1, len(units)) + np.repeat(G.normal(0, 1, 60), sizes)
        means.append(x.mean())
        variances.append(x.var(ddof=1) / len(x) * clustered(x - x.mean(), units).design_effect)
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.1)  # 3 standard errors


@pytest.mark.parametrize("effect_type", ["MD", "SMD", "d_av", "CORR"])
def test_influence_gives_the_variance_over_repeated_experiments(effect_type):
    """The sum of squares over n^2 is the variance of the effect; 200 experiments with 80 queries."""
    estimates, variances = [], []
    for _ in range(200):
        y = G.normal(0.4, 0.2, 80)
        x = 0.05 + 0.6 * y + G.normal(0.16, 0.15, 80)
        estimates.append(effect_size(x, y, effect_type).estimate)
        e = influence(x, y, effect_type, 1, Hedges())
        variances.append((e**2).sum() / 80**2)
    assert np.mean(variances) == pytest.approx(np.var(estimates), rel=0.3)


def test_influence_of_a_mean_difference_is_the_jackknife():
    x, y = G.normal(0, 1, 9), G.normal(0, 1, 9)
    mean = (x - y).mean()
    expected = [8 * (mean - np.delete(x - y, j).mean()) for j in range(9)]
    assert influence(x, y, "MD", 1, Hedges()) == pytest.approx(expected, abs=1e-14)
    assert influence(x[:3], y[:3], "CORR", 1, Hedges()) is None


def test_a_unit_of_the_measure_in_units_of_the_effect():
    x, y = G.normal(0.5, 0.2, 50), G.normal(0.4, 0.2, 50)
    for effect_type in ("SMD", "d_av"):
        expected = effect_size(x, y, effect_type).estimate / (x - y).mean()
        assert per_unit_of_measure(x, y, effect_type, 1, Hedges()) == pytest.approx(expected, rel=1e-8)
    assert per_unit_of_measure(x, y, "MD", 1, Hedges()) == 1
    assert per_unit_of_measure(x, y, "CORR", 1, Hedges()) == pytest.approx(0, abs=1e-8)


def test_covariance_of_tasks_with_the_same_queries_is_that_of_their_means():
    d = G.normal(0, 1, (30, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    queries = [f"q{j}" for j in range(30)]
    unit_sums = [sums(column - column.mean(), queries) for column in d.T]
    found = covariance(d.var(axis=0, ddof=1) / 30, unit_sums, ["c", "c"])
    assert found == pytest.approx(np.cov(d.T) / 30, rel=1e-12)
    assert is_diagonal(covariance(d.var(axis=0, ddof=1) / 30, unit_sums, ["c", "other"]))
    apart = [unit_sums[0], {f"other {query}": value for query, value in unit_sums[1].items()}]
    assert is_diagonal(covariance([1.0, 1.0], apart, ["c", "c"]))


def test_covariance_of_tasks_that_repeat_one_another_can_be_inverted():
    e = sums(np.array([1.0, -2.0, 1.0]), list("abc"))
    matrix = covariance([1.0, 4.0, 9.0], [e, e, {q: -value for q, value in e.items()}], ["c"] * 3)
    assert np.linalg.eigvalsh(matrix)[0] > 0
    assert np.diag(matrix) == pytest.approx([1, 4, 9])


def task(queries: str, corpus: str = "c", **relevant: str) -> TaskQueries:
    return TaskQueries(list(queries), corpus, {query: set(documents) for query, documents in relevant.items()})


def test_clusters_are_the_components_where_there_are_ten():
    pairs = {chr(97 + i): chr(65 + i // 2) for i in range(24)}
    found, warnings = units_of_tasks({"t": task("".join(pairs), **pairs)}, "auto")
    assert len(set(found["t"])) == 12 and not warnings
    assert found["t"][0] == found["t"][1] != found["t"][2]


def test_few_clusters_are_used_from_two_on_with_a_warning():
    one = {"t": task("abcd", a="1", b="1", c="1", d="1")}
    found, warnings = units_of_tasks(one, "auto")
    assert found["t"] == list("abcd") and "(one group), which leaves no variance" in warnings[0]
    few = {"t": task("abcd", a="1", b="1", c="2", d="2")}
    found, warnings = units_of_tasks(few, "auto")
    assert len(set(found["t"])) == 2
    why = "fewer than 10: its interval allows for them and is wide, perhaps too wide to be of use"
    assert warnings == [f"t: queries share relevant documents (2 groups), {why}"]
    unequal = {"t": task("abcde", a="1", b="1", c="1", d="1", e="2")}
    said = "2 groups of unequal size, as informative as 1.5 of equal size"
    assert units_of_tasks(unequal, "auto")[1] == [f"t: queries share relevant documents ({said}), {why}"]
    found, warnings = units_of_tasks(few, "gold-document")
    assert len(set(found["t"])) == 2 and not warnings
    assert units_of_tasks(few, "query")[0]["t"] == list("abcd")


@pytest.mark.parametrize("kind", ["auto", "gold-document", "query"])
def test_equal_ids_of_different_queries_of_a_corpus_are_different_queries(kind):
    """Tasks that number their queries from 1 share none unless the relevant documents are the same as well."""
    tasks = {"one": task("ab", a="1", b="2"), "two": task("ab", a="3", b="4"), "again": task("ba", a="1", b="5")}
    found, _ = units_of_tasks(tasks, kind)
    assert not set(found["one"]) & set(found["two"])
    assert found["again"][1] == found["one"][0] and found["again"][0] not in (found["one"] + found["two"])
    unknown = {name: TaskQueries(["a"], "c", None) for name in ("one", "two")}
    assert units_of_tasks(unknown, kind)[0] == {"one": ["a"], "two": ["a"]}


def test_effects_of_such_tasks_are_independent():
    generator = np.random.default_rng(0)
    shared, names = generator.normal(0, 0.1, 40), [str(number) for number in range(40)]

    def tasks(of_others: str) -> list[TaskScores]:
        return [
            TaskScores(
                f"t{place}", np.zeros(40), 0.05 + shared + generator.normal(0, 0.1, 40), names, "corpus",
                {name: [f"{of_others.format(place)}{name}"] for name in names},
            )
            for place in range(3)
        ]  # fmt: skip

    for clusters in ("auto", "query"):
        apart, together = (compare(tasks(of), Method(clusters=clusters)) for of in ("task {} ", "all "))
        assert is_diagonal(apart.dependence.sampling) and apart.over_collections.df == 2
        assert not is_diagonal(together.dependence.sampling)


def test_tasks_of_one_corpus_share_units_by_documents_and_by_queries():
    tasks = {"one": task("ab", a="1", b="2"), "two": task("cd", c="1", d="3"), "other": task("ab", "d", a="1", b="2")}
    found, _ = units_of_tasks(tasks, "gold-document")
    assert found["one"] == ["a", "b"]  # no task's queries share a document: each is its own
    tasks["two"] = task("cde", c="1", d="3", e="3")
    found, _ = units_of_tasks(tasks, "gold-document")
    assert found["one"][0] == found["two"][0] and found["two"][1] == found["two"][2] != found["two"][0]
    assert found["one"][1] not in found["two"]


def test_given_clusters_hold_every_query():
    named = TaskQueries(["a", "b"], "c", None, {"a": "x", "b": "x"})
    assert units_of_tasks({"t": named}, "auto")[0]["t"] == ["x", "x"]
    with pytest.raises(UserError, match="clusters of task t: no cluster for query b"):
        units_of_tasks({"t": TaskQueries(["a", "b"], "c", None, {"a": "x"})}, "auto")


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 8, 24])
@pytest.mark.parametrize("named", [True, False], ids=["named", "by documents"])
def test_tests_of_a_difference_are_the_same_whatever_the_effect_type(named, count, seeds):
    """Also where a standardised one is undefined: by a constant system, perfect correlation, or without a query."""
    g, names = np.random.default_rng(3), [f"q{j}" for j in range(24)]
    y, unit = g.random(24), {name: f"u{j % count}" for j, name in enumerate(names)}
    lone = np.zeros(24)
    lone[0] = 1.0
    values = {"of zeros": (np.zeros(24), y), "in proportion": (y, 2 * y), "of one": (lone, y), "equal": (y, y + 0.25)}
    values |= {"ordinary": (y, y + g.normal(0.1, 0.3, 24) + g.normal(0, 0.3, count)[np.arange(24) % count])}
    given = {"clusters": unit} if named else {"relevant": {name: [document] for name, document in unit.items()}}
    tasks = [
        TaskScores(name, control, treatment[:, None] + g.normal(0, 0.05, seeds) * (seeds > 1), names, name, **given)
        for name, (control, treatment) in values.items()
    ]
    results = [compare(tasks, Method(effect=effect, margin=0.3)).tasks for effect in ("MD", "SMD", "d_av")]
    for task in values:
        first, *others = (
            [replace(test, undefined=None) for test in (found[task].t_test, found[task].equivalence)]
            + [found[task].randomisation]
            for found in results
        )
        assert others == [first, first], task
        if named:  # whole clusters flip, whatever varies
            assert first[-1].p_value >= min(1.0, 2 / 2**count)


@pytest.mark.parametrize("kind", list(all_task_intervals()))
@pytest.mark.parametrize("effect", list(all_effects()))
def test_clusters_with_equal_totals_have_no_effect_if_they_were_named(effect, kind):
    """Each cluster has the same values in another order, whose sums differ by rounding."""
    g, names, unit = np.random.default_rng(4), [f"q{j}" for j in range(40)], {f"q{j}": f"u{j // 10}" for j in range(40)}
    own, method = g.random((2, 10)), Method(effect=effect, task_interval=kind, margin=0.1, own={"resamples": 99})
    values = np.concatenate([own[:, g.permutation(10)] for _ in range(4)], axis=1)
    by_default = {"corpus": "c", "relevant": {name: [document] for name, document in unit.items()}}
    found = compare([TaskScores("t", *values, names, clusters=unit)], method)
    (task,) = found.tasks.values()
    assert task.effect.undefined == "its clusters have no variance" and task.interval is None
    assert found.over_collections is None and (task.t_test is None or task.t_test.p_value is None)
    assert task.equivalence is None or task.equivalence.p_equivalence is None
    tasks = [TaskScores("a", *values, names, **by_default), TaskScores("b", *g.random((2, 40)), names, **by_default)]
    automatic = compare(tasks, method)
    assert is_diagonal(automatic.dependence.sampling)
    alone = compare([TaskScores("a", *values, names)], method).tasks["a"].effect
    assert automatic.tasks["a"].effect.variance == alone.variance


@pytest.mark.parametrize("groups", [2, 5])
def test_clusters_of_few_values_have_a_variance_or_no_effect(groups):
    """Of 300 tasks of binary values, whose clusters often gain equally, no interval is a point."""
    g, names = np.random.default_rng(5), [f"q{j}" for j in range(10 * groups)]
    unit, undefined = {name: f"u{j // 10}" for j, name in enumerate(names)}, 0
    for _ in range(300):
        values = (g.random((2, 10 * groups)) < 0.5).astype(float)
        (task,) = compare([TaskScores("t", *values, names, clusters=unit)], Method(permutations=1)).tasks.values()
        undefined += task.effect.undefined == "its clusters have no variance"
        gains = (values[1] - values[0]).reshape(groups, 10).sum(axis=1)
        assert (task.effect.variance is None) == (len(set(gains)) == 1)
        assert task.interval is None or task.interval.ci_high - task.interval.ci_low > 1e-6
    assert undefined or groups == 5


def test_satterthwaite_is_welch_of_two_groups():
    """scipy.stats.ttest_ind(equal_var=False) has these degrees of freedom."""
    a, b = G.normal(0, 1, 5), G.normal(0, 3, 9)
    found = total([Part(a.var(ddof=1) / 5, 4), Part(b.var(ddof=1) / 9, 8)])
    assert found.df == pytest.approx(stats.ttest_ind(a, b, equal_var=False).df, rel=1e-12)
    assert total([Part(2.0, 7), Part(0.0, 3)]) == (2.0, 7)
    assert total([Part(0.0, 7), Part(0.0, 3)]) == (0.0, 7)
    assert total([Part(1.0, math.inf), Part(1.0, math.inf)]) == (2.0, math.inf)


def test_with_a_level_of_collections_the_interval_is_that_of_the_collections():
    """Three corpora of two tasks of equal precision: the t interval of the corpora's three means, by SciPy."""
    y = np.array([0.10, 0.14, 0.02, 0.05, 0.00, 0.09])
    sampling = np.kron(np.eye(3), np.array([[4e-4, 3e-4], [3e-4, 4e-4]]))
    means = stats.ttest_1samp(y.reshape(3, 2).mean(axis=1), 0)
    for asked in ("knapp-hartung", "knapp-hartung-unmodified", "robust"):
        of_three = Dependence(sampling, (99.0,) * 6, (0, 0, 1, 1, 2, 2))
        found = dependent_meta_analysis(y, of_three, "REML", asked, 0.05, "k-2")
        ends = (found.summary.ci_low, found.summary.ci_high)
        assert found.interval == "robust" and ends == pytest.approx(tuple(means.confidence_interval()), rel=1e-9)
        assert (found.summary.df, found.summary.p_value) == pytest.approx((2, means.pvalue), rel=1e-9)
    known = dependent_meta_analysis(y, of_three, "REML", "normal", 0.05, "k-2")
    assert (known.interval, known.summary.df) == ("normal", None)
    of_two = Dependence(sampling[:4, :4], (99.0,) * 4, (0, 0, 1, 1))  # no level: t with the tasks' degrees of freedom
    pair = dependent_meta_analysis(y[:4], of_two, "REML", "knapp-hartung", 0.05, "k-2")
    assert (pair.interval, pair.summary.df) == ("knapp-hartung", 3)


def values(k: int, n: int, m: int, seed_sd: float, noise: float = 0.1) -> dict[str, np.ndarray]:
    seed_effect = G.normal(0, seed_sd, m)
    return {f"t{i}": G.normal(0.5, 0.2, (n, 1)) + seed_effect + G.normal(0, noise, (n, m)) for i in range(k)}


def test_seeds_part_of_one_task_is_the_component_over_the_seeds():
    x, tasks = values(1, 40, 5, 0.05), ["t0"]
    seed_effect = SeedEffects(seed_source("s", x, tasks), shares_of([5]), np.ones(1), np.zeros(1))
    expected = effect_variance(x["t0"], np.zeros((40, 1)))
    assert sum(seed_effect.variances(np.ones(1))) == pytest.approx(expected.total - expected.sampling, rel=1e-12)


def test_seeds_part_of_a_mean_is_the_variance_of_the_seeds_means():
    x, tasks = values(3, 40, 4, 0.2), ["t0", "t1", "t2"]
    weights = np.array([0.5, 0.3, 0.2])
    source = seed_source("s", x, tasks)
    means = sum(w * x[t].mean(axis=0) for w, t in zip(weights, tasks, strict=True))
    found = sum(SeedEffects(source, shares_of([4, 4, 4]), np.ones(3), np.zeros(3)).variances(weights))
    noise = weights**2 @ np.diag(source.residual)
    assert found == pytest.approx((means.var(ddof=1) - noise) / 4, rel=1e-12)


def test_a_selected_seed_beside_the_mean_of_all():
    """A seed effect common to both tasks: Var(w1 mean + w2 one) = s2 (w1^2 / m + w2^2 + 2 w1 w2 / m)."""
    source = seed_source("s", {"t0": G.normal(0, 0.1, 5) + np.zeros((40, 1))}, ["t0", "t1"])
    found = sum(SeedEffects(source, shares_of([5, 1]), np.ones(2), np.zeros(2)).variances(np.array([0.6, 0.4])))
    assert found == pytest.approx(source.covariance[0, 0] * (0.36 / 5 + 0.16 + 2 * 0.24 / 5), rel=1e-12)


def test_parts_borrowed_from_one_source_are_one():
    source = seed_source("s", values(2, 40, 5, 0.1), ["t0", "t1"])
    both = [SeedEffects(source, shares_of([1, 1]), np.ones(2), np.zeros(2))] * 2
    (part,) = seeds_parts(both, np.array([0.5, 0.5]))
    assert part == (pytest.approx(2 * sum(both[0].variances(np.array([0.5, 0.5])))), 4)


def test_seed_effects_of_tasks_with_checkpoints_of_their_own_are_independent():
    """Var(w1 D1 + w2 D2) = w1^2 V1 + w2^2 V2, each with m - 1 degrees of freedom, whatever the estimated covariance."""
    x, weights = values(2, 40, 5, 0.1), np.array([0.6, 0.4])
    apart = SeedEffects(seed_source("s", x, ["t0", "t1"]), shares_of([5, 5]), np.ones(2), np.array([0, 1]))
    alone = [
        SeedEffects(seed_source("s", {task: x[task]}, [task]), shares_of([5]), np.ones(1), np.zeros(1))
        for task in ("t0", "t1")
    ]
    expected = [w**2 * seed_effect.variances(np.ones(1))[0] for w, seed_effect in zip(weights, alone, strict=True)]
    parts = seeds_parts([apart], weights)
    assert [part.variance for part in parts] == pytest.approx(expected, rel=1e-12)
    assert [part.df for part in parts] == [4, 4]
    assert apart.matrix() == pytest.approx(
        np.diag([seed_effect.variances(np.ones(1))[0] for seed_effect in alone]), abs=1e-15
    )
    assert apart.of_tasks_alone() == pytest.approx(np.diag(apart.matrix()), rel=1e-12)


def test_seed_variance_that_tasks_share_is_not_their_own():
    """400 seeds, effects common to 6 tasks: hardly any variance is a task's alone; with its own besides, that is found."""
    common = seed_source("s", values(6, 200, 400, 0.05), [f"t{i}" for i in range(6)])
    assert common.interaction < 0.02 * 0.05**2
    own = {t: x + G.normal(0, 0.03, 400) for t, x in values(6, 200, 400, 0.05).items()}
    found = seed_source("s", own, list(own))
    assert found.interaction == pytest.approx(0.03**2, rel=0.1)


def test_no_seeds_are_no_source():
    assert seed_source("s", {"t0": np.zeros((5, 1))}, ["t0"]) is None
    with pytest.raises(ValueError, match="different numbers of seeds"):
        seed_source("s", {"a": np.zeros((5, 2)), "b": np.zeros((5, 3))}, ["a", "b"])


@pytest.mark.parametrize("sizes", [(10,) * 4, (30, 20, 10, 5, 5, 5), (40, *(1,) * 20)])
def test_intervals_with_few_clusters_keep_the_level_by_default(sizes):
    generator, held = np.random.default_rng(sum(sizes)), []
    group = np.repeat(np.arange(len(sizes)), sizes)
    relevant = {f"q{place}": {f"d{number}"} for place, number in enumerate(group)}
    for _ in range(400):
        common = 0.6 * generator.normal(0, 0.25, len(sizes))[group]
        gains = 0.05 + common + 0.8 * generator.normal(0, 0.25, len(group))
        scores = TaskScores("t", 0 * gains, gains, queries=list(relevant), relevant=relevant)
        low, high = compare([scores], Method(permutations=10)).tasks["t"].ends
        held.append(low <= 0.05 <= high)
    assert np.mean(held) >= 0.925
