"""Files of values a sample: with and without ids, and what each mistake in them says."""

import pytest

from scripts.common.errors import UserError
from scripts.ir.scores import check_pairs, read_scores


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
