"""What is said of matrices and curves: no more than the numbers, and in the table's layout, LaTeX included."""

from dataclasses import replace

import pandas as pd
import pytest

from ranktrial.records.curves import AgainstStart, Baseline, CurvesRecord, Pair, Point
from ranktrial.reports import transfer_studies
from ranktrial.reports.transfer_studies import Curves, Matrix, above_for_good, as_table, matrix, matrix_notes, sections
from ranktrial.reports.writing import content, printed
from ranktrial.statistics.significance import Difference


def plain(text):
    return text.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "--")


TARGETS = [["a", "A & B_1"], ["c", "C"]]
NAMES = Matrix("RR@100", 0.01, [*TARGETS, ["bm25", "BM25"], ["pseudo-labels", "pseudo-labelling"]], TARGETS)


def row(source, kind, target, shot, mean, mark="", **tests):
    line = {
        "source": source,
        "kind": kind,
        "target": target,
        "shot": shot,
        "mean": mean,
        "mark": mark or None,
        "seeds": 2,
    }
    for against in ("baseline", "pseudo-labels"):
        difference, p, holm = tests.get(against.replace("-", "_"), (None, None, None))
        line |= {f"{against}_difference": difference, f"{against}_p_value": p, f"{against}_p_holm": holm}
        ends = (None, None) if difference is None else (difference - 0.02, difference + 0.02)
        line |= {f"{against}_ci_low": ends[0], f"{against}_ci_high": ends[1]}
    return line


TABLE = pd.DataFrame(
    [
        row("a", "source", "a", "full", 0.5),
        row("a", "source", "c", "zero", 0.3, "*", baseline=(-0.1, 0.001, 0.002), pseudo_labels=(-0.15, 0.008, 0.016)),
        row("c", "source", "a", "zero", 0.42, baseline=(0.02, 0.2, 0.2), pseudo_labels=(-0.03, 0.3, 0.3)),
        row("bm25", "baseline", "a", "zero", 0.4),
        row("bm25", "baseline", "c", "zero", 0.4),
        row("pseudo-labels", "pseudo-labels", "a", "zero", 0.45, "##", baseline=(0.05, 0.001, 0.002)),
        row("pseudo-labels", "pseudo-labels", "c", "zero", 0.45, baseline=(0.05, 0.02, 0.02)),
    ]
)


def test_the_layout_is_that_of_the_paper():
    rows = [row for block in matrix(TABLE, NAMES).blocks for row in block]
    assert [[plain(content.plain(cell)) for cell in row[1:]] for row in rows] == [
        ["--", "0.500", "0.300*", "--"],
        ["0.420", "--", "--", "--"],
        ["0.400", "", "0.400", ""],
        ["0.450##", "--", "0.450", "--"],
    ]


def test_latex_escapes_labels_and_sets_marks_above():
    text = printed.latex_document("m", [matrix(TABLE, NAMES)])
    lines = [line for line in text.splitlines() if not line.startswith(("%", r"\resizebox", r"\begin{table"))]
    assert lines[3] == r" & \multicolumn{2}{c}{A \& B\_1} & \multicolumn{2}{c}{C} \\"
    assert lines[5] == r"\shortstack[l]{Source $\downarrow$ \\ target $\rightarrow$} & ZS & FS & ZS & FS \\"
    assert r"A \& B\_1 & -- & 0.500 & 0.300$^{*}$ & -- \\" in lines
    assert r"pseudo-labelling & 0.450$^{\#\#}$ & -- & 0.450 & -- \\" in lines
    assert [line for line in lines if "rule" in line and "toprule" not in line][1] == r"\midrule"
    assert all(line.count("&") - line.count(r"\&") in (4, 2) for line in lines if line.endswith(r"\\"))


def test_the_notes_count_the_marks_that_stay():
    said = " ".join(matrix_notes(TABLE, NAMES))
    assert "over all 2 tests of this kind. 1 marked, of which 1 after the correction" in said  # of #
    assert "over all 2 tests of this kind. 1 marked, of which 0 after the correction" in said  # of *
    page = printed.markdown_document("transfer", [matrix(TABLE, NAMES)])
    assert "0.300\\*" in page and "| A & B_1 ZS | A & B_1 FS |" in page


def test_pseudo_labels_against_the_baseline():
    first, *single = [one for one in transfer_studies.answers_of_matrix(TABLE, NAMES) if one.question == "RQ2"]
    assert first.text == (
        "Pseudo-labels against BM25: the mean is higher in 2 of 2 targets (significantly in 1, after Holm correction in 1), "
        "lower in 0; paired t-tests at the 0.01 level."
    )
    assert single[0].text == "A & B_1: 0.450 against 0.400, +0.050, 99% CI +0.030 to +0.070, p = 0.001 (+12.5%)."


def test_transfer_is_not_always_better():
    answers = transfer_studies.answers_of_matrix(TABLE, NAMES)
    third, fourth = (next(one for one in answers if one.question == name) for name in ("RQ3", "RQ4"))
    assert third.text == (
        "Transferred models against BM25: the mean is higher in 1 of 2 pairs of source and target (significantly in 0, "
        "after Holm correction in 0), lower in 1 (significantly in 1, after Holm correction in 1); paired t-tests at the "
        "0.01 level. So not always."
    )
    assert "higher in 0 of 2 pairs" in fourth.text
    assert "lower in 2 (significantly in 1, after Holm correction in 0)" in fourth.text
    assert fourth.numbers["below_significant"] == 1


def test_higher_in_each_pair_is_not_taken_for_proof():
    table = TABLE.copy()
    table["baseline_difference"] = table["baseline_difference"].abs()
    third = next(one for one in transfer_studies.answers_of_matrix(table, NAMES) if one.question == "RQ3")
    assert third.text.endswith("The mean is higher in every pair, not significantly in 1.")


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([(32, 0.3), (64, 0.5), (128, 0.6)], 64),
        ([(32, 0.5), (64, 0.3), (128, 0.6)], 128),  # above at 32, but it does not stay so
        ([(128, 0.6), (32, 0.5)], 32),
        ([(32, 0.5), (64, 0.4)], None),  # equal is not above
        ([], None),
    ],
)
def test_above_for_good(values, found):
    assert above_for_good(values, 0.4) == found


def of(difference, p=0.2):
    return Difference(difference, difference - 0.01, difference + 0.01, t=1, df=9, p_value=p)


def point(start, queries, samples, before=None, p=0.2):
    mean = sum(samples) / len(samples)
    by_seed = {str(seed): value for seed, value in enumerate(samples)}
    against = (
        AgainstStart(of(mean - before, p), {s: value - before for s, value in by_seed.items()}) if before else None
    )
    return Point(
        target="t", start=start, queries=queries, size=600 if queries == "all" else queries, system="s", samples=by_seed,
        mean=mean, sd=None, n=10, t_interval=(mean - 0.1, mean + 0.1), against_baseline=of(mean - 0.4, p),
        against_start=against,
    )  # fmt: skip


RECORD = CurvesRecord(
    measure="RR", alpha=0.05, baseline={"t": Baseline(0.4, 10)},
    points=(
        point("scratch", 32, [0.2, 0.45]), point("scratch", 64, [0.35, 0.5]), point("scratch", "all", [0.6, 0.6]),
        point("pseudo-labels", 0, [0.5]), point("pseudo-labels", 32, [0.44, 0.48], 0.5, 0.01),
        point("pseudo-labels", "all", [0.6, 0.62], 0.5, 0.0001),
    ),
    full=(Pair("t", "scratch", "pseudo-labels", of(-0.01), 0.2),),
)  # fmt: skip
CURVES = Curves([["t", "T"]], [["scratch", "from scratch"], ["pseudo-labels", "pseudo-labels"]], "BM25")


def answers(record=RECORD):
    return transfer_studies.answers_of_curves(record, CURVES)


def test_how_many_queries_until_above():
    first, scratch, pseudo = [one for one in answers() if one.question == "RQ1"]
    assert first.text == (
        "From scratch, the mean stays above that of BM25 on 1 of 1 target, from 64 queries on; with that number the "
        "difference is significant at the 0.05 level, unadjusted, on 0."
    )
    assert scratch.text == (
        "T, from scratch: stays above BM25 (0.400) from 64 queries on, not with 32 (+0.025, 95% CI +0.015 to +0.035, "
        "p = 0.200, unadjusted); single samples from 32 to 600."
    )
    assert (scratch.numbers["queries_low"], scratch.numbers["queries_high"]) == (32, 600)
    assert "from 32 queries on" in pseudo.text and "the fewest that were tried" in pseudo.text


def test_never_above_is_said_with_the_largest_number():
    low = replace(RECORD, points=(point("scratch", 32, [0.2, 0.3]), point("scratch", "all", [0.3, 0.45])))
    first, single = [one for one in answers(low) if one.question == "RQ1"]
    assert first.text.startswith("From scratch, the mean stays above that of BM25 on 0 of 1 target.")
    assert plain(single.text) == (
        "T, from scratch: does not stay above BM25 (0.400) with any number of queries up to 600 (mean there 0.375: -0.025, "
        "95% CI -0.035 to -0.015, p = 0.200); single samples from 600, 1 of 2 never."
    )
    assert single.numbers["queries"] is None and single.numbers["queries_high"] is None


def test_a_little_bit_is_worse_than_none():
    few, whole, of_pseudo, full = [one for one in answers() if one.question == "RQ5"]
    assert few.text == (
        "With the fewest queries, the mean is lower than that of the starting point in 1 of 1 curve (significantly at the "
        "0.05 level, unadjusted, in 1); with some number of queries in 1."
    )
    assert whole.text == (
        "With all queries, some starting points differ significantly on 0 of 1 target (at the 0.05 level after Holm "
        "correction for the pairs of a target); the largest difference of means is 0.010."
    )
    assert plain(of_pseudo.text) == (
        "T, from pseudo-labels (0.500): worse with 32 (-0.040, samples -0.060 to -0.020, p = 0.010) queries; better with "
        "600 (+0.110, p < 0.001) queries (p unadjusted)."
    )
    assert plain(full.text) == (
        "T, with all queries: the largest difference between starting points is that of pseudo-labels over from scratch, "
        "+0.010, 95% CI 0.000 to +0.020, p = 0.200 (the largest of 1 pair, not adjusted for that); 0 of them differ "
        "significantly at the 0.05 level after Holm correction, which does not show that the starting point is irrelevant."
    )


def test_answers_as_a_table_and_as_a_page():
    table = as_table(answers())
    assert list(table["question"]) == ["RQ1"] * 3 + ["RQ5"] * 4
    assert table.iloc[1]["queries"] == 64 and table.iloc[1]["answer"].startswith("T, from scratch")
    assert [one.title[:20] for one in sections(answers())] == ["RQ1: From how many t", "RQ5: Where do a few "]


def test_a_curve_of_all_queries_alone_says_nothing_of_few():
    whole = replace(RECORD, points=(point("pseudo-labels", 0, [0.5]), point("pseudo-labels", "all", [0.4], 0.5)))
    assert not [one for one in answers(whole) if one.text.startswith("With the fewest queries")]
