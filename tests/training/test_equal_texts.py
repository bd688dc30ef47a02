"""No negative has the text of a positive, of another relevant document or of the query."""

import csv
import json
import random

import pytest

from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import write_qrels, write_run
from ranktrial.training.examples import UNFIT
from ranktrial.training.labelled import read_equal_texts
from scripts.training import mine, negatives
from tests.support.calling import call

TEXTS = {
    "d0": "apples and pears grow on trees",
    "twin": "Apples and  pears\ngrow on trees ",
    "d1": "the car engine needs oil",
    "d2": "pears taste sweet in autumn",
    "d3": "trees lose leaves in autumn",
    "twin of d3": "trees lose leaves in autumn",
    "d4": "oil prices rise",
    "q1": "what oil does a car engine need",
}
DOCUMENTS = [Document(name.replace(" ", "-"), "", text) for name, text in TEXTS.items()]
QUERIES = {"q0": "where do apples and pears grow", "q1": "What oil does a car engine need"}
QRELS = {"q0": {"d0": 1, "d3": 1}, "q1": {"d1": 1}}
SETTINGS = {"labels": "human", "per_query": 8, "exclude_evaluation": True, "queries": "all", "seed": 1}
EQUAL = {"q0": {"twin", "twin-of-d3"}, "q1": {"q1"}}


@pytest.fixture
def folder(tmp_path):
    write_corpus(tmp_path / "corpus.jsonl", DOCUMENTS)
    write_queries(tmp_path / "queries.jsonl", QUERIES)
    write_qrels(tmp_path / "train.qrels", QRELS)
    names = [document.id for document in DOCUMENTS]
    write_run(tmp_path / "run", {query: {n: -float(r) for r, n in enumerate(names)} for query in QUERIES}, "bm25")
    return tmp_path


@pytest.mark.parametrize("source", ["bm25", "random", "system"])
@pytest.mark.parametrize("labels", ["human", "bm25"])
def test_documents_of_equal_text_are_no_negatives_and_counted(folder, capsys, source, labels):
    files = {"corpus": folder / "corpus.jsonl", "queries": folder / "queries.jsonl", "qrels": folder / "train.qrels",
             "evaluation_qrels": [], "first_stage": [folder / "run"], "negatives": folder / "out.tsv"}  # fmt: skip
    if source == "system":
        files |= {"runs": [folder / "run"], "scores": [], "record": folder / "record.json"}
        call(mine.mine_negatives, SETTINGS | {"from": ["near"], "labels": labels}, **files)
    else:
        call(negatives.negatives, SETTINGS | {"from": source, "labels": labels}, **files)
    with open(folder / "out.tsv") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["source"] != UNFIT]
    # BM25's best document, d0, is the positive of both queries where it labels.
    equal = EQUAL if labels == "human" else {"q0": {"twin"}, "q1": {"twin", "q1"}}
    relevant = QRELS if labels == "human" else {"q0": {"d0": 1}, "q1": {"d0": 1}}
    for query in QUERIES:
        chosen = {row["negative_id"] for row in rows if row["query_id"] == query}
        assert chosen == {document.id for document in DOCUMENTS} - equal[query] - set(relevant[query])
    said = "3 documents are no negatives of a query that have the text of the query or of a document relevant to it"
    assert said in capsys.readouterr().err
    if source == "system":
        assert json.loads((folder / "record.json").read_text())["equal_texts"] == 3


def test_equal_texts_are_found_as_by_comparing_all_pairs():
    rng = random.Random(1)
    words = ["a", "A", "b", " b", "c", ""]
    documents = [
        Document(f"d{n}", rng.choice(["", "", "a", "T"]), " ".join(rng.choices(words, k=2))) for n in range(80)
    ]
    queries = {f"q{n}": " ".join(rng.choices(words, k=2)) for n in range(20)}
    names, equal = read_equal_texts(documents, queries)
    assert names == [document.id for document in documents]

    def same(text):
        return " ".join(text.lower().split())

    found = 0
    for query, text in queries.items():
        given = rng.sample(documents, 3)
        wanted = {same(document.contents) for document in given}
        expected = {one.id for one in documents if same(one.contents) in wanted - {""}}
        if same(text):
            expected |= {one.id for one in documents if same(text) in (same(one.contents), same(one.text))}
        expected -= {document.id for document in given}
        assert equal.to(query, [document.id for document in given]) == expected
        found += len(expected)
    assert found > 50
