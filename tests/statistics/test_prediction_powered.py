"""Prediction-powered effects: the numbers of ppi-python (oracle/prediction_powered.py), what a model's part is when it
is perfect, useless or alone, and how a comparison combines, leaves out and refuses such tasks."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ranktrial.statistics.comparison import TaskScores, compare
from ranktrial.statistics.method import Method
from ranktrial.statistics.prediction_powered import ModelScores, prediction_powered, weight_of

STORED = json.loads((Path(__file__).parent / "oracle/prediction_powered.json").read_text())
METHOD = Method(permutations=100)


def column(values):
    return np.asarray(values, dtype=float)[:, None]


def scores(human, model, further, undefined=None):
    """A task of these differences, over a control that has 0.4 everywhere."""
    base = [0 * column(values) + 0.4 for values in (human, model, further)]
    with_base = [values + column(more) for values, more in zip(base, (human, model, further), strict=True)]
    judge = ModelScores(base[1], with_base[1], base[2], with_base[2], undefined)
    return TaskScores("t", base[0], with_base[0], model=judge)


def effect_of(*differences, **choices):
    return compare([scores(*differences)], Method(permutations=100, **choices)).tasks["t"]


@pytest.mark.parametrize("case", STORED["cases"])
def test_weight_and_estimate_are_those_of_ppi_python_and_the_interval_is_with_unbiased_variances_and_t(case):
    human, model, further = (np.array(case[name]) for name in ("human", "model", "further"))
    n, others = len(human), len(further)
    assert weight_of(human, model, further) == pytest.approx(case["weight"], rel=1e-12)
    found = effect_of(human, model, further)
    assert found.effect.estimate == pytest.approx(case["estimate"], rel=1e-9)
    weight = case["weight"]
    theirs = (human - weight * model).var() / n + weight**2 * further.var() / others
    assert case["ci"][1] - case["ci"][0] == pytest.approx(2 * 1.959963984540054 * math.sqrt(theirs), rel=1e-9)
    ours = (human - weight * model).var() / (n - 1) + weight**2 * further.var() / (others - 1)
    assert found.effect.variance == pytest.approx(ours, rel=1e-9)
    assert found.interval.df == n - 1
    assert found.t_test.t == pytest.approx(found.effect.estimate / math.sqrt(ours), rel=1e-9)
    assert found.randomisation is None  # no flip of the humans' queries flips the others


def test_a_useless_model_leaves_the_effect_of_the_humans():
    generator = np.random.default_rng(1)
    human = generator.normal(0.1, 0.2, 40)
    alone = compare({"t": (0 * human, human)}, METHOD).tasks["t"]
    opposed = effect_of(human, -human, generator.normal(0, 0.2, 100))
    assert opposed.observed.powered.weight == 0
    assert opposed.effect.estimate == pytest.approx(alone.effect.estimate)
    assert opposed.effect.variance == pytest.approx(alone.effect.variance)
    assert opposed.ends == pytest.approx(alone.ends)


def test_a_perfect_model_gives_the_mean_of_all_queries():
    generator = np.random.default_rng(2)
    everything = generator.normal(0.1, 0.2, 300)
    found = effect_of(everything[:50], everything[:50], everything[50:])
    assert found.observed.powered.weight == pytest.approx(250 / 300, abs=0.15)
    assert abs(found.effect.estimate - everything.mean()) < 0.01
    assert found.effect.se == pytest.approx(everything.std(ddof=1) / math.sqrt(300), rel=0.1)


def test_a_constant_bias_of_the_model_changes_nothing():
    generator = np.random.default_rng(3)
    human, further = generator.normal(0.1, 0.2, 50), generator.normal(0.1, 0.2, 100)
    model = human + generator.normal(0, 0.05, 50)
    fair, biased = effect_of(human, model, further), effect_of(human, model + 0.3, further + 0.3)
    assert biased.effect.estimate == pytest.approx(fair.effect.estimate)
    assert biased.effect.variance == pytest.approx(fair.effect.variance)


def test_values_of_several_seeds_keep_their_difference():
    generator = np.random.default_rng(4)
    control, treatment, on_control, on_treatment = generator.random((4, 40, 3))
    more = generator.random((2, 90, 3))
    x, y, powered = prediction_powered(control, treatment, ModelScores(on_control, on_treatment, more[0], more[1]))
    human = (treatment - control).mean(axis=1)
    model, further = (on_treatment - on_control).mean(axis=1), (more[1] - more[0]).mean(axis=1)
    expected = (human - powered.weight * model).mean() + powered.weight * further.mean()
    assert (y - x).mean() == pytest.approx(expected)
    assert y.shape == treatment.shape


def test_without_further_queries_the_humans_stand_alone():
    human = np.random.default_rng(5).normal(0.1, 0.2, 40)
    found = effect_of(human, human, np.empty(0))
    assert found.observed.powered[:2] == (0.0, 0)
    assert found.effect.estimate == pytest.approx(human.mean())


def test_a_task_that_no_effect_can_be_had_of_stays_out_of_the_summary_with_its_reason():
    generator = np.random.default_rng(6)
    tasks = [
        TaskScores("whole", *generator.random((2, 60))),
        TaskScores(
            "judged", *generator.random((2, 60, 1)), model=scores(*generator.random((3, 60)), "no humans").model
        ),
    ]
    found = compare(tasks, METHOD)
    assert "judged: left out, no humans" in found.warnings
    assert list(found.synthesis.weights) == ["whole"]
    judged = found.tasks["judged"]
    assert (judged.interval, judged.randomisation, judged.t_test.p_value) == (None, None, None)
    assert judged.t_test.undefined == "no humans"


def test_intervals_by_resampling_are_t_and_other_effects_are_refused():
    sample = [np.random.default_rng(7).normal(0.1, 0.2, size) for size in (40, 40, 100)]
    assert effect_of(*sample, task_interval="bootstrap-t").interval.kind == "t"
    with pytest.raises(ValueError, match="is a mean difference"):
        effect_of(*sample, effect="SMD")


def chosen(generator, every=300):
    """A task of which humans judge the queries that seem to matter: with more probability, the larger d is."""
    human = generator.normal(0.05, 0.25, every)
    model = 0.02 + 0.8 * human + generator.normal(0, 0.15, every)
    probabilities = np.clip(0.1 + 0.4 * (human - human.min()), 0, 0.9)
    judged = generator.random(every) < probabilities
    zeros = [np.zeros((count, 1)) for count in (judged.sum(), judged.sum(), (~judged).sum())]
    return TaskScores(
        "t",
        zeros[0],
        column(human[judged]),
        model=ModelScores(
            zeros[1], column(model[judged]), zeros[2], column(model[~judged]), probabilities=probabilities[judged]
        ),
    )


def test_queries_chosen_with_known_probabilities_give_intervals_that_keep_the_level_where_a_sample_would_not():
    generator = np.random.default_rng(8)
    held, taken_for_a_sample = [], []
    for _ in range(600):
        task = chosen(generator)
        for found, of in (
            (held, task),
            (taken_for_a_sample, replace(task, model=replace(task.model, probabilities=None))),
        ):
            low, high = compare([of], METHOD).tasks["t"].ends
            found.append(low <= 0.05 <= high)
    assert 0.93 <= np.mean(held) <= 0.98
    assert np.mean(taken_for_a_sample) < 0.9


def test_equal_probabilities_are_those_of_a_sample():
    generator = np.random.default_rng(9)
    human, further = generator.normal(0.1, 0.2, 60), generator.normal(0.1, 0.2, 240)
    sample = scores(human, human + generator.normal(0, 0.1, 60), further)
    equal = replace(sample, model=replace(sample.model, probabilities=np.full(60, 0.2)))
    found, alike = (compare([task], METHOD).tasks["t"] for task in (sample, equal))
    assert alike.effect.estimate == pytest.approx(found.effect.estimate, abs=0.5 * found.effect.se)
    assert alike.effect.se == pytest.approx(found.effect.se, rel=0.1)
    assert alike.t_test.df == 59


def clustered_task(generator, n, groups, size, correct=0.9):
    """Humans judge n queries among groups of this size, whose differences correlate .5; a model is mostly right."""
    every = groups * size
    group = np.repeat(np.arange(groups), size)
    human = 0.05 + 0.25 * (math.sqrt(0.5) * generator.normal(0, 1, groups)[group]
                           + math.sqrt(0.5) * generator.normal(0, 1, every))  # fmt: skip
    model = np.where(generator.random(every) < correct, human, 0.1 + generator.normal(0, 0.25, every))
    order = generator.permutation(every)
    judged, others = order[:n], order[n:]
    zero = np.zeros((every, 1))
    return TaskScores(
        "t",
        zero[judged],
        column(human[judged]),
        queries=[f"q{number}" for number in judged],
        clusters={f"q{number}": f"c{group[number]}" for number in range(every)},
        model=ModelScores(
            zero[judged], column(model[judged]), zero[others], column(model[others]),
            further_queries=[f"q{number}" for number in others],
        ),
    )  # fmt: skip


@pytest.mark.parametrize(("n", "groups", "size"), [(100, 100, 5), (50, 40, 20)])
def test_intervals_keep_the_level_where_clusters_contain_queries_that_humans_judged_and_others(n, groups, size):
    generator, held = np.random.default_rng(10), []
    for _ in range(400):
        found = compare([clustered_task(generator, n, groups, size)], METHOD)
        low, high = found.tasks["t"].ends
        held.append(low <= 0.05 <= high)
    assert 0.92 <= np.mean(held) <= 0.985
    assert found.tasks["t"].observed.clusters == groups and found.tasks["t"].observed.design_effect > 1


def test_the_variance_over_clusters_is_that_of_all_queries_by_hand():
    task = clustered_task(np.random.default_rng(11), 40, 30, 4)
    found = compare([task], METHOD).tasks["t"]
    weight = found.observed.powered.weight
    rest = task.treatment[:, 0] - weight * task.model.treatment[:, 0]
    further = task.model.further_treatment[:, 0]
    sums = {name: 0.0 for name in set(task.clusters.values())}
    for query, value in zip(task.queries, (rest - rest.mean()) / 40, strict=True):
        sums[task.clusters[query]] += value
    for query, value in zip(task.model.further_queries, weight * (further - further.mean()) / 80, strict=True):
        sums[task.clusters[query]] += value
    assert found.effect.variance == pytest.approx(sum(value**2 for value in sums.values()) * 30 / 29)


def test_a_judge_that_agrees_on_all_queries_keeps_its_effect():
    generator = np.random.default_rng(12)
    human = np.where(generator.random(30) < 0.2, 0.5, 0.0)
    further = np.where(generator.random(40) < 0.05, 0.5, 0.0)  # varies less, so that the weight would be above 1
    human[:3] = 0.5
    found = effect_of(human, human, np.append(further, np.zeros(2000)))
    assert found.observed.powered.weight == 1 and found.same is None
    assert found.effect.variance == pytest.approx(np.append(further, np.zeros(2000)).var(ddof=1) / 2040)
    assert found.effect.estimate == pytest.approx(further.sum() / 2040)
    assert found.interval.ci_low < found.interval.ci_high


@pytest.mark.parametrize("agree", [True, False])
def test_default_clusters_that_join_humans_queries_to_others_alone_never_narrow_an_interval(agree):
    """Each query that humans judged shares a document with one of opposite influence."""
    generator = np.random.default_rng(14)
    human = generator.normal(0.1, 0.2, 40)
    model = human if agree else human + generator.normal(0, 0.02, 40)
    further = np.concatenate([0.2 - model, generator.normal(0.1, 0.2, 60)])
    task = scores(human, model, further)
    relevant = {str(number): [f"d{number % 40 if number < 80 else number}"] for number in range(140)}
    found, alone = (compare([replace(task, relevant=of)], METHOD).tasks["t"] for of in (relevant, None))
    assert found.observed.design_effect < 1 and found.observed.clusters == 100
    assert found.effect.variance == alone.effect.variance


def test_a_judge_that_agrees_on_one_cluster_has_no_effect_as_its_other_values():
    generator = np.random.default_rng(15)
    human = generator.normal(0.1, 0.2, 10)
    task = scores(human, human, generator.normal(0.1, 0.1, 200))
    clusters = {str(number): "one" if number < 10 else str(number) for number in range(210)}
    found = compare([replace(task, clusters=clusters)], METHOD).tasks["t"]
    assert found.observed.powered.weight == 1 and found.interval is None and found.t_test.p_value is None


@pytest.mark.parametrize("equal", ["humans' clusters", "all clusters", "all further queries"])
def test_named_clusters_with_equal_totals_have_no_effect_unless_the_further_queries_vary(equal):
    generator = np.random.default_rng(16)
    human, further = np.tile(generator.normal(0.1, 0.2, 10), 4), np.tile(generator.normal(0.1, 0.2, 10), 10)
    if equal == "humans' clusters":
        further = generator.normal(0.1, 0.2, 100)
    if equal == "all further queries":
        further[:] = 0.1
    units = {str(number): str(number // 10) for number in range(140)} if equal != "all further queries" else None
    task = replace(scores(human, human, further), clusters=units)
    found = compare([task], METHOD).tasks["t"]
    assert found.observed.powered.weight > 0
    varies = equal == "humans' clusters"
    assert found.effect.undefined == (None if varies else "the difference has no variance")
    assert (found.t_test.p_value is not None) == varies and (found.interval is not None) == varies


def test_the_variance_of_chosen_queries_is_that_over_all_whatever_ddof():
    task = chosen(np.random.default_rng(13))
    ones = [compare([task], Method(permutations=100, ddof=ddof)).tasks["t"].effect.variance for ddof in (0, 1)]
    assert ones[0] == ones[1] > 0
