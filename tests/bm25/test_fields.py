"""BM25 over two fields with the standard analyser, against the definition and the thesis's Elasticsearch baseline."""

import csv
import math
import re
from pathlib import Path

import pytest

from ranktrial.bm25.lucene import FieldIndexer, open_index
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, read_queries, write_corpus
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, with_ascending_ties
from scripts.bm25 import index as index_script

STANDARD = {"analyzer": "standard", "fields": "best"}
DOCUMENTS = [
    Document("a", "The zebra", "a zebra's stripes, and the running lion"),
    Document("b", "lions", "the lion"),
    Document("c", "", "a tiger runs"),
    Document("d", "zebra lion tiger", "the the the"),
    Document("empty", "", " "),
]
ES_DEPTH = 10000  # hits per query that an Elasticsearch server gives at most


def build(folder: Path, **how: str) -> Path:
    write_corpus(folder / "corpus.jsonl", DOCUMENTS)
    assert index_script.build(folder / "corpus.jsonl", folder / "index", how) == (5, 4)
    return folder / "index"


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def by_hand(field: str, query: str, k1: float, b: float) -> dict[str, float]:
    """BM25 of one field as Lucene defines it; documents and average length are those that have the field."""
    texts = {document.id: words(getattr(document, field)) for document in DOCUMENTS}
    texts = {name: text for name, text in texts.items() if text}
    average = sum(map(len, texts.values())) / len(texts)
    scores = {}
    for term in words(query):
        holding = sum(term in text for text in texts.values())
        idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for name, text in texts.items():
            if frequency := text.count(term):
                part = idf * frequency / (frequency + k1 * (1 - b + b * len(text) / average))
                scores[name] = scores.get(name, 0.0) + part
    return scores


@pytest.mark.parametrize("query", ["zebra", "the lion", "tiger tiger runs", "zebra's running"])
def test_the_better_field_counts_without_stemming_or_stop_words(tmp_path, query):
    searcher = open_index(build(tmp_path, **STANDARD), 1.2, 0.75, **STANDARD)
    fields = [by_hand(field, query, 1.2, 0.75) for field in ("title", "text")]
    expected = {name: max(field.get(name, 0) for field in fields) for name in {*fields[0], *fields[1]}}
    found = searcher.search(query, 10)
    assert found == pytest.approx(expected, rel=1e-6)  # Lucene's scores are 32-bit floats
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert searcher.batch({"q": query}, 10) == {"q": found}
    assert list(searcher.search(query, 1)) == list(found)[:1]


def test_k1_and_b_can_be_changed(tmp_path):
    searcher = open_index(build(tmp_path, **STANDARD), 1.2, 0.75, **STANDARD)
    searcher.set_parameters(0.5, 0.0)
    assert searcher.search("lion", 10)["b"] == pytest.approx(by_hand("text", "lion", 0.5, 0.0)["b"], rel=1e-6)


@pytest.mark.parametrize(
    ("analyzer", "fields", "query", "found"),
    [
        ("english", "best", "run the", {"a", "c"}),
        ("standard", "together", "the", {"a", "b", "d"}),
        ("standard", "best", "run", set()),
        ("standard", "best", "?!", set()),
        ("english", "best", "the of", set()),
    ],
)
def test_analysers_and_fields(tmp_path, analyzer, fields, query, found):
    how = {"analyzer": analyzer, "fields": fields}
    assert set(open_index(build(tmp_path, **how), 0.9, 0.4, **how).search(query, 10)) == found


def test_an_index_of_fields_that_is_not_whole_or_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"^[^\n]*empty: not a complete Lucene index[^\n]*$"):
        open_index(tmp_path / "empty", 0.9, 0.4, **STANDARD)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^[^\n]*file: the index cannot be written[^\n]*$"):
        FieldIndexer(tmp_path / "file", **STANDARD)


@pytest.fixture(scope="module")
def rankings(clef, tmp_path_factory):
    """Elasticsearch's baseline as Lucene ranks it: query -> document -> score."""
    folder = tmp_path_factory.mktemp("standard")
    index_script.build(clef / "corpus.jsonl", folder / "index", STANDARD)
    searcher = open_index(folder / "index", 1.2, 0.75, **STANDARD)
    return searcher.batch(read_queries(clef / "queries" / "test.jsonl"), ES_DEPTH)


@pytest.fixture(scope="module")
def printed(shared_data):
    """(measure, cut-off) -> what table A.1 prints for Elasticsearch."""
    with open(shared_data.parent / "published" / "factcheck_A.1.tsv") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["system"] == "Elasticsearch"]
    return {(row["measure"], row["cutoff"]): float(row["value"]) for row in rows}


def means(run, clef, printed, measures):
    """(measure, cut-off) -> the mean of ours, to the three decimals printed."""
    asked = {
        (measure, cutoff): f"{ours}@{cutoff if cutoff != 'all' else ES_DEPTH}"
        for (measure, cutoff) in printed
        if (ours := measures.get(measure))
    }
    values = evaluate(run, read_qrels(clef / "qrels" / "test.qrels"), list(asked.values())).mean().round(3)
    return {key: values[name] for key, name in asked.items()}


def test_elasticsearchs_precision_and_ranks_of_the_thesis_come_out_exactly(clef, rankings, printed):
    found = means(rankings, clef, printed, {"MAP": "AP", "P": "P", "RR": "RR"})
    assert len(found) == 18
    assert found == {key: printed[key] for key in found}


def test_its_ndcg_and_recall_come_out_exactly_when_ties_go_to_the_smallest_id(clef, rankings, printed):
    """The thesis's scorer breaks ties in these two columns the other way round."""
    found = means(with_ascending_ties(rankings), clef, printed, {"nDCG": "nDCG", "R": "R"})
    assert len(found) == 12
    assert found == {key: printed[key] for key in found}
    other = means(rankings, clef, printed, {"nDCG": "nDCG", "R": "R"})
    assert other["nDCG", "1"] != printed["nDCG", "1"]
