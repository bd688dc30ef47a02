"""What a report says of the weights of tasks: another answer with both numbers, and the task that decides a width."""

import numpy as np
import pytest

from ranktrial.reports.comparison.sentence import narrowest, sign
from ranktrial.statistics.comparison import compare
from ranktrial.statistics.independent_tasks import meta_analysis
from ranktrial.statistics.method import Method
from ranktrial.statistics.synthesise import INVERSE_VARIANCE, WEIGHTINGS
from tests.reports.test_sentence import MINUS, said
from tests.support.meta_records import SUMMARY

OTHER = SUMMARY | {"effect": 0.01, "ci_low": -0.03, "ci_high": 0.05, "p_value": 0.6}


def test_another_answer_is_said_with_both_numbers():
    for name, words in (
        (INVERSE_VARIANCE, "by precision (DerSimonian-Laird, normal interval)"),
        ("equal-weights", "with equal weights"),
    ):
        text = said(weightings={name: SUMMARY | OTHER})
        assert "This answer depends on how collections are weighed: the mean is 0.050 (95% CI 0.030 to 0.070" in text
        assert f"and 0.010 (95% CI {MINUS}0.030 to 0.050; p = 0.600 without correction) {words}." in text
    opposite = SUMMARY | {"effect": -0.05, "ci_low": -0.07, "ci_high": -0.03}
    assert f"{MINUS}0.050 (95% CI {MINUS}0.070 to {MINUS}0.030" in said(weightings={"knapp-hartung": opposite})
    assert "weighed" not in said(weightings={name: SUMMARY for name in WEIGHTINGS})


def summary(half: float) -> dict:
    return SUMMARY | {"ci_low": 0.05 - half, "ci_high": 0.05 + half, "variance": (half / 1.96) ** 2}


def of_tasks(k: int, without: float, se: float) -> dict:
    """The changes of a record of k tasks, of which the last decides the width."""
    others = {f"task {place}": summary(0.05) for place in range(k - 1)} | {f"task {k - 1}": summary(without)}
    left_out = {
        task: {"k": k - 1, "interval": "normal", "summary": one, "tau2": 0, "i2": 0, "q": 1}
        for task, one in others.items()
    }
    means = {"summary": summary(0.05), "leave_one_out": left_out, "fixed_mean_without": others}
    return {"k": k, "variances": [se**2] * (k - 1) + [1.0], **means}


def test_a_task_without_which_an_interval_is_at_most_half_as_wide_is_named():
    of_five = of_tasks(5, 0.02, se=0.01)
    text = said(**of_five)
    assert "task 4 alone decides the width: without it, the interval would be 40% as wide over collections like" in text
    both = said(**of_five, fixed_mean=summary(0.05))
    assert "40% as wide on the other four collections (95% CI 0.030 to 0.070) and 40% as wide over" in both
    assert "decides" not in said(**of_five | {"summary": summary(0.02)})


def test_no_task_decides_a_width_where_few_remain_or_their_errors_allow_no_such_interval():
    assert "decides" in said(**of_tasks(5, 0.02, se=0.02))  # 1.96 * .02 / 2 = .0196
    assert "decides" not in said(**of_tasks(5, 0.02, se=0.021))  # .0206
    for k in (2, 3, 4):
        assert "decides" not in said(**of_tasks(k, 0.02, se=0.001))


def test_two_tasks_with_nearly_the_same_effect_are_no_narrow_interval():
    """Of three tasks without heterogeneity (p = .33), the third is named by no sentence."""
    scores = tasks({"a": 300, "b": 300, "c": 30})
    scores = {name: (zeros, values - values.mean() + mean) for (name, (zeros, values)), mean in
              zip(scores.items(), (0.014, 0.0142, 0.08), strict=True)}  # fmt: skip
    found = compare(scores)
    ratio = found.synthesis.leave_one_out["c"].summary.half_width(0.05) / found.over_collections.half_width(0.05)
    assert ratio < 0.5 and found.synthesis.meta.q_p_value > 0.1
    variances = {name: values.var(ddof=1) / len(values) for name, (_, values) in scores.items()}
    without = {name: one.summary for name, one in found.synthesis.leave_one_out.items()}
    assert narrowest(found.over_collections, without, variances, 0.05) is None


def tasks(sizes: dict[str, int]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    generator = np.random.default_rng(4)
    return {name: (np.zeros(n), generator.normal(0.05, 0.25, n)) for name, n in sizes.items()}


def test_other_weightings_are_the_summaries_that_they_would_be():
    scores = tasks({"a": 30, "b": 300, "c": 3000, "d": 200})
    found = compare(scores).synthesis
    assert set(found.weightings) == {INVERSE_VARIANCE, "knapp-hartung"}
    assert found.weightings["knapp-hartung"] == compare(scores, Method(interval="knapp-hartung")).over_collections
    own = [values.var(ddof=1) / len(values) for _, values in scores.values()]
    expected = meta_analysis([values.mean() for _, values in scores.values()], own, "DL", "normal")
    assert found.weightings[INVERSE_VARIANCE] == expected.summary
    as_ranger = compare(scores, Method(interval="normal", estimator="DL", small_tasks="own")).synthesis
    assert as_ranger.weightings["equal-weights"] == found.meta.summary
    assert compare({"a": scores["a"]}).synthesis.weightings == {}


def test_with_another_weighting_all_else_is_the_same_so_weights_alone_make_another_answer():
    """Seeds, whose effects all tasks share: the summary with these weights is that of a comparison that asks for them."""
    generator = np.random.default_rng(2)
    shared = np.array([-0.1, 0, 0.1])
    scores = {
        name: (np.zeros(n), 0.05 + shared + generator.normal(0, 0.05, (n, 3)))
        for name, n in {"a": 30, "b": 40, "c": 300, "d": 50}.items()
    }
    for name, asked in (
        (INVERSE_VARIANCE, Method(estimator="DL", interval="normal", small_tasks="own")),
        ("knapp-hartung", Method(interval="knapp-hartung")),
    ):
        assert compare(scores).synthesis.weightings[name] == compare(scores, asked).over_collections


def test_the_same_mean_is_no_other_weighting():
    other = SUMMARY | {"ci_low": -0.03, "ci_high": 0.13, "p_value": 0.2}
    text = said(weightings={INVERSE_VARIANCE: other})
    assert "This answer depends on the interval: the mean is 0.050 (95% CI 0.030 to 0.070" in text


def test_the_mean_on_the_other_tasks_is_that_of_a_comparison_of_them():
    scores = tasks({"tiny": 3, "b": 300, "c": 300, "d": 200, "e": 300})
    found = compare(scores).synthesis
    others = compare({name: pair for name, pair in scores.items() if name != "tiny"})
    assert found.fixed_mean_without["tiny"].variance == pytest.approx(others.on_these.variance)
    variances = {name: values.var(ddof=1) / len(values) for name, (_, values) in scores.items()}
    assert narrowest(found.fixed_mean, found.fixed_mean_without, variances, 0.05)[0] == "tiny"
    assert sign(found.fixed_mean, 0.05) == 0 and sign(others.on_these, 0.05) == 1
