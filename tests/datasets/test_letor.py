"""LETOR files as a dataset: their judgements, by split, and what is refused."""

import pytest

from ranktrial.datasets.formats.letor import FORMAT, Options, read
from tests.support.one_line import refused

LINES = "2 qid:1 1:3 # docid = a\n0 qid:1 1:0 # docid = b\n1 qid:2 1:1\n"


def test_grades_become_judgements(tmp_path):
    (tmp_path / "test.txt").write_text(LINES)
    (tmp_path / "vali.txt").write_text("1 qid:7 1:1\n")
    expected = {"1": {"a": 2, "b": 0}, "2": {"2-1": 1}}
    assert read(tmp_path / "test.txt", Options())[:3] == (None, {}, {"test": expected})
    found = read(tmp_path, Options({"dev": "vali.txt", "test": "test.txt"}))
    assert found.qrels == {"dev": {"7": {"7-1": 1}}, "test": expected}


@pytest.mark.parametrize(
    ("text", "reported"), [("", "test.txt: no judged query"), ("x qid:1 1:1\n", "test.txt:1: grade 'x'")]
)
def test_mistakes_are_one_line(tmp_path, text, reported):
    (tmp_path / "test.txt").write_text(text)
    with refused(reported):
        read(tmp_path / "test.txt", Options())


def test_a_folder_needs_the_names_of_its_files(tmp_path):
    with refused("is a folder: name its files under letor"):
        read(tmp_path, Options())


def test_files_lie_below_the_location_and_are_not_the_same():
    assert FORMAT.mistake(Options({"test": "../x"})).key == "letor.test"
    assert (
        FORMAT.mistake(Options({"dev": "x", "test": "x"})).what
        == "dev and test are both 'x': the same judgements twice"
    )
    assert FORMAT.mistake(Options({"test": "x"})) is None is FORMAT.mistake(Options())
