"""Documents that are excluded for a query: first stages search as an index does from which Lucene has deleted them.

Deleted documents stay in Lucene's statistics until segments merge, so the scores are comparable to the last digit.
"""

import json
import random
import shutil

import pytest

from ranktrial.bm25.lucene import java_class, open_index, score_by
from ranktrial.bm25.searching import feed_back, search_all, search_without
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_qrels
from scripts.bm25 import index as index_script
from scripts.bm25 import search as search_script
from scripts.bm25 import tune as tune_script
from tests.support.calling import call

DEPTH = 8
RM3 = {"rm3": {"feedback_terms": 10, "feedback_documents": 4, "original_query_weight": 0.3}}
ROCCHIO = {"rocchio": {"feedback_terms": 10, "feedback_documents": 4, "alpha": 0.5, "beta": 1.0}}
NEGATIVE = {"rocchio": ROCCHIO["rocchio"] | {"gamma": 0.5, "negative_terms": 10, "negative_documents": 3}}
BM25, LIKELIHOOD = {"k1": 0.9, "b": 0.4}, {"mu": 100.0}
TOGETHER, BEST = {"fields": "together"}, {"fields": "best"}
WAYS = {
    "BM25": (BM25, {}, TOGETHER),
    "query likelihood": (LIKELIHOOD, {}, TOGETHER),
    "fields": (BM25, {}, BEST),
    "RM3": (BM25, RM3, TOGETHER),
    "RM3 of likelihood": (LIKELIHOOD, RM3, TOGETHER),
    "Rocchio": (BM25, ROCCHIO, TOGETHER),
    "Rocchio with negative documents": (BM25, NEGATIVE, TOGETHER),
}


@pytest.fixture(scope="module")
def texts():
    """Documents of some words of one topic; many have equal scores."""
    chance = random.Random(5)
    words = [[f"{first}{second}topic" for second in "abcdefghijkl"] for first in "abcdefghij"]
    return {f"d{n}": " ".join(chance.choices(words[n % 10], k=chance.randint(4, 9))) for n in range(300)}


@pytest.fixture(scope="module")
def indices(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("indices")
    write_corpus(folder / "corpus.jsonl", [Document(name, "", text) for name, text in texts.items()])
    for how in ("together", "best"):
        vectors = {"vectors": True} if how == "together" else {}
        index_script.build(folder / "corpus.jsonl", folder / how, {"analyzer": "english", "fields": how} | vectors)
    return folder


@pytest.fixture(scope="module")
def queries(texts):
    """Documents as queries."""
    return {name: texts[name] for name in ("d0", "d26", "d27", "d53")}


EXCLUDED = {"d0": {"d0"}, "d26": {"d26", "d6", "d56", "d299"}, "d53": {"no such document"}}


def opened(index, way):
    parameters, feedback, how = WAYS[way]
    searcher = open_index(index, analyzer="english", **how)
    score_by(searcher, parameters)
    feed_back(searcher, feedback)
    return searcher


def deleted(index, copy, documents):
    """A copy of an index from which Lucene has deleted documents, without merging its segments."""
    shutil.copytree(index, copy)
    package = "org.apache.lucene.index"
    settings = java_class(f"{package}.IndexWriterConfig")()
    settings.setMergePolicy(java_class(f"{package}.NoMergePolicy").INSTANCE)
    directory = java_class("org.apache.lucene.store.FSDirectory").open(java_class("java.io.File")(str(copy)).toPath())
    writer = java_class(f"{package}.IndexWriter")(directory, settings)
    for document in documents:
        term = java_class(f"{package}.Term")("id", document)
        writer.deleteDocuments(java_class("org.apache.lucene.search.TermQuery")(term))
    writer.close()
    return copy


@pytest.mark.parametrize("way", WAYS)
def test_a_query_is_searched_as_if_there_were_none_of_them(indices, queries, tmp_path, way):
    index = indices / WAYS[way][2]["fields"]
    searcher = opened(index, way)
    run = search_all(searcher, queries, DEPTH, EXCLUDED)
    assert list(run) == list(queries)
    assert all(len(scores) == DEPTH and not EXCLUDED.get(query, set()) & scores.keys() for query, scores in run.items())
    plain = searcher.batch(queries, DEPTH)
    assert run["d27"] == plain["d27"] and run["d53"] == plain["d53"] and "d0" in plain["d0"]
    for query in ("d0", "d26"):
        theirs = opened(deleted(index, tmp_path / query, EXCLUDED[query]), way).search(queries[query], DEPTH)
        assert list(run[query]) == list(theirs)
        assert run[query] == pytest.approx(theirs, abs=1.1e-5)  # equal scores are pulled apart by a millionth each
    assert search_all(searcher, queries, DEPTH, {}) == plain


def test_feedback_takes_no_terms_from_them(tmp_path):
    """The query's own document alone has the words by which feedback finds `lure`."""
    of_query = [f"common words among many more like {letter}thing" for letter in "abcdefgh"]
    texts = {"own": "common words strange peculiar", "lure": "strange peculiar matter"}
    texts |= {f"d{n}": text for n, text in enumerate(of_query)} | {f"x{n}": f"filler{n}" for n in range(100)}
    write_corpus(tmp_path / "corpus.jsonl", [Document(name, "", text) for name, text in texts.items()])
    how = {"analyzer": "english", "fields": "together", "vectors": True}
    index_script.build(tmp_path / "corpus.jsonl", tmp_path / "index", how)
    for feedback in (RM3, ROCCHIO):
        searcher = open_index(tmp_path / "index")
        feed_back(searcher, feedback)
        found, without = (search_all(searcher, {"own": "common words"}, 20, it)["own"] for it in ({}, {"own": ["own"]}))
        assert {"own", "lure"} <= found.keys() and not {"own", "lure"} & without.keys() and "d0" in without


def test_where_nothing_is_excluded_it_is_anserinis_search(indices, queries):
    for way in ("RM3", "Rocchio with negative documents"):
        searcher = opened(indices / "together", way)
        for text in [*queries.values(), "the", ""]:
            assert search_without(searcher, text, (), DEPTH) == searcher.search(text, DEPTH)


def test_a_run_has_its_depth_and_tuning_sees_what_a_run_would_have(indices, queries, tmp_path):
    paths = {"index": indices / "together", "queries": tmp_path / "q.jsonl"}
    write_queries(paths["queries"], queries, {name: {name} for name in queries})
    settings = {"depth": 3, "tag": "t"} | BM25
    call(search_script.search, **paths, run=tmp_path / "r", timing=tmp_path / "t", settings=settings)
    run = read_run(tmp_path / "r")
    assert all(len(scores) == 3 and query not in scores for query, scores in run.items()) and list(run) == list(queries)
    write_qrels(tmp_path / "qrels", {query: {next(iter(scores)): 1} for query, scores in run.items()})
    settings = {"measure": "RR@3", "depth": 3, "k1": [0.9], "b": [0.4]}
    outputs = {"parameters": tmp_path / "p.json", "grid": tmp_path / "grid.tsv"}
    call(tune_script.tune, **paths, qrels=tmp_path / "qrels", **outputs, settings=settings)
    assert json.loads(outputs["parameters"].read_text())["value"] == 1.0  # .5 with the query's own document first


def test_a_query_that_excludes_all_that_it_finds_finds_nothing(indices, tmp_path, capsys):
    searcher = opened(indices / "together", "BM25")
    every = searcher.search("aatopic", 1000)
    assert search_all(searcher, {"q": "aatopic"}, 5, {"q": every}) == {"q": {}}
    write_queries(tmp_path / "q.jsonl", {"q": "aatopic", "r": "batopic"}, {"q": every})
    settings = {"depth": 3, "tag": "t"} | BM25
    paths = {"index": indices / "together", "queries": tmp_path / "q.jsonl"}
    call(search_script.search, **paths, run=tmp_path / "r", timing=tmp_path / "t", settings=settings)
    assert "1 queries find nothing: q" in capsys.readouterr().err and list(read_run(tmp_path / "r")) == ["r"]
