"""Files of values, one per sample: with ids, without, or a column per system; nothing is taken for a heading, paired with another line, or read as another number."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.scores import check_pairs, read_scores
from tests.support.one_line import refused

NOT_NUMBERS = [
    "12%",
    "0,5",
    "1_000",
    "١٢",
    "\uff11",
    "0x10",
    "1e",
    "O.5",
    "l.0",
    "1 2",
    "--1",
    "",
    "true",
    "NA",
    "0.5f",
    "1/2",
    "½",
]
NOT_FINITE = ["nan", "NaN", "inf", "-inf", "Infinity", "1e999"]


def written(folder, content):
    (folder / "s.txt").write_text(content)
    return folder / "s.txt"


def refusal(folder, content):
    path = folder / "s.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as error:
        read_scores(path)
    assert "\n" not in str(error.value) and str(error.value).startswith(str(path))
    return str(error.value)


@pytest.mark.parametrize("value", NOT_NUMBERS)
@pytest.mark.parametrize("line", [1, 2])
def test_a_value_that_is_no_plain_number_is_refused_in_any_line(tmp_path, value, line):
    """In the first line too, where it must not be taken for a heading."""
    rows = ["s1\t0.5", "s2\t0.25"]
    rows[line - 1] = f"s{line}\t{value}"
    assert f"s.txt:{line}: value {value!r} is not a number" in refusal(tmp_path, "\n".join(rows) + "\n")


@pytest.mark.parametrize("value", NOT_FINITE)
def test_a_value_that_is_not_finite_is_refused(tmp_path, value):
    assert "s.txt:1: value" in refusal(tmp_path, f"s1\t{value}\ns2\t1\n")
    assert "s.txt:2: value" in refusal(tmp_path, f"1\n{value}\n")


@pytest.mark.parametrize(
    "heading",
    ["id\taccuracy", "query_id\tnDCG@10", "query-id\tf1", "qid\tRR", "Sample ID\tScore", "idx\tvalue", "doc_id\tAP"],
)
def test_what_is_a_heading(tmp_path, heading):
    (tmp_path / "s").write_text(f"{heading}\na\t1\n")
    assert read_scores(tmp_path / "s") == {"a": 1.0}


@pytest.mark.parametrize(
    "line",
    [
        "a\taccuracy",
        "s1\tO.5",
        "id\t",
        "id\tNA",
        "id\tnan",
        "id\t0.5%",
        "id\t-",
        "sentence 1\tyes",
        "covid\tone",
        "query\tl.5",
    ],
)
def test_what_is_no_heading_and_so_a_bad_value(tmp_path, line):
    assert "s.txt:1: value" in refusal(tmp_path, f"{line}\nb\t1\n")


def test_a_heading_without_ids_or_in_a_later_line_is_a_bad_value(tmp_path):
    assert "s.txt:1: value 'accuracy' is not a number" in refusal(tmp_path, "accuracy\n1\n")
    assert "s.txt:2: value 'accuracy' is not a number" in refusal(tmp_path, "a\t1\nid\taccuracy\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1\n\n0\n", ":2: a blank line"),
        ("\n1\n0\n", ":1: a blank line"),
        ("1\n0\n  \n\t\n1\n", ":3: a blank line"),
        ("1\r\n\r\n0\r\n", ":2: a blank line"),
        ("a\t1\tx\n", ":1: 3 columns"),
        ("a\t1\t\n", ":1: 3 columns"),
        ("1\t\n", ":1: value '' is not a number"),
        ("a\t1\n0.5\n", ":2: 1 columns"),
        ("0.5\na\t1\n", ":2: 2 columns"),
        ("a;1\n", ":1: value 'a;1' is not a number"),
        ("a,1\n", ":1: value 'a,1' is not a number"),
        ("a 1\n", ":1: value 'a 1' is not a number"),
        ("a b\t1\na_b\t0\n", ":2: duplicate id a_b"),
        ("a b\t1\na\xa0b\t0\n", ":2: duplicate id a_b"),
        (" a\t1\na \t0\n", ":2: duplicate id a"),
        ("\t1\n", ":1: the sample has no id"),
        ("a\t1\na\t0\n", ":2: duplicate id a"),
        ("a\x01\t1\n", ":1: the id 'a\\x01' contains a control character"),
        ("a\0\t1\n", ":1: a NUL character"),
        ("1\r0\r1\r", ":1: value '1\\r0\\r1' is not a number"),
        ("1\n0\n".encode("utf-16"), ":1: UTF-16 text"),
        (b"1\n\xff\n", ":2: not UTF-8 text"),
        ("", ": no values"),
        ("\n\n", ": no values"),
        ("id\taccuracy\n", ": no values"),
    ],
    ids=repr,
)
def test_lines_that_are_refused(tmp_path, content, said):
    assert f"s.txt{said}" in refusal(tmp_path, content)


def test_what_is_read(tmp_path):
    for content in (b"1\n0\n", b"\xef\xbb\xbf1\r\n0\r\n", b"1\n0", b"1\n0\n\n\n", b" 1 \n+0e0\n"):
        (tmp_path / "s").write_bytes(content)
        assert read_scores(tmp_path / "s") == {"line 1": 1.0, "line 2": 0.0}
    (tmp_path / "s").write_bytes(b"\xef\xbb\xbfid\tf1\r\n\r\na\t1\r\nb c\t-.5\r\n")
    assert read_scores(tmp_path / "s") == {"a": 1.0, "b_c": -0.5}
    (tmp_path / "s").write_text("b\t1\nNA\t0.5\n")
    assert read_scores(tmp_path / "s") == {"b": 1.0, "NA": 0.5}


@pytest.mark.parametrize(
    ("control", "treatment", "said"),
    [
        (["line 1"], ["line 1", "line 2"], "control has 1 scores and treatment 2"),
        (["line 1", "line 3"], ["line 1", "line 3"], "lines of the control are missing"),
        (["line 1", "line 2"], ["line 2", "line 1"], "lines of the treatment are missing"),
        (["line 1"], ["a"], "scores of the treatment have ids and those of the control have none"),
        (["a", "b"], ["line 1", "line 2"], "scores of the control have ids and those of the treatment have none"),
        (["a", "line 2"], ["a", "b"], "scores of the treatment have ids"),
    ],
)
def test_lines_that_cannot_be_paired(control, treatment, said):
    with pytest.raises(UserError, match=f"task rte: .*{said}"):
        check_pairs(control, treatment, "rte")


def test_lines_are_paired_where_there_are_as_many_and_ids_always():
    check_pairs(["line 1", "line 2"], ["line 1", "line 2"], "rte")
    check_pairs(["a", "b"], ["b"], "rte")


TABLE = 'query_id,"BM25, tuned",dense\n"q 1",0.5,1\nq2,0.25,0\n'


@pytest.mark.parametrize("table", [TABLE, TABLE.replace('"', "").replace("25, ", "25; ").replace(",", "\t")])
def test_a_column_of_several_systems_is_read_by_its_heading(tmp_path, table):
    assert read_scores(written(tmp_path, table), "dense") == {"q_1": 1.0, "q2": 0.0}
    name = "BM25, tuned" if "," in table else "BM25; tuned"
    assert read_scores(written(tmp_path, table), name) == {"q_1": 0.5, "q2": 0.25}


def test_a_csv_of_one_column_of_values_needs_no_name(tmp_path):
    assert read_scores(written(tmp_path, "\ufeffid,score\r\na,0.5\r\n\r\nb,1\r\n")) == {"a": 0.5, "b": 1.0}
    assert read_scores(written(tmp_path, ",score\n0,0.5\n1,1\n"), "score") == {"0": 0.5, "1": 1.0}  # as pandas writes


@pytest.mark.parametrize(
    ("content", "column", "said"),
    [
        (TABLE, None, ":1: the columns of values are BM25, tuned, dense; name one by the key `column` of the system"),
        (TABLE, "sparse", ":1: no column 'sparse'; the columns of values are BM25, tuned, dense"),
        ("id,a,a\nx,1,2\n", "a", ":1: 2 columns 'a'"),
        ("id\ta\tb\nx\t1\t2\n", None, ":1: the columns of values are a, b; name one by the key `column` of the system"),
        ("text,a,b\nx,1,2\n", "a", ":1: no heading that begins with the name of the ids, such as query_id"),
        ("x\t1\ny\t2\n", "a", ":1: no heading that begins"),
        ("id,a,b\nx,1\n", "a", ":2: 2 columns; expected 3, as the heading has"),
        ("id,a,b\nx,1,2\ny,,2\n", "a", ":3: value '' is not a number"),
        ("id,a,b\nx,1,2\nx,1,2\n", "a", ":3: duplicate id x"),
        ('id,a\nx,"1\n2",\n', None, ":2: not a line of comma-separated values"),
        ("id,a\n", None, ": no values"),
        ("", "a", ": no values"),
    ],
)
def test_a_mistake_in_columns_is_said_with_its_line(tmp_path, content, column, said):
    with refused(f"s.txt{said}"):
        read_scores(written(tmp_path, content), column)
