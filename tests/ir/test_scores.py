"""Files of values a sample: with and without ids, and what each mistake in them says."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.scores import check_pairs, read_scores
from tests.support.one_line import refused


def written(folder, content):
    (folder / "s.txt").write_text(content)
    return folder / "s.txt"


def test_values_without_ids_are_numbered_by_their_lines(tmp_path):
    assert read_scores(written(tmp_path, "1.0\n0.0\n1e-1\n\n")) == {"line 1": 1.0, "line 2": 0.0, "line 3": 0.1}


@pytest.mark.parametrize("heading", ["", "id\taccuracy\n"])
def test_ids_are_kept_and_a_heading_is_passed_over(tmp_path, heading):
    assert read_scores(written(tmp_path, heading + "b\t1\r\nNA\t0.5\r\n")) == {"b": 1.0, "NA": 0.5}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1.0\nyes\n", "s.txt:2: value 'yes' is not a number"),
        ("a\t1\nb\tyes\n", "s.txt:2: value 'yes' is not a number"),
        ("1.0\nnan\n", "s.txt:2: value 'nan' is not finite"),
        ("a\t1\na\t0\n", "s.txt:2: duplicate id a"),
        ("a\t1\n0.5\n", "s.txt:2: 1 columns; expected one value per line, or id, tab and value"),
        ("a\t1\t2\n", "s.txt:1: 3 columns"),
        ("\t1\n", "s.txt:1: the sample has no id"),
        ("", "s.txt: no values"),
    ],
)
def test_a_mistake_is_said_with_its_line(tmp_path, content, said):
    with pytest.raises(UserError, match=said.replace(".", r"\.")):
        read_scores(written(tmp_path, content))


def test_samples_without_ids_are_paired_by_line_only_where_there_are_as_many():
    check_pairs(["line 1", "line 2"], ["line 1", "line 2"], "rte")
    check_pairs(["a", "b"], ["b"], "rte")
    with pytest.raises(
        UserError, match="task rte: control has 1 scores and treatment 2; without ids they cannot be paired"
    ):
        check_pairs(["line 1"], ["line 1", "line 2"], "rte")
    with pytest.raises(UserError, match="the scores of the treatment have ids and those of the control have none"):
        check_pairs(["line 1"], ["a"], "rte")


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
