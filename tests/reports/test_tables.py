"""Tables and sentences of a comparison: what stands in them, in plain words and in LaTeX that compiles."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from ranktrial.records.comparison import ComparisonRow, EffectsRow, rows_of
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.notes import caption, p_text
from ranktrial.reports.comparison.number_text import numbers
from ranktrial.reports.comparison.plot_text import lines_of
from ranktrial.reports.comparison.reading import Forest, Found, Looks, PValues
from ranktrial.reports.comparison.sentence import answers
from ranktrial.reports.comparison.table import (
    HERE,
    LIKE_THESE,
    NEW,
    P_HERE,
    P_LIKE_THESE,
    SCOPES,
    TAU,
    TRIED,
    as_table,
    blocks,
    content,
    dependences,
    headings,
    in_full,
    overview,
)
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Column, Items, Paragraph, Section, Table
from ranktrial.reports.writing.printed import COLUMN, FITTING, SMALL, heading, latex_document, latex_escaped
from ranktrial.synthesis.all_comparisons import Settings, comparisons
from scripts.reports.tables import narrow
from tests.support.meta_records import facts, meta_record

LOOKS = Looks(alpha=0.05, judged="", correction="holm")
LABELS = Labels({"a": "Task A"}, {"t": "Treatment & Co", "c": "BM25"})
FACTS = facts(LABELS)
SUMMARY = {"effect": 0.05, "variance": 1e-4, "se": 0.01, "ci_low": 0.03, "ci_high": 0.07, "df": None, "p_value": 1e-6,
           "log10_p": -6.0}  # fmt: skip
META = {
    "control": "c", "treatment": "t", "measure": "nDCG@10", "effect_type": "MD", "task_interval": "t", "k": 3, "summary": SUMMARY,
    "fixed_mean": SUMMARY | {"effect": 0.045, "ci_low": 0.04, "ci_high": 0.05}, "fixed": SUMMARY | {"effect": 0.04}, "prediction_interval": [-0.02, 0.12], "prediction_df": 1, "q": 5.0, "q_df": 2, "q_p_value": 0.08,
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
    return Found(tuple(EffectsRow(**row) for row in [*rows, missing]), meta_record(**META | changes))


def page(name, one, plot, labels):
    return printed.markdown_document(name, [*content(one, plot), *dependences(one.meta, plot, labels)])


def test_the_table_has_tasks_summary_reason_and_marks():
    one = found()
    plot = as_table(one, LOOKS, FACTS)
    assert list(headings(plot)) == ["Task", "n", "nDCG@10", "Mean difference", "95% CI", "p"]
    above, below = blocks(plot)
    assert above[0] == ["Task A", "50", "0.300 → 0.350", "0.050", "[0.030, 0.070]", "0.030*"]
    assert above[3][:5] == ["d", "2", "0.100 → 0.100", "none", ""]
    assert [row[0] for row in below] == ["Mean of these 3 tasks", "Random effects (DL, normal interval)",
                                         "95% prediction interval, t(1)", "Fixed effect (inverse variance)"]  # fmt: skip
    assert below[0][3:5] == ["0.045", "[0.040, 0.050]"] and below[1][3:5] == ["0.050", "[0.030, 0.070]"]
    text = page("name", one, plot, LABELS)
    assert "d: no effect (no spread)." in text
    assert "paired t-test, Holm-corrected for the number of tasks. * p < 0.05." in text and "d: left out, r" in text
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
    looks = replace(LOOKS, p=test, correction=correction)
    assert Forest((found(effect_type=kind),), looks, FACTS).p_column == column


def test_a_figure_of_several_treatments_says_of_each_what_its_p_values_are():
    plain, again, seeded = found(treatment="x"), found(treatment="y"), found()
    with_seeds = [replace(row, seeds_variance=1e-4) for row in seeded.effects[:2]]
    seeded = replace(seeded, effects=(*with_seeds, *seeded.effects[2:]))
    uncorrected = replace(LOOKS, correction="none")
    assert p_text(Forest((plain, again), uncorrected, FACTS)).startswith("p-values of tasks: paired t-test. *")
    assert (
        "tasks: x, y: paired t-test; Treatment & Co: paired t-test (including seed variance, above 0 on 2 of 3 tasks). *"
    ) in p_text(Forest((plain, seeded, again), uncorrected, FACTS)).replace("\N{NO-BREAK SPACE}", " ")


def test_p_by_the_randomisation_test_bears_no_mark_above_alpha():
    one = found()
    plot = Forest((one,), replace(LOOKS, p="randomisation", correction="none"), FACTS)
    assert blocks(plot)[0][0][-1] == "0.060"


def test_the_tsv_holds_full_precision_and_the_summaries():
    table = in_full(found(), LABELS)
    assert table["task"].tolist() == ["Task A", "b", "c", "d", "mean of these tasks", "summary",
                                       "prediction interval", "fixed effect"]  # fmt: skip
    assert table["weight"][0] == 1 / 3 and table["effect"][4:6].tolist() == [0.045, 0.05]


def test_a_comparison_without_an_effect_has_a_table_too():
    one = found(summary=None, fixed_mean=None, k=0, prediction_interval=None, q=None, leave_one_out={})
    one = Found(one.effects[-1:], one.meta)
    plot = as_table(one, LOOKS, FACTS)
    assert len(blocks(plot)) == 1 and "no spread" in page("n", one, plot, LABELS)
    row = {
        "comparison": "n",
        "control": "c",
        "treatment": "t",
        "measure": "m",
        "effect_type": "MD",
        "k": 0,
        "effect": None,
    }
    assert [overview(pd.DataFrame([row]), LABELS)[name] for name in (*SCOPES, TAU)] == [[""]] * 6


def test_a_row_of_all_comparisons_answers_in_each_scope():
    metas = {"one": meta_record(**META | {"k": 4, "tau2": 0.0009, "tau2_ci": [0.0, 0.01]}),
             "two": meta_record(**META | {"summary": SUMMARY | {"p_value": 0.04}, "prediction_interval": None, "tau2_ci": None})}  # fmt: skip
    shown = overview(comparisons(metas, Settings()), LABELS)
    assert shown[HERE] == ["0.045 [0.040, 0.050]"] * 2 and shown[LIKE_THESE] == ["0.050 [0.030, 0.070]"] * 2
    assert shown[P_HERE] == ["<0.001 (<0.001)"] * 2 and shown[P_LIKE_THESE] == ["<0.001 (<0.001)", "0.040 (0.040)"]
    assert shown[NEW] == ["[\N{MINUS SIGN}0.020, 0.120]", ""]
    assert shown[TAU] == ["0.030 [0.000, 0.100]", "0.032"]
    alone = overview(
        comparisons({"one": meta_record(**META | {"k": 1, "tau2": None, "prediction_interval": None})}, Settings()),
        LABELS,
    )
    assert alone[P_HERE] == ["<0.001"] and alone[LIKE_THESE] == alone[P_LIKE_THESE] == alone[TAU] == [""]


def test_what_was_tried_is_reported_of_all_comparisons_where_anything_was_tuned():
    row = dict.fromkeys(("effect", "i2"), None) | {"comparison": "n", "control": "c", "treatment": "t", "measure": "m",
                                                   "effect_type": "MD", "k": 0}  # fmt: skip
    tuned, plain = ({"control_tried": count, "treatment_tried": 1} for count in (25, 1))
    assert overview(pd.DataFrame([row | tuned, row | plain]), LABELS)[TRIED] == ["25 → 1", "1 → 1"]
    assert TRIED not in overview(pd.DataFrame([row | plain]), LABELS)


def test_latex_escapes_what_means_something_to_it():
    assert latex_escaped("50% of A_B & C → τ²") == r"50\% of A\_B \& C $\rightarrow$ $\tau^{2}$"
    assert latex_escaped("\N{MINUS SIGN}0.1 \N{MULTIPLICATION SIGN}10⁻³ <1") == r"$-$0.1 $\times$10$^{-3}$ $<$1"
    assert latex_escaped("$5") == r"\$5"
    assert latex_escaped("Documents (log₁₀), χ²(1) ≥ 3") == r"Documents (log$_{10}$), $\chi^{2}$(1) $\geq$ 3"
    small = Table([Column("Task"), Column("n", "r")], [[["a", "1"]], [["b", "2"]]])
    table = latex_document("x", [small, Paragraph("a  \n b")])
    assert re.findall(r"\\(\w+)rule", table) == ["top", "mid", "mid", "bottom"]
    assert r"Task & $n$ \\" in table and table.startswith(
        f"% \\usepackage{{booktabs,graphicx}}\n% a b\n\\begin{{table}}\\centering\n{SMALL}\n{FITTING}\n\\begin{{tabular}}{{lr}}"
    )


def test_latex_prints_the_measure_and_the_meaning_of_marks_with_each_table():
    table = Table([Column("Task")], [[["a"]]], caption="Mean nDCG@10 of A & B.")
    part = Section("nDCG@10", [table, Items(["±: the spread."])])
    one, other = latex_document("x_1", [part, table]).split("\\end{table}\n")[:2]
    title, _, said = one.partition("\\resizebox")
    assert r"\caption{Mean nDCG@10 of A \& B.}\label{tab:x_1}" in title and r"\label{tab:x_1-2}" in other
    assert "$\\pm$: the spread." in said and "%" not in said.replace("{!}{%", "")
    cell = latex_document("x", [Table([Column("a")], [[["0.297 ± 0.009*"]]])])
    assert r"0.297{\tiny\,$\pm$\,0.009}*" in cell
    wide = replace(table, blocks=[[["a" * COLUMN]]])
    assert r"\begin{table*}" in latex_document("x", [wide]) and r"\begin{table}" in one


def test_a_long_heading_of_latex_breaks_at_spaces_and_hyphens():
    assert heading(Column("long-term-care-insurance", "r")) == r"\shortstack[r]{long-term- \\ care- \\ insurance}"
    assert heading(Column("On these collections", "r")) == r"\shortstack[r]{On these \\ collections}"
    assert [heading(Column(name)) for name in ("n", "p", "bm25", "A_B")] == ["$n$", "$p$", "bm25", r"A\_B"]


def test_the_comparisons_of_a_paper_have_three_columns():
    """Each comparison is named by its systems, measure and effect, and each scope has a row."""
    shown = comparisons({"one": meta_record(**META), "two": meta_record(**META | {"treatment": "u"})}, Settings())
    made, _ = narrow(shown, facts(LABELS))
    assert [column.name for column in made.columns] == ["Comparison", "Estimate", "p"] and len(made.blocks) == 2
    first = [[cell.strip() for cell in row] for row in made.blocks[0]]
    assert first[0] == ["Treatment & Co against BM25 (nDCG@10, MD, k = 3)", "", ""]
    assert [row[0] for row in first[1:]] == [HERE, LIKE_THESE, NEW, TAU]
    assert first[1][1] == overview(shown, LABELS)[HERE][0] and first[1][2] == overview(shown, LABELS)[P_HERE][0]


def with_family(p_holm: float, size: int, **changes):
    names = {"comparison": "x", "control": "c", "treatment": "t", "measure": "m", "effect_type": "MD"}
    adjusted = dict.fromkeys(("p_holm", "p_bh", "fixed_mean_p_holm", "fixed_mean_p_bh"), p_holm)
    return replace(found(**changes), family=ComparisonRow(**names, k=3, hypotheses=size, **adjusted))


def plot_of(one: Found, looks: Looks = LOOKS):
    return as_table(one, looks, FACTS)


def test_the_star_of_a_summary_follows_the_adjustment_that_is_named():
    """The figure of a Holm-corrected comparison shows the summary's p among all comparisons, and says so."""
    one = with_family(0.086, 7)
    mean, summary, _, fixed = blocks(plot_of(one))[1]
    assert mean[-1] == summary[-1] == "0.086" and fixed[-1] == "<0.001"
    notes = page("name", one, plot_of(one), LABELS)
    assert ". p-values of means: Holm-corrected for the 7 hypotheses of the experiment. * p < 0.05." in notes
    uncorrected = replace(LOOKS, correction="none")
    assert blocks(plot_of(one, uncorrected))[1][0][-1] == "<0.001", "significant alone, not after Holm correction"
    assert "p-values of means" not in page("name", one, plot_of(one, uncorrected), LABELS)


@pytest.mark.parametrize("correction", ["none", "holm", "benjamini-hochberg"])
@pytest.mark.parametrize("by_holm", [0.002, 0.049, 0.05, 0.3])
def test_every_star_of_a_mean_is_the_verdict_of_its_sentence(by_holm, correction):
    """In table and figure, whatever p-value is shown; the note names the correction."""
    one = with_family(by_holm, 7)
    plot = plot_of(one, replace(LOOKS, correction=correction))
    significant = answers(one.meta, plot)[0].kind != "open"
    assert significant == (by_holm < 0.05)
    mean = blocks(plot)[1][0]
    assert mean[-1].endswith("*") == significant
    drawn = next(line for line in lines_of(plot, numbers(plot)) if line.kind == "mean")
    assert ("*" in drawn.cells["p"]) == significant
    note = "of means after Holm correction for seven hypotheses"
    assert (note in p_text(plot)) == (correction != "holm"), "where the p-values are Holm's, their own note says so"


@pytest.mark.parametrize("weights", [(0.2, 0.2, 0.2), (0.2, 0.3, 0.5)])
def test_weights_are_shown_where_they_differ(weights):
    one = found()
    weighed = zip(one.effects, (*weights, None), strict=True)
    one = replace(one, effects=tuple(replace(row, weight=weight) for row, weight in weighed))
    differ = len(set(weights)) > 1
    for looks in (LOOKS, replace(LOOKS, columns=("weight", "effect"))):
        plot = Forest((one,), looks, FACTS)
        assert plot.shows("weight") == (differ or looks.columns is not None)
        assert (", its area the task's weight" in caption(plot)) == differ
    assert ("Weight" in headings(plot_of(one))) == differ


def test_the_place_of_a_comparison_in_its_family():
    p = {"summary": 0.01, "fixed_mean": 0.001}
    margin = {"equivalence": {"p_equivalence": 0.3, "p_non_inferiority": 0.03}}
    metas = {
        name: meta_record(**META | {of: {"p_value": p[of] * times} for of in p} | further)
        for name, times, further in (("a", 1, {}), ("b", 2, margin), ("c", 4, {}))
    }
    rows = {
        row.comparison: row
        for row in rows_of(ComparisonRow, comparisons(metas, Settings(families={"a": "x", "b": "x"})))
    }

    def test(name: str, of: str):
        return Found((), metas[name], rows[name]).test(of, 0.5, "holm")

    assert test("a", "p") == PValues(0.5, 0.02, 0.02, 2) and test("a", "fixed_mean_p") == PValues(0.5, 0.002, 0.002, 2)
    assert test("b", "p_non_inferiority") == PValues(0.5, 0.03, 0.03, 1) and test("a", "p_non_inferiority").holm is None
    assert test("c", "p") == PValues(0.5, 0.04, 0.04, 1)
    assert [rows[name].family for name in "abc"] == ["x", "x", ""]
