"""Published numbers beside ours: where ours stands, its printed digits, and what is said of a place that is not there."""

import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.tables import read_texts
from ranktrial.reports.published import content, counts, marks
from ranktrial.reports.writing import printed
from scripts.reports.published import Results, in_digits, read_published, versus
from tests.support.meta_records import meta_record

HEADING = "table\trow\tcolumn\tprinted\tcomparison\ttask\tsystem\tquantity\tfactor\tnote\n"
RESULTS = Results(
    effects={
        "c": pd.DataFrame({"task": ["a"], "effect": [0.1845], "weight": [0.0622]}).set_index("task"),
        "other": pd.DataFrame({"task": ["a"], "effect": [0.19], "weight": [0.05]}).set_index("task"),
    },
    metas={"c": meta_record(k=7, summary={"effect": -0.004}, i2=95.4), "other": meta_record(summary=None)},
    means=pd.DataFrame({"task": ["a"], "system": ["s"], "Judged@10": [0.3655]}).set_index(["task", "system"]),
    datasets=pd.DataFrame({"queries": [53900]}, index=["d/train"]),
)


def published(folder, *rows):
    (folder / "p.tsv").write_text("# a source\n" + HEADING + "".join("\t".join(row) + "\n" for row in rows))
    return read_published(folder / "p.tsv")


@pytest.mark.parametrize(
    ("value", "printed", "ours"),
    [
        (0.3655, "0.366", "0.366"),  # a half, which a binary fraction would round down
        (-0.00198, "-0.00", "-0.00"),
        (6.22, "6.2", "6.2"),
        (-7.94, "-8", "-8"),
        (8.334601085e-06, "8.334601e-06", "8.334601e-06"),
        (3.9e-30, "0.000000e+00", "3.900000e-30"),
        (0.0, "0.0e+00", "0.0e+00"),
    ],
)
def test_ours_has_the_digits_of_the_printed_number(value, printed, ours):
    assert in_digits(value, printed) == ours


def test_each_kind_of_place_is_looked_up_and_set_beside(tmp_path):
    rows = published(
        tmp_path,
        ("t", "A", "Weight", "6.2", "c", "a", "", "weight", "100", ""),
        ("t", "A", "Mean", "0.19", "c", "a", "", "effect", "1", "why"),
        ("t", "Summary", "Mean", "-0.00", "c", "", "", "effect", "1", ""),
        ("t", "Summary", "I2", "95", "c", "", "", "i2", "1", ""),
        ("t", "A", "J@10", "0.366", "", "a", "s", "Judged@10", "1", ""),
        ("t", "D", "queries", "53.9", "", "d/train", "", "queries", "0.001", ""),
    )
    table = versus(rows, RESULTS, {"c": "other"})
    assert table["equal"].tolist() == ["yes", "no", "yes", "yes", "yes", "yes"]
    assert table["ours"].tolist() == ["6.2", "0.18", "-0.00", "95", "0.366", "53.9"]
    assert table["beside"].fillna("").tolist()[:2] == ["5.0", "0.19"] and table["beside"].isna()[4]
    texts = read_texts(io.StringIO(table.to_csv(sep="\t", index=False)))
    text = printed.markdown_document("p", content(texts, together=False))
    assert counts(texts) == "5 of 6 published numbers are reproduced to their last digit"
    assert "**no**" in text and "why" in text and "other for c" in text


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("t", "B", "Mean", "1", "c", "b", "", "effect", "1", ""), "t, B, Mean: there is no 'b' in this experiment"),
        (("t", "A", "Mean", "1", "x", "a", "", "effect", "1", ""), "there is no 'x'"),
        (("t", "A", "Mean", "1", "c", "", "", "colour", "1", ""), "there is no 'colour'"),
        (("t", "A", "Mean", "one", "c", "a", "", "effect", "1", ""), "row 1: printed 'one' is not a number"),
    ],
)
def test_a_place_that_is_not_there_and_a_word_for_a_number_are_said(tmp_path, row, said):
    with pytest.raises(UserError, match=said):
        versus(published(tmp_path, row), RESULTS, {})


def test_a_file_without_the_columns_is_refused(tmp_path):
    (tmp_path / "p.tsv").write_text("task\tvalue\na\t1\n")
    with pytest.raises(UserError, match="no column 'table'"):
        read_published(tmp_path / "p.tsv")


MATRIX = pd.DataFrame(
    [("x", "source", "a", "zero", "transfer-x", "**", 0.001, 0.2), ("x", "source", "b", "zero", "transfer-x", None, 0.2, 0.2),
     ("x", "source", "b", "full", "all-x", None, None, None), ("p", "pseudo-labels", "a", "zero", "pseudo", "#", None, 0.004),
     ("p", "pseudo-labels", "b", "zero", "pseudo", None, None, 0.7)],
    columns=["source", "kind", "target", "shot", "system", "mark", "pseudo-labels_p_value", "baseline_p_value"],
)  # fmt: skip


def test_printed_marks_stand_beside_ours_and_are_counted(tmp_path):
    """A doubled mark of ours is the same difference. A transferred model's test against the baseline has no mark."""
    ours = marks([MATRIX])
    assert ours == {("a", "transfer-x"): "**", ("b", "transfer-x"): "", ("a", "pseudo"): "#", ("b", "pseudo"): ""}
    cells = [
        ("a", "transfer-x", "*"),
        ("b", "transfer-x", "*"),
        ("b", "all-x", ""),
        ("a", "pseudo", ""),
        ("b", "pseudo", ""),
    ]
    lines = ["\t".join(("1", "r", "c", "0.3", "", task, system, "RR", "1", "", mark)) for task, system, mark in cells]
    (tmp_path / "p.tsv").write_text(HEADING.replace("note", "note\tmark") + "\n".join(lines) + "\n")
    means = pd.DataFrame([(task, system, 0.3) for task, system, _ in cells], columns=["task", "system", "RR"])
    results = replace(RESULTS, means=means.set_index(["task", "system"]), marks=ours)
    table = versus(read_published(tmp_path / "p.tsv"), results, {})
    assert table["our_mark"].tolist() == ["**", "", "", "#", ""]
    assert table["marks_equal"].tolist() == ["yes", "no", "", "no", "yes"]
    said = "5 of 5 published numbers are reproduced to their last digit; 2 of 4 marks of significance, or their absence, agree"
    assert counts(table) == said
    page = printed.markdown_document(
        "t", content(read_texts(io.StringIO(table.to_csv(sep="\t", index=False))), together=True)
    )
    assert re.search(r"mark *\| our mark *\| marks equal", page) and "**no**" in page
    without = versus(read_published(tmp_path / "p.tsv"), replace(results, marks={}), {})
    assert without["our_mark"].tolist() == ["not tested", "not tested", "", "", ""]
    assert counts(without) == "5 of 5 published numbers are reproduced to their last digit"


def test_a_mark_that_the_paper_cannot_have_is_refused(tmp_path):
    (tmp_path / "p.tsv").write_text(HEADING.replace("note", "note\tmark") + "1\tr\tc\t0.3\t\ta\ts\tRR\t1\t\t**\n")
    with pytest.raises(UserError, match=r"p\.tsv: row 1: mark '\*\*'; expected \* or #, or none"):
        read_published(tmp_path / "p.tsv")
