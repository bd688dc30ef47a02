"""Datasets and systems are named after files."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.new.folder import as_name, stem, systems_of, task_of_qrels


@pytest.mark.parametrize(
    ("text", "name"), [("Müller & Söhne", "Muller-Sohne"), ("../x", "x"), ("日本", ""), ("a" * 150, "a" * 100)]
)
def test_a_text_as_a_name(text, name):
    assert as_name(text) == name


def test_endings_and_words_for_judgements_are_no_part_of_a_name():
    assert [stem(file) for file in ("a/bm25.run.gz", "x.v1.2.txt", "plain")] == ["bm25", "x.v1.2", "plain"]
    files = ["trec-covid_qrels.txt", "qrels.robust04.txt", "news/qrels.tsv", "qrels/test.tsv", "qrels.txt"]
    assert [task_of_qrels(file, "mine") for file in files] == ["trec-covid", "robust04", "news", "mine", "mine"]


@pytest.mark.parametrize(
    ("task_of", "systems"),
    [
        ({"bm25.run": "mine", "dense.run": "mine"}, {"bm25", "dense"}),
        ({"a/covid_top10.txt": "covid", "b/covid_top10.txt": "covid", "a/news_top10.txt": "news"}, {"a", "b"}),
        ({"covid/bm25.run": "covid", "covid/dense.run": "covid", "news/bm25.run": "news"}, {"bm25", "dense"}),
        ({"bm25-covid.run": "covid", "dense-covid.run": "covid", "bm25-news.run": "news"}, {"bm25", "dense"}),
        ({"a/x/run.txt": "t", "a/y/run.txt": "t", "b/x/run.txt": "t"}, {"a-x-run", "a-y-run", "b-x-run"}),
    ],
)
def test_systems_are_called_by_what_tells_their_files_apart(task_of, systems):
    assert set(systems_of(task_of, "mine").values()) == systems


def test_files_whose_names_differ_in_signs_alone_are_refused():
    with pytest.raises(UserError, match="mine: the files of a task have the same name but for signs"):
        systems_of({"日.run": "t", "本.run": "t"}, "mine")
