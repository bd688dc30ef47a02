"""Judgements with mapped grades, and documents left out by their length: what is kept, and what each mistake says."""

import json

import pytest
import yaml

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.configuration.reading import complete, with_defaults
from ranktrial.datasets.counts import with_grades
from ranktrial.experiment.resolution import resolve
from ranktrial.ir.collection import read_corpus
from ranktrial.ir.trec import read_qrels
from scripts.datasets import planning
from tests.experiment.test_config import changed
from tests.support.beir import write_beir
from tests.support.one_line import refused
from tests.support.prepared import prepare

ANTIQUE = {"1": 0, "2": 1, "3": 1, "4": 2}
CORPUS = [{"_id": f"d{n}", "text": "x" * n} for n in range(1, 7)]


def folder(place, qrels):
    return write_beir(place, CORPUS, {f"q{n}": f"ask {n}" for n in range(6)}, qrels, heading="")


def test_grades_of_antique_become_those_of_the_paper():
    qrels = {"q": {"a": 1, "b": 2, "c": 3, "d": 4}}
    assert with_grades(qrels, ANTIQUE) == {"q": {"a": 0, "b": 1, "c": 1, "d": 2}}
    assert with_grades(qrels, {}) is qrels
    assert with_grades({"q": {"a": -2}}, {"-2": 0}) == {"q": {"a": 0}}


def test_a_grade_that_is_not_mapped_is_one_line():
    with pytest.raises(UserError) as error:
        with_grades({"q": {"a": 1, "e": 5}}, ANTIQUE)
    said = "grades: the judgement of document e for query q has grade 5, which is not mapped (mapped are 1, 2, 3, 4)"
    assert str(error.value) == f"{said}; to keep it, map it to itself"


def test_splits_are_carved_by_the_mapped_grades(tmp_path):
    """All queries share a document of grade 1: only where that becomes 0 can any of them go to another split."""
    judged = [f"q{n}\td1\t1" for n in range(5)] + [f"q{n}\td{n + 2}\t4" for n in range(5)]
    source = folder(tmp_path / "in", {"train": judged})
    entry = {"format": "beir", "seed": 1, "splits": {"test": 0.4}}
    with pytest.raises(UserError, match="each shares a relevant document with a query of another split"):
        prepare(source, tmp_path / "out", entry)
    prepare(source, tmp_path / "out", entry | {"grades": ANTIQUE})
    test = read_qrels(tmp_path / "out/qrels/test.qrels")
    assert len(test) == 2 and {grade for judged in test.values() for grade in judged.values()} == {0, 2}


def test_nothing_is_written_where_a_grade_is_not_mapped(tmp_path):
    source = folder(tmp_path / "in", {"test": ["q1\td1\t3"]})
    with pytest.raises(UserError, match=r"in: grades: the judgement of document d1 for query q1 has grade 3"):
        prepare(source, tmp_path / "out", {"format": "beir", "seed": 1, "grades": {"1": 1}})
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_documents_of_another_length_are_left_out_and_stay_judged(tmp_path):
    source = folder(tmp_path / "in", {"test": ["q1\td1\t1", "q1\td3\t1", "q1\td6\t0", "q1\tgone\t1"]})
    entry = {"format": "beir", "seed": 1, "document_characters": {"min": 2, "max": 4}}
    odd = prepare(source, tmp_path / "out", entry)
    assert odd == [
        "warning: test: 1 judgement names a document that the corpus lacks"
    ]  # the data's own mistake, and no more
    assert [document.id for document in read_corpus(tmp_path / "out/corpus.jsonl")] == ["d2", "d3", "d4"]
    assert read_qrels(tmp_path / "out/qrels/test.qrels") == {"q1": {"d1": 1, "d3": 1, "d6": 0, "gone": 1}}
    counts = json.loads((tmp_path / "out/statistics.json").read_text())
    assert counts["documents"] == 3 and counts["documents_left_out"] == 3
    part = counts["splits"]["test"]
    assert part["judged_documents_missing"] == 3 and part["judged_documents_left_out"] == 2


@pytest.mark.parametrize(
    ("bounds", "kept"), [({"min": 5}, ["d5", "d6"]), ({"max": 1}, ["d1"]), ({"min": 3, "max": 3}, ["d3"])]
)
def test_either_bound_may_be_left_out_and_both_are_inclusive(tmp_path, bounds, kept):
    judged = {"test": [f"q1\td{n}\t1" for n in range(1, 7)]}
    prepare(
        folder(tmp_path / "in", judged), tmp_path / "out", {"format": "beir", "seed": 1, "document_characters": bounds}
    )
    assert [document.id for document in read_corpus(tmp_path / "out/corpus.jsonl")] == kept


def test_a_length_that_no_document_has_is_one_line(tmp_path):
    source = folder(tmp_path / "in", {"test": ["q1\td1\t1"]})
    with pytest.raises(UserError, match=r"document_characters: none of the 6 documents has such a length"):
        prepare(source, tmp_path / "out", {"format": "beir", "seed": 1, "document_characters": {"min": 300}})


def test_a_dataset_that_shares_a_corpus_leaves_the_same_documents_out(tmp_path):
    entry = {"format": "beir", "seed": 1, "document_characters": {"max": 3}}
    source = folder(tmp_path / "in", {"test": ["q1\td1\t1"]})
    prepare(source, tmp_path / "first", entry)
    prepare(source, tmp_path / "second", entry, tmp_path / "first/corpus.jsonl")
    assert not (tmp_path / "second/corpus.jsonl").exists()


def test_grades_are_written_with_numbers_as_keys(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("datasets: {d: {grades: {1: 0, 2: 1, -2: 0, '4': 2}}}\n")
    read = read_yaml(path)
    assert read == {"datasets": {"d": {"grades": {"1": 0, "2": 1, "-2": 0, "4": 2}}}}
    usual = changed({"datasets/d/grades": {1: 0, 4: 2}})
    assert complete(usual, "c.yaml")[0]["datasets"]["d"]["grades"] == {"1": 0, "4": 2}
    resolved = yaml.safe_dump(with_defaults(usual))
    path.write_text(resolved)
    assert read_yaml(path)["datasets"]["d"]["grades"] == {"1": 0, "4": 2}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("datasets: {d: {grades: {1: 0, '1': 1}}}", "c.yaml:1: duplicate key '1'"),
        ("datasets: {d: {grades: {0x1: 0}}}", "c.yaml:1: the key 0x1 is a number to YAML"),
        ("datasets: {d: {grades: {1.5: 0}}}", "c.yaml:1: the key 1.5 is a number to YAML"),
        ("datasets: {1: {}}", "c.yaml:1: the key 1 is a number to YAML"),
    ],
)
def test_keys_that_no_grade_is_written_as_are_refused(tmp_path, written, said):
    path = tmp_path / "c.yaml"
    path.write_text(written + "\n")
    with refused(said):
        read_yaml(path)


WRONG = {
    "no grades": ({"datasets/d/grades": {}}, "c.yaml: datasets.d.grades: is empty"),
    "a word for a grade": ({"datasets/d/grades": {"good": 1}}, "c.yaml: datasets.d.grades: bad name 'good'"),
    "a new grade that is a word": ({"datasets/d/grades": {"1": "good"}}, "c.yaml: datasets.d.grades.1: 'good' is text"),
    "a new grade with a fraction": ({"datasets/d/grades": {"1": 0.5}}, "c.yaml: datasets.d.grades.1: 0.5"),
    "a list of grades": ({"datasets/d/grades": [0, 1]}, "c.yaml: datasets.d.grades: "),
    "no bound": ({"datasets/d/document_characters": {}}, "c.yaml: datasets.d.document_characters: is empty"),
    "an unknown bound": ({"datasets/d/document_characters": {"low": 1}}, "datasets.d.document_characters: unknown key 'low'"),
    "a bound of 0": ({"datasets/d/document_characters": {"min": 0}}, "datasets.d.document_characters.min: 0 is too small"),
    "bounds that cross": ({"datasets/d/document_characters": {"min": 9, "max": 3}}, "datasets.d.document_characters: min 9 is above max 3"),
    "lengths of judgements": (
        {"datasets/j": {"format": "qrels", "location": "tests", "document_characters": {"min": 1}}},
        "datasets.j: a dataset of format qrels cannot have 'document_characters'",
    ),
    "grades of values": (
        {"datasets/s": {"format": "scores", "measure": "accuracy", "grades": {"1": 0}}},
        "datasets.s: a dataset of format scores cannot have 'grades'",
    ),
    "another length than the corpus": (
        {"datasets/half": {"format": "beir", "location": "tests", "corpus": "d", "document_characters": {"min": 1}}},
        "datasets.half.document_characters: must be that of d, whose documents these are",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_in_the_configuration_is_one_line(case):
    changes, said = WRONG[case]
    with refused(said):
        resolve(changed(changes), "c.yaml")


def test_the_jobs_of_a_dataset_without_these_keys_have_the_settings_of_before():
    plain = planning.dataset_settings(resolve(changed({}), "c.yaml"), "d")
    assert not {"grades", "document_characters"} & plain.keys()
    given = changed({"datasets/d/grades": {1: 0}, "datasets/d/document_characters": {"max": 300}})
    settings = planning.dataset_settings(resolve(given, "c.yaml"), "d")
    assert settings["grades"] == {"1": 0} and settings["document_characters"] == {"max": 300}
