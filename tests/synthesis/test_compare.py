"""The comparison's files: pairing by query id, seeds averaged first, nothing that does not exist is a number."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ranktrial.common.errors import UserError
from ranktrial.statistics.bayes import bayesian_summary
from ranktrial.statistics.measure_scale import measure_scale
from ranktrial.statistics.seeds import effect_variance
from ranktrial.synthesis.all_comparisons import Settings, comparisons
from ranktrial.synthesis.comparing import Settings as OneComparison
from ranktrial.synthesis.comparing import compared
from ranktrial.synthesis.metrics_files import Scores
from ranktrial.synthesis.one_comparison import has_effect, shared
from scripts.synthesis import compare as script
from tests.support.calling import call
from tests.support.meta_records import meta_record
from tests.support.one_line import refused

SETTINGS = {"control": "c", "treatment": "t", "measure": "P@1", "effect": "MD", "estimator": "DL",
            "interval": "normal", "task_interval": "t", "alpha": 0.05, "ddof": 1, "permutations": 1000, "seed": 1,
            "cumulative": False}  # fmt: skip


def metrics(folder, task, system, seed, values):
    path = folder / "metrics" / task / system / f"seed-{seed}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame({"query_id": list(values), "P@1": list(values.values())})
    table["Judged@10"] = 0.5
    table.to_csv(path, sep="\t", index=False)
    return path


def compare(folder, control, treatment, **changes):
    outputs = {"effects": folder / "c.tsv", "meta": folder / "c.json"}
    call(script.compare, SETTINGS | changes, control=control, treatment=treatment, **outputs)
    return pd.read_csv(folder / "c.tsv", sep="\t").set_index("task"), json.loads((folder / "c.json").read_text())


def test_not_worse_is_not_higher_where_a_lower_value_is_better(tmp_path):
    """The treatment is lower by .2 on average: clearly not worse if lower is better, clearly worse if higher is."""
    values = np.random.default_rng(1).uniform(0.5, 0.9, 40)
    control = [metrics(tmp_path, "a", "c", 0, {str(query): value for query, value in enumerate(values)})]
    lower = values - 0.2 + np.random.default_rng(2).normal(0, 0.05, 40)
    treatment = [metrics(tmp_path, "a", "t", 0, {str(query): value for query, value in enumerate(lower)})]
    plain, plain_meta = compare(tmp_path, control, treatment, margin=0.01)
    turned, turned_meta = compare(tmp_path, control, treatment, margin=0.01, lower_is_better=True)
    p = stats.ttest_1samp(values - lower, -0.01, alternative="greater").pvalue
    assert turned.loc["a", "non_inferiority_p_value"] == pytest.approx(p, rel=1e-9)
    assert turned_meta["equivalence"]["p_non_inferiority"] < 1e-6
    assert plain_meta["equivalence"]["p_non_inferiority"] > 0.99
    assert turned.loc["a", "equivalence_p_value"] == pytest.approx(plain.loc["a", "equivalence_p_value"])
    assert turned.loc["a", "effect"] == plain.loc["a", "effect"] and plain.loc["a", "non_inferiority_p_value"] > 0.99


def test_queries_are_paired_by_id_and_seeds_averaged_first(tmp_path):
    control = [metrics(tmp_path, "a", "c", 0, {"1": 0.1, "2": 0.5, "3": 0.4})]
    treatment = [metrics(tmp_path, "a", "t", 1, {"3": 0.9, "1": 0.2, "2": 0.5}),
                 metrics(tmp_path, "a", "t", 2, {"2": 0.7, "3": 0.7, "1": 0.2})]  # fmt: skip
    effects, meta = compare(tmp_path, control, treatment)
    difference = np.array([0.1, 0.1, 0.4])
    row = effects.loc["a"]
    assert row["effect"] == pytest.approx(difference.mean(), rel=1e-14)
    assert row["variance"] == pytest.approx(difference.var(ddof=1) / 3, rel=1e-14)
    assert row["treatment_seed_sd"] == pytest.approx(np.std([1.6 / 3, 1.6 / 3], ddof=1), abs=1e-15)
    assert np.isnan(row["control_seed_sd"]) and row["n"] == 3 and row["weight"] == 1 and row["control_judged"] == 0.5
    assert meta["k"] == 1 and meta["summary"]["effect"] == row["effect"] and meta["tau2"] is None
    paired = stats.ttest_1samp(difference, 0)  # the summary of one task is its t interval
    ends = tuple(paired.confidence_interval())
    assert meta["interval"] == "t" and (meta["summary"]["df"], meta["summary"]["p_value"]) == pytest.approx(
        (2, paired.pvalue)
    )
    assert (meta["summary"]["ci_low"], meta["summary"]["ci_high"]) == pytest.approx(ends, rel=1e-12)


def test_a_task_with_a_constant_difference_does_not_spoil_the_summary(tmp_path):
    control, treatment = [], []
    for task, gain in (("a", [0.1, 0.3, 0.2]), ("b", [0.0, 0.1, 0.4]), ("flat", [0.0, 0.0, 0.0])):
        control.append(metrics(tmp_path, task, "c", 0, dict(zip("xyz", [0.1, 0.2, 0.3], strict=True))))
        treatment.append(metrics(tmp_path, task, "t", 0, {q: v + g for (q, v), g in zip(
            zip("xyz", [0.1, 0.2, 0.3], strict=True), gain, strict=True)}))  # fmt: skip
    effects, meta = compare(tmp_path, control, treatment)
    assert effects.loc["flat", "undefined"] == "the difference is the same for every query"
    assert np.isnan(effects.loc["flat", "weight"]) and effects.loc[["a", "b"], "weight"].sum() == pytest.approx(1)
    assert meta["k"] == 2 and np.isfinite(meta["summary"]["effect"])
    assert meta["warnings"][2:] == ["flat: left out, the difference is the same for every query"]
    assert meta["warnings"][0].startswith("a, b have the same query ids: if these are other texts of the same")


def test_two_tasks_on_which_every_query_has_the_same_value_are_no_task_under_two_names():
    """They have no effect and are left out, so nothing counts twice; tasks with an effect may not be the same."""

    def scores(values):
        return Scores(pd.DataFrame({0: values}, index=list("abcdefgh")), None)

    saturated = scores([1.0] * 8), scores([1.0] * 8)
    pairs = {"a": (scores(CONTROL), scores(TREATMENT)), "b": (scores(CONTROL), scores(TREATMENT[::-1])),
             "full": saturated, "full too": saturated}  # fmt: skip
    for effect in ("MD", "SMD", "d_av", "CORR"):
        settings = OneComparison(**SETTINGS | {"effect": effect})
        counted = {task: pair for task, pair in pairs.items() if has_effect(*pair, settings)}
        assert list(counted) == ["a", "b"] and len(shared(counted, {})) == 1, effect
        synthesis = compared(pairs, settings).synthesis
        assert synthesis.meta.k == 2, effect
        assert [warning.partition(":")[0] for warning in synthesis.warnings if "left out" in warning] == [
            "full", "full too"], effect  # fmt: skip
    with pytest.raises(UserError, match=r"tasks a and c have the same queries .* one task under two names"):
        shared({"a": pairs["a"], "c": pairs["a"]}, {})


def test_tasks_whose_ids_count_their_queries_have_them_in_common_by_chance():
    def noted(*ids):
        table = pd.DataFrame({0: CONTROL[: len(ids)]}, index=list(ids))
        control, treatment = Scores(table, None), Scores(table + 0.1, None)
        return shared({"a": (control, treatment), "b": (treatment, control)}, {})

    assert noted("1", "2", "3") == noted("0", "1", "2") == noted("line 1", "line 2") == []
    assert len(noted("1", "2", "4")) == len(noted("301", "302", "303")) == len(noted("q1", "q2", "q3")) == 1


def test_queries_of_one_system_only_are_left_out_and_said(tmp_path):
    control = [metrics(tmp_path, "a", "c", 0, {"1": 0.1, "2": 0.5, "3": 0.4})]
    treatment = [metrics(tmp_path, "a", "t", 0, {"2": 0.9, "3": 0.2, "4": 0.5})]
    effects, meta = compare(tmp_path, control, treatment)
    assert effects.loc["a", "n"] == 2
    assert meta["warnings"][0] == "a: 2 queries are in only one of the systems and are left out"


def test_a_bayesian_summary_is_added_with_the_scale_of_the_effect_or_a_given_one(tmp_path):
    control = scored(tmp_path, "a", "c", CONTROL) + scored(tmp_path, "b", "c", CONTROL)
    treatment = scored(tmp_path, "a", "t", TREATMENT) + scored(tmp_path, "b", "t", TREATMENT[::-1])
    effects, meta = compare(tmp_path, control, treatment, bayesian={"tau_scale": 0.2}, small_tasks="own")
    expected = bayesian_summary(effects["effect"].to_numpy(), np.diag(effects["variance"]), 0.2)
    assert meta["bayesian"]["effect"] == pytest.approx(expected.effect, rel=1e-12)
    assert meta["bayesian"]["prediction_interval"] == pytest.approx(expected.prediction_interval, rel=1e-12)
    _, of_r = compare(tmp_path, control, treatment, effect="CORR", bayesian={})
    assert of_r["bayesian"]["tau_scale"] == 0.5 and -1 < of_r["bayesian"]["ci_low"] < of_r["bayesian"]["ci_high"] < 1


def test_a_bayesian_summary_of_percentages_is_that_of_shares_times_a_hundred(tmp_path):
    found = {}
    for factor in (1, 100):
        folder, of_factor = tmp_path / str(factor), lambda values, factor=factor: np.multiply(values, factor)
        control = [scored(folder, task, "c", of_factor(CONTROL))[0] for task in "ab"]
        treatment = [
            *scored(folder, "a", "t", of_factor(TREATMENT)),
            *scored(folder, "b", "t", of_factor(TREATMENT[::-1])),
        ]
        found[factor] = compare(folder, control, treatment, bayesian={})[1]["bayesian"]
    assert (found[1]["tau_scale"], found[100]["tau_scale"]) == (0.1, 10)
    for name in ("effect", "sd", "ci_low", "ci_high", "tau_median"):
        assert found[100][name] == pytest.approx(100 * found[1][name], rel=1e-9)


def test_the_scale_of_a_measure_is_the_lowest_power_of_ten_that_no_value_exceeds():
    cases = {(0.0,): 1, (0.3, 1.0): 1, (0.1 + 0.9 + 4e-16,): 1, (-2.0, 1.0): 10, (10.0,): 10, (55.0, 0.0): 100,
             (100.0,): 100, (101.0,): 1000}  # fmt: skip
    assert {values: measure_scale([np.array(values)]) for values in cases} == cases
    assert measure_scale([]) == 1


def test_judged_is_averaged_over_the_queries_of_the_effect(tmp_path):
    control, treatment = (
        [metrics(tmp_path, "a", "c", 0, {"1": 0.1, "2": 0.5, "3": 0.4})],
        [metrics(tmp_path, "a", "t", seed, {"2": 0.9, "3": 0.2, "4": 0.5}) for seed in (0, 1)],
    )
    for path, judged in zip((*control, *treatment), ([0, 0.4, 0.6], [0.2, 0.4, 1], [0.4, 0.8, 1]), strict=True):
        pd.read_csv(path, sep="\t").assign(**{"Judged@10": judged}).to_csv(path, sep="\t", index=False)
    effects, _ = compare(tmp_path, control, treatment)
    assert effects.loc["a", ["n", "control_judged", "treatment_judged"]].tolist() == pytest.approx([2, 0.5, 0.45])


def test_nothing_in_common_is_one_line_and_no_file(tmp_path):
    with refused(start="task a: control and treatment have no query in common"):
        compare(tmp_path, [metrics(tmp_path, "a", "c", 0, {"1": 0.1})], [metrics(tmp_path, "a", "t", 0, {"2": 0.1})])
    assert not (tmp_path / "c.tsv").exists() and not (tmp_path / "c.json").exists()


def scored(folder, task, system, values, seeds=1):
    return [metrics(folder, task, system, seed, dict(zip("abcdefgh", values, strict=True))) for seed in range(seeds)]


CONTROL = [0.1, 0.5, 0.4, 0.3, 0.8, 0.2, 0.6, 0.7]
TREATMENT = [0.3, 0.6, 0.4, 0.5, 0.7, 0.5, 0.9, 0.8]


def test_each_task_has_its_tests_adjusted_over_the_tasks(tmp_path):
    control = scored(tmp_path, "a", "c", CONTROL) + scored(tmp_path, "b", "c", CONTROL)
    treatment = scored(tmp_path, "a", "t", TREATMENT) + scored(tmp_path, "b", "t", TREATMENT[::-1])
    effects, meta = compare(tmp_path, control, treatment, margin=0.1, cumulative=True)
    expected = stats.ttest_rel(TREATMENT, CONTROL)
    assert effects.loc["a", "t"] == pytest.approx(expected.statistic) and effects.loc["a", "t_df"] == 7
    p = effects["t_p_value"]
    assert p["a"] == pytest.approx(expected.pvalue, rel=1e-12)
    assert effects.loc["a", "t_log10_p"] == pytest.approx(np.log10(expected.pvalue))
    assert effects["t_p_holm"].tolist() == pytest.approx([min(1, 2 * min(p)), max(p)])
    assert effects["t_p_bh"].tolist() == pytest.approx([2 * min(p), max(p)])
    against_margin = effects["non_inferiority_p_value"]
    assert effects["non_inferiority_p_holm"].min() == pytest.approx(2 * against_margin.min())
    # 7 differences are not 0, so all 128 flips are counted; the sum 1.1 is reached or passed by 6
    sums = [sum(s) for s in itertools.product(*((d, -d) for d in np.subtract(TREATMENT, CONTROL) if d))]
    assert effects.loc["a", "randomisation_p_value"] == np.mean(np.abs(sums) >= 1.1 - 1e-9)
    assert effects.loc["a", "non_inferiority_p_value"] < p["a"] < effects.loc["a", "equivalence_p_value"]
    assert effects.loc["a", "log10_p"] == pytest.approx(np.log10(effects.loc["a", "p_value"]))
    assert list(meta["cumulative"]) == ["a", "b"] and meta["cumulative"]["b"]["summary"] == meta["summary"]
    assert meta["equivalence"]["margin"] == 0.1 and 0 < meta["equivalence"]["p_non_inferiority"] < 1


def test_the_margins_test_of_a_summary_is_that_of_its_interval(tmp_path):
    """At a margin that is the upper end of the (1 - 2 alpha) interval the test of equivalence has p = alpha."""
    control = scored(tmp_path, "a", "c", CONTROL) + scored(tmp_path, "b", "c", CONTROL)
    treatment = scored(tmp_path, "a", "t", TREATMENT) + scored(tmp_path, "b", "t", [0.9 * value for value in TREATMENT])
    for interval in ("normal", "knapp-hartung"):
        _, meta = compare(tmp_path, control, treatment, interval=interval, alpha=0.1)
        margin = meta["summary"]["ci_high"]
        _, meta = compare(tmp_path, control, treatment, interval=interval, alpha=0.1, margin=margin)
        assert meta["equivalence"]["p_equivalence"] == pytest.approx(0.05, rel=1e-9)
        assert meta["equivalence"]["p_non_inferiority"] < 0.05


def test_a_correlation_has_no_tests_of_a_difference(tmp_path):
    effects, meta = compare(tmp_path, scored(tmp_path, "a", "c", CONTROL), scored(tmp_path, "a", "t", TREATMENT),
                            effect="CORR", margin=0.1)  # fmt: skip
    assert effects.loc["a", "effect"] == pytest.approx(np.corrcoef(TREATMENT, CONTROL)[0, 1], rel=1e-12)
    assert (
        effects.loc["a", ["t", "t_p_value", "randomisation_p_value", "equivalence_p_value", "seed_share"]].isna().all()
    )
    assert effects.loc["a", "ci_low"] < effects.loc["a", "effect"] < effects.loc["a", "ci_high"] < 1
    assert "equivalence" not in meta and meta["effect_type"] == "CORR"


def test_hedges_can_be_left_out(tmp_path):
    files = scored(tmp_path, "a", "c", CONTROL), scored(tmp_path, "a", "t", TREATMENT)
    g, d = (
        compare(tmp_path, *files, effect="SMD", own={"hedges": hedges})[0].loc["a", "effect"]
        for hedges in (True, False)
    )
    assert g / d == pytest.approx(1 - 3 / (4 * 7 - 1), rel=1e-14)


def test_the_share_of_seeds_in_the_effects_variance(tmp_path):
    control = scored(tmp_path, "a", "c", CONTROL)
    noise = np.random.default_rng(1).normal([0.0, 0.05, -0.05], 0.1, (8, 3))
    treatment = [metrics(tmp_path, "a", "t", seed, dict(zip("abcdefgh", np.add(TREATMENT, noise[:, seed]), strict=True)))
                 for seed in range(3)]  # fmt: skip
    effects, _ = compare(tmp_path, control, treatment)
    expected = effect_variance(np.add(np.array(TREATMENT)[:, None], noise), np.array(CONTROL)[:, None])
    assert effects.loc["a", "seed_share"] == pytest.approx(expected.seed_share, rel=1e-9)
    assert effects.loc["a", "variance_with_seeds"] == pytest.approx(expected.total, rel=1e-9)
    assert effects.loc["a", ["control_seeds", "treatment_seeds"]].tolist() == [1, 3]
    assert effects.loc["a", "treatment_seed_sd"] > 0 and np.isnan(effects.loc["a", "control_seed_sd"])


def test_scores_without_ids_of_different_lengths_are_one_line(tmp_path):
    control = [metrics(tmp_path, "rte", "c", 0, {"line 1": 1, "line 2": 0})]
    treatment = [metrics(tmp_path, "rte", "t", 0, {"line 1": 1})]
    with refused(start="task rte: control has 2 scores and treatment 1; "):
        compare(tmp_path, control, treatment)


def test_the_table_of_comparisons_adjusts_over_them():
    metas = {
        "one": meta_record(summary={"p_value": 0.01}, equivalence={"p_non_inferiority": 0.2}),
        "none": meta_record(summary=None),
        "two": meta_record(summary={"p_value": 0.04}, prediction_interval=[0.0, 0.2]),
    }
    rows = comparisons(metas, Settings(tried={"two": [25, 1]})).set_index("comparison")
    assert rows.loc[["one", "two"], "p_holm"].tolist() == [0.02, 0.04] and np.isnan(rows.loc["none", "p_holm"])
    assert rows.loc[["one", "two"], "p_bh"].tolist() == [0.02, 0.04]
    assert rows.loc["one", "p_non_inferiority"] == 0.2 and rows.loc["two", "prediction_high"] == 0.2
    assert rows[["control_tried", "treatment_tried"]].values.tolist() == [[1, 1], [1, 1], [25, 1]]
    assert rows["hypotheses"].tolist() == [2, 2, 2] and set(rows["family"]) == {""}
    assert list(comparisons({}, Settings()).columns) == list(comparisons(metas, Settings()).columns)


def test_each_scope_is_adjusted_by_itself():
    """Holm's by hand; a summary of equal effects has no test, and its hypothesis counts as p = 1."""
    p_values = {"one": (0.01, 0.001), "two": (0.04, 0.002), "equal": (None, 0.03)}
    margins = {"one": {"p_non_inferiority": 0.02, "p_equivalence": 0.3},
               "two": {"p_non_inferiority": 0.03, "p_equivalence": 0.9}, "equal": {}}  # fmt: skip
    metas = {
        name: meta_record(
            summary={"p_value": p}, fixed_mean={"effect": 0.09, "p_value": of_these}, equivalence=margins[name]
        )
        for name, (p, of_these) in p_values.items()
    }
    rows = comparisons(metas, Settings()).set_index("comparison")
    assert rows["p_holm"].tolist()[:2] == [0.03, 0.08] and np.isnan(rows.loc["equal", "p_holm"])
    assert rows["fixed_mean_p_holm"].tolist() == [0.003, 0.004, 0.03] and set(rows["hypotheses"]) == {3}
    assert rows["p_non_inferiority_holm"].tolist()[:2] == [0.04, 0.04] and set(rows["margin_hypotheses"]) == {2}
    assert rows["p_equivalence_holm"].tolist()[:2] == [0.6, 0.9]
    assert set(rows["fixed_mean_effect"]) == {0.09}


def test_analyses_of_one_hypothesis_count_once():
    """Holm's by hand: of two hypotheses the smaller p is doubled, however many effects each was computed with."""
    p_values = {"md": 0.010, "smd": 0.012, "d_av": 0.011, "other": 0.030, "other-smd": 0.028}
    metas = {name: meta_record(summary={"p_value": p}) for name, p in p_values.items()}
    repeated = {"smd": "md", "d_av": "md", "other-smd": "other"}
    rows = comparisons(metas, Settings(repeated=repeated)).set_index("comparison")
    assert rows["p_holm"].tolist() == pytest.approx([0.020, 0.024, 0.022, 0.030, 0.028])
    assert rows["p_bh"].tolist() == pytest.approx([0.020, 0.024, 0.022, 0.030, 0.028])
    assert set(rows["hypotheses"]) == {2}
    apart = comparisons(metas, Settings(repeated=repeated, families={"other": "x", "other-smd": "x"})).set_index(
        "comparison"
    )
    assert apart["p_holm"].tolist() == pytest.approx(list(p_values.values())) and set(apart["hypotheses"]) == {1}
    alone = comparisons(metas, Settings()).set_index("comparison")
    assert alone.loc["md", "p_holm"] == pytest.approx(0.05) and set(alone["hypotheses"]) == {5}
