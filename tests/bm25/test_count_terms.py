"""Term counts of an index: by hand, exact lengths, the same for the same documents, damage; the terms of queries."""

import json
import shutil

import numpy as np
import pytest

from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.term_counts import TermCounts
from scripts.bm25 import index as index_script
from scripts.bm25 import terms as terms_script
from scripts.bm25.terms import Settings, analyse_queries, count
from tests.support.calling import call
from tests.support.one_line import refused
from tests.support.term_counts import write_term_counts

DOCUMENTS = [
    Document("b/2", "Lions", "the zebras ran, zebra after zebra"),
    Document("a", "", "lion " * 1000 + "tiger"),
    Document("ß", "Tiger", ""),
    Document("c", "", "the of and"),
]


def counted(folder, documents, analyzer="english", fields="together"):
    write_corpus(folder / "corpus.jsonl", documents)
    index_script.build(folder / "corpus.jsonl", folder / "index", {"analyzer": analyzer, "fields": fields})
    count(folder / "index", folder / "terms", Settings(analyzer, fields))
    return TermCounts(folder / "terms")


def entries(counts, field, term):
    rows, numbers = counts.fields[field].entries(term)
    return {counts.ids[row]: int(number) for row, number in zip(rows, numbers, strict=True)}


def test_counts_and_lengths_are_exact(tmp_path):
    counts = counted(tmp_path, DOCUMENTS)
    field = counts.fields["contents"]
    assert counts.ids == ["a", "b/2", "c", "ß"]
    assert entries(counts, "contents", "zebra") == {"b/2": 3}
    assert entries(counts, "contents", "lion") == {"a": 1000, "b/2": 1}
    assert entries(counts, "contents", "tiger") == {"a": 1, "ß": 1}
    assert entries(counts, "contents", "the") == {} == entries(counts, "contents", "absent")
    assert field.lengths.tolist() == [1001, 6, 0, 1] and field.tokens == 1008  # Lucene's norm of 1001 is 984
    assert counts.row_of["ß"] == 3


def test_title_and_text_are_counted_apart(tmp_path):
    counts = counted(tmp_path, DOCUMENTS, fields="best")
    assert set(counts.fields) == {"title", "text"}
    assert entries(counts, "title", "tiger") == {"ß": 1} and entries(counts, "text", "tiger") == {"a": 1}
    assert counts.fields["title"].lengths.tolist() == [0, 1, 0, 1]


def test_a_field_that_no_document_has_is_not_there(tmp_path):
    assert set(counted(tmp_path, [Document("a", "", "lion")], fields="best").fields) == {"text"}


def test_the_order_of_documents_and_the_size_of_blocks_change_no_byte(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    documents = [Document(f"d{i}", "", " ".join(rng.choice(list("bcdfghjkl"), 9))) for i in range(60)]
    whole = counted(tmp_path / "a", documents)
    monkeypatch.setattr(terms_script, "BLOCK", 7)
    blocks = counted(tmp_path / "b", documents[::-1])
    assert whole.digest() == blocks.digest()
    slowly = write_term_counts(tmp_path / "c" / "terms", {one.id: one.text.split() for one in documents})
    assert slowly.digest() == whole.digest()
    assert counted(tmp_path / "d", documents[1:]).digest() != whole.digest()


def test_an_index_that_is_none_is_reported_in_a_line(tmp_path):
    with refused("none: not a complete Lucene index"):
        count(tmp_path / "none", tmp_path / "terms", Settings("english", "together"))
    assert not (tmp_path / "terms").exists()


@pytest.mark.parametrize("damage", ["contents/counts.npy", "documents.txt", "statistics.json"])
def test_counts_that_lost_a_file_or_lines_are_refused(tmp_path, damage):
    write_term_counts(tmp_path / "terms", {"a": ["lion"], "b": ["lion", "tiger"]})
    path = tmp_path / "terms" / damage
    path.unlink() if damage.endswith("npy") else path.write_text("x\n")
    with refused("not complete term counts"):
        TermCounts(tmp_path / "terms")
    shutil.rmtree(tmp_path / "terms")


def test_queries_are_analysed_as_in_searching(tmp_path):
    write_queries(tmp_path / "queries.jsonl", {"1": "The running ZEBRAS' zebra", "2": "the of"})
    call(analyse_queries, {"analyzer": "english"}, queries=tmp_path / "queries.jsonl", terms=tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == {"1": ["run", "zebra", "zebra"], "2": []}
    call(analyse_queries, {"analyzer": "standard"}, queries=tmp_path / "queries.jsonl", terms=tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["2"] == ["the", "of"]


def test_no_queries_are_reported_in_a_line(tmp_path):
    write_queries(tmp_path / "queries.jsonl", {})
    with refused("no query to analyse"):
        call(analyse_queries, {"analyzer": "english"}, queries=tmp_path / "queries.jsonl", terms=tmp_path / "t.json")
