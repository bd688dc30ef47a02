"""Tables and sentences of a comparison: what stands in them, in plain words and in LaTeX that compiles."""

import copy
import re
from dataclasses import replace

import pandas as pd
import pytest

from scripts.reports.comparison.adjustment import Adjustment, adjustments
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import Found, Labels, forest, p_column
from scripts.reports.comparison.sentence import sentence
from scripts.reports.comparison.table import TRIED, as_table, blocks, headings, overview
from scripts.reports.tables import in_full, page
from scripts.reports.writing.latex import escape, tabular

LOOKS = Looks(0.05, "DL", "normal", judged="", p="t-test", correction="holm", sort="config")
LABELS = Labels({"a": "Task A"}, {"t": "Treatment & Co", "c": "BM25"})
SUMMARY = {"effect": 0.05, "variance": 1e-4, "se": 0.01, "ci_low": 0.03, "ci_high": 0.07, "df": None, "p_value": 1e-6,
           "log10_p": -6.0}  # fmt: skip
META = {
    "control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "task_interval": "t", "k": 3, "summary": SUMMARY,
    "fixed": SUMMARY | {"effect": 0.04}, "prediction_interval": [-0.02, 0.12], "prediction_df": 1, "q": 5.0, "q_df": 2, "q_p_value": 0.08,
    "i2": 60.0, "h2": 2.5, "tau2": 0.001, "tau2_ci": [0.0, 0.01], "warnings": ["d: left out, r"],
    "leave_one_out": {"a": {"k": 2, "interval": "normal", "summary": SUMMARY, "tau2": 0.0, "i2": 0.0, "q": 0.1}},
}  # fmt: skip


def found(**changes):
    rows = [
        {"task": task, "n": 50, "control_mean": 0.3, "treatment_mean": 0.35, "effect": 0.05, "variance": 1e-4, "se": 0.01,
         "ci_low": 0.03, "ci_high": 0.07, "p_value": 1e-6, "weight": 1 / 3, "log10_p": -6.0, "t_p_value": 0.01,
         "t_p_holm": 0.03, "t_p_bh": 0.02, "randomisation_p_value": 0.06, "randomisation_p_holm": 0.2,
         "randomisation_p_bh": 0.1, "control_judged": None, "treatment_judged": None, "undefined": None}
        for task in "abc"
    ]  # fmt: skip
    missing = {"task": "d", "n": 2, "control_mean": 0.1, "treatment_mean": 0.1, "undefined": "no spread"}
    table = pd.DataFrame([*rows, missing]).astype(object)
    return Found(table.where(table.notna(), None), copy.deepcopy(META) | changes)


def said(**changes):
    one = found(**changes)
    return sentence(one.meta, as_table(one, LOOKS, LABELS), LABELS)


def test_the_sentence_says_effect_certainty_and_what_to_expect_elsewhere():
    assert said() == (
        "Over 3 tasks, the nDCG@10 of Treatment & Co is on average 0.050 higher than that of BM25 (95% confidence "
        "interval 0.030 to 0.070): more than chance explains. In a new collection the effect is expected between "
        "\N{MINUS SIGN}0.020 and 0.120: it may be a gain or a loss there."
    )


def test_the_sentence_follows_the_numbers():
    lower = SUMMARY | {"effect": -0.05, "ci_low": -0.1, "ci_high": 0.01}
    assert "0.050 lower than" in said(summary=lower) and "it may be chance" in said(summary=lower)
    assert said(prediction_interval=[0.01, 0.1]).endswith("a gain there, too.")
    assert said(prediction_interval=[-0.1, -0.01]).endswith("a loss there, too.")
    assert said(k=2, prediction_interval=None).endswith("With 2 tasks nothing can be said about a new collection.")
    assert "0.050 standard deviations higher" in said(effect_type="SMD")
    assert "0.050 standard deviations higher" in said(effect_type="d_av")
    assert "Treatment & Co correlates with BM25 at 0.050" in said(effect_type="CORR")
    assert "no task has an effect that can be computed" in said(summary=None, k=0)
    margin = {"margin": 0.01, "p_equivalence": 0.2, "p_non_inferiority": 0.004}
    assert "is not worse than BM25 by more than 0.01 is shown (p = 0.004)." in said(equivalence=margin)
    assert "is not shown (p = 0.400)." in said(equivalence=margin | {"p_non_inferiority": 0.4})


def test_a_gain_is_a_fall_where_a_lower_value_is_better():
    for interval, what in (
        ([0.01, 0.1], "a loss"),
        ([-0.1, -0.01], "a gain"),
        ([-0.1, 0.1], "it may be a gain or a loss"),
    ):
        one = found(prediction_interval=interval)
        plot = as_table(one, replace(LOOKS, lower_is_better=True), LABELS)
        assert f": {what} there" in sentence(one.meta, plot, LABELS)


def test_the_table_has_tasks_summary_reason_and_marks():
    one = found()
    plot = as_table(one, LOOKS, LABELS)
    assert list(headings(plot)) == ["Task", "n", "nDCG@10", "Mean difference", "95% CI", "Weight", "p"]
    above, below = blocks(one, plot)
    assert above[0] == ["Task A", "50", "0.300 → 0.350", "0.050", "[0.030, 0.070]", "33.3%", "0.030*"]
    assert above[3][:5] == ["d", "2", "0.100 → 0.100", "no spread", ""]
    assert [row[0] for row in below] == ["Random effects (DL, normal interval)", "95% prediction interval, t(1)",
                                         "Fixed effect (for reference)"]  # fmt: skip
    text = page("name", one, plot, LABELS)
    assert "paired t-test, Holm-adjusted over the tasks. * p < 0.05." in text and "d: left out, r" in text
    assert "## Leaving one task out" in text and "Adding one" not in text and "nan" not in text.lower()


@pytest.mark.parametrize(
    ("kind", "test", "correction", "column"),
    [
        ("MD", "t-test", "none", "t_p_value"),
        ("SMD", "randomisation", "benjamini-hochberg", "randomisation_p_bh"),
        ("MD", "interval", "holm", "p_value"),
        ("CORR", "t-test", "holm", "p_value"),
        ("d_av", "t-test", "holm", "t_p_holm"),
    ],
)
def test_which_p_is_shown(kind, test, correction, column):
    assert p_column(kind, "t", test, correction)[0] == column


def test_p_by_the_randomisation_test_bears_no_mark_above_alpha():
    one = found()
    plot = forest([one], replace(LOOKS, p="randomisation", correction="none"), LABELS)
    assert blocks(one, plot)[0][0][-1] == "0.060"


def test_the_tsv_holds_full_precision_and_the_summaries():
    table = in_full(found(), LABELS)
    assert table["task"].tolist() == ["Task A", "b", "c", "d", "summary", "prediction interval", "fixed effect"]
    assert table["weight"][0] == 1 / 3 and table["effect"][4] == 0.05


def test_a_comparison_without_an_effect_has_a_table_too():
    one = found(summary=None, k=0, prediction_interval=None, q=None, leave_one_out={})
    one = Found(one.effects[one.effects["undefined"].notna()], one.meta)
    plot = as_table(one, LOOKS, LABELS)
    assert len(blocks(one, plot)) == 1 and "no spread" in page("n", one, plot, LABELS)
    row = dict.fromkeys(("effect", "ci_low", "ci_high", "p_value", "p_holm", "i2", "tau2", "prediction_low")) | {
        "comparison": "n", "control": "c", "treatment": "t", "measure": "m", "effect_type": "MD", "k": 0, "alpha": 0.05}  # fmt: skip
    assert overview(pd.DataFrame([row]), LABELS)["Summary"] == [""]


def test_what_was_tried_is_told_of_all_comparisons_where_anything_was_tuned():
    row = dict.fromkeys(("effect", "i2"), None) | {"comparison": "n", "control": "c", "treatment": "t", "measure": "m",
                                                   "effect_type": "MD", "k": 0}  # fmt: skip
    tuned, plain = ({"control_tried": count, "treatment_tried": 1} for count in (25, 1))
    assert overview(pd.DataFrame([row | tuned, row | plain]), LABELS)[TRIED] == ["25 → 1", "1 → 1"]
    assert TRIED not in overview(pd.DataFrame([row | plain]), LABELS)


def test_latex_escapes_what_means_something_to_it():
    assert escape("50% of A_B & C → τ²") == r"50\% of A\_B \& C $\rightarrow$ $\tau^{2}$"
    assert escape("\N{MINUS SIGN}0.1 \N{MULTIPLICATION SIGN}10⁻³ <1") == r"$-$0.1 $\times$10$^{-3}$ $<$1"
    assert escape("$5") == r"\$5"
    assert escape("Documents (log₁₀), χ²(1) ≥ 3") == r"Documents (log$_{10}$), $\chi^{2}$(1) $\geq$ 3"
    table = tabular({"Task": "l", "n": "r"}, [[["a", "1"]], [["b", "2"]]], ["\\usepackage{booktabs}"])
    assert re.findall(r"\\(\w+)rule", table) == ["top", "mid", "mid", "bottom"]
    assert r"Task & $n$ \\" in table and table.startswith("% \\usepackage{booktabs}\n\\begin{tabular}{lr}")


def with_family(p_holm: float, size: int, **changes):
    return replace(found(**changes), family=Adjustment(p_holm, p_holm, size))


def plot_of(one: Found, looks: Looks = LOOKS):
    return as_table(one, looks, LABELS)


def test_the_sentence_claims_no_more_than_its_numbers():
    equal = SUMMARY | {"ci_low": 0.05, "ci_high": 0.05, "se": 0.0, "p_value": None}
    assert "the tasks are equal, so how far this may be chance cannot be said" in said(summary=equal)
    assert "more than chance explains, as far as two tasks can show." in said(k=2, prediction_interval=None)
    unsure = found()
    unsure.effects["ci_low"] = -0.01
    assert ": more than chance explains, though on no task alone: it rests on their agreement. " in sentence(
        unsure.meta, plot_of(unsure), LABELS
    )
    one_of_many = with_family(0.086, 7)
    assert "more than chance explains; but as one of 7 comparisons it may be chance (p = 0.086 by Holm)." in sentence(
        one_of_many.meta, plot_of(one_of_many), LABELS
    )


def test_the_sentence_says_the_summary_with_systems_that_are_the_same():
    sensitivity = {"summary": SUMMARY | {"effect": 0.02, "ci_low": 0.01, "ci_high": 0.03}, "tasks": {"d": {}, "e": {}}}
    assert "With the 2 tasks on which both systems are the same it is 0.020 (0.010 to 0.030; pooled variance)." in said(
        sensitivity=sensitivity
    )


def test_the_star_of_a_summary_follows_the_adjustment_that_is_named():
    """The figure of a Holm-corrected comparison shows the summary's p among all comparisons, and says so."""
    one = with_family(0.086, 7)
    summary, _, fixed = blocks(one, plot_of(one))[1]
    assert summary[-1] == "0.086" and fixed[-1] == "<0.001"
    notes = page("name", one, plot_of(one), LABELS)
    assert "; p of summaries: Holm-adjusted over the experiment's 7 hypotheses. * p < 0.05." in notes
    uncorrected = replace(LOOKS, correction="none")
    assert blocks(one, plot_of(one, uncorrected))[1][0][-1] == "<0.001*"
    assert "p of summaries" not in page("name", one, plot_of(one, uncorrected), LABELS)


def test_the_place_of_a_comparison_in_its_family():
    table = pd.DataFrame({"comparison": ["a", "b", "c"], "p_value": [0.01, None, 0.2], "p_holm": [0.02, None, 0.2],
                          "p_bh": [0.02, None, 0.2], "hypotheses": [2, 2, 1], "family": ["x", "x", None]})  # fmt: skip
    found = adjustments(table)
    assert found["a"] == Adjustment(0.02, 0.02, 2, "x") and found["b"] == Adjustment(None, None, 2, "x")
    assert found["a"].scope == "2 hypotheses of family x" and found["c"].scope == "experiment's 1 hypothesis"
    assert adjustments(pd.DataFrame()) == {}
