"""The entry point: its examples run as they are printed, its defaults are those of an experiment, bad scores are named."""

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ranktrial.configuration.schema import entry_of, schema
from ranktrial.statistics.comparison import TaskScores, compare
from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.method import DEFAULTS, Method
from ranktrial.statistics.seeds import SeedsFrom

ROOT = Path(__file__).parents[2]
COMPARISON = entry_of(schema(), "comparisons")["properties"]


def test_defaults_are_those_of_a_comparison_in_a_configuration():
    for field in fields(Method):
        if field.name not in ("seed", "lower_is_better", "reach", "own"):  # not settings of every comparison
            assert getattr(DEFAULTS, field.name) == COMPARISON[field.name].get("default"), field.name
    assert DEFAULTS.seed == schema()["properties"]["seed"]["default"]


def scores(k: int = 4, n: int = 30) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(5)
    control = random.uniform(0, 1, (k, n))
    return {f"t{i}": (control[i], control[i] + random.normal(0.1, 0.2, n)) for i in range(k)}


def test_effects_and_summary_are_those_of_scipy_and_of_the_meta_analysis():
    given = scores()
    found = compare(given)
    for task, (control, treatment) in given.items():
        result, expected = found.tasks[task], stats.ttest_rel(treatment, control)
        assert result.interval.p_value == pytest.approx(expected.pvalue, rel=1e-9)
        assert result.ends == pytest.approx(tuple(expected.confidence_interval()), rel=1e-9)
    meta = meta_analysis(found.synthesis.estimates, np.diag(found.dependence.sampling))
    assert (found.over_collections, found.in_a_new_one) == (meta.summary, meta.prediction_interval)
    assert (found.tau, found.i2) == (np.sqrt(meta.tau2), meta.i2)
    assert found.on_these.effect == pytest.approx(np.mean([one.effect.estimate for one in found.tasks.values()]))
    assert found.warnings == () and found.seed_effects == {}


def test_a_seed_axis_is_averaged_and_widens_the_interval():
    seeds = np.array([-0.1, 0.0, 0.1])
    given = {task: (control, treatment[:, None] + seeds) for task, (control, treatment) in scores().items()}
    alone, found = compare(scores()), compare(given)
    assert list(found.seed_effects) == ["treatment"] and not compare(given, Method(seeds="conditional")).seed_effects
    assert found.on_these.effect == pytest.approx(alone.on_these.effect, rel=1e-12)
    assert found.on_these.variance == pytest.approx(alone.on_these.variance + 0.01 / 3, rel=1e-9)
    borrowed = compare(
        scores(), seeds_from={"treatment": SeedsFrom("sibling", {task: given[task][1] for task in given})}
    )
    assert borrowed.on_these.variance == pytest.approx(alone.on_these.variance + 0.01, rel=1e-9)


def test_tasks_say_what_they_share():
    (control, treatment), ids = scores(1)["t0"], [f"q{number}" for number in range(30)]
    first = TaskScores("a", control, treatment, ids, corpus="x")
    noise = np.random.default_rng(2).normal(0, 0.01, 30)
    second = replace(first, name="b", treatment=treatment + noise)
    shared, apart = compare([first, second]), compare([first, second], Method(dependence="independent"))
    assert shared.on_these.variance > 1.9 * apart.on_these.variance
    clusters = {query: str(number // 2) for number, query in enumerate(ids)}
    assert compare([replace(first, clusters=clusters)]).tasks["a"].observed.clusters == 15
    relevant = {query: {f"d{number // 2}"} for number, query in enumerate(ids)}
    assert compare([replace(first, relevant=relevant)]).tasks["a"].observed.clusters == 15


def test_without_an_effect_there_is_no_summary():
    found = compare({"same": (np.ones(5), np.ones(5))})
    assert (found.on_these, found.over_collections, found.in_a_new_one, found.tau, found.i2) == (None,) * 5
    assert found.dependence is None and "no summary" in found.warnings[-1]


@pytest.mark.parametrize(("control", "treatment", "ids", "said"), [
    ([0.1, 0.2], [0.1], None, "2 queries of the control and 1 of the treatment; expected the same queries in one order"),
    ([0.1, np.nan], [0.1, 0.2], None, "a score of the control is masked or not finite"),
    ([0.1, 0.2], np.ma.array([[0.1, 0.2]] * 2, mask=[[0, 0], [0, 1]]), None, "a score of the treatment is masked or not finite"),
    ([0.1, 0.2], [[[0.1]]], None, "one score per query, or queries x seeds for the treatment, not an array of shape (1, 1, 1)"),
    ([], [], None, "one score per query, or queries x seeds for the control, not an array of shape (0,)"),
    ([0.1, 0.2], [0.1, 0.3], ["a"], "expected 2 different ids of queries"),
    ([0.1, 0.2], [0.1, 0.3], ["a", "a"], "expected 2 different ids of queries"),
])  # fmt: skip
def test_scores_that_cannot_be_compared_are_named(control, treatment, ids, said):
    with pytest.raises(ValueError, match=rf"^task 'x': .*{re.escape(said)}$"):
        compare([TaskScores("x", np.asanyarray(control), np.asanyarray(treatment), ids)])


def test_a_task_is_given_once():
    task = TaskScores("x", *scores(1)["t0"])
    with pytest.raises(ValueError, match=r"^task 'x' is given twice$"):
        compare([task, task])
