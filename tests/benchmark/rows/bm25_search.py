"""Queries are answered from a Lucene index, 1,000 documents each: Anserini's own command line, and ours, whole processes.

Ours also times a sample of the queries one by one, for the latency in its timing.json.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np

from ranktrial.ir.trec import read_run
from tests.benchmark import lucene
from tests.benchmark.row import Result, Work

TITLE = "BM25 search, against Anserini's SearchCollection"
BY_COMMANDS = True
UNIT = "queries"
DEPTH = 1000
TOLERANCE = 2e-4  # Anserini prints four decimals of scores that it pulls apart at ties


def prepare(folder: Path, small: bool) -> int:
    """Write the index, by our script, and queries for both."""
    documents, queries = (1_000, 20) if small else (300_000, 2_000)
    corpus, index = folder / "corpus.jsonl", folder / "index"
    shutil.rmtree(index, ignore_errors=True)
    with open(corpus, "w") as file:
        file.writelines(
            json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in lucene.documents(documents)
        )
    settings = json.dumps({"analyzer": "english", "fields": "together"})
    lucene.run(
        [sys.executable, "scripts/bm25/index.py", "index", "--corpus", corpus, "--index", index, "--settings", settings]
    )
    asked = lucene.queries(queries)
    (folder / "topics.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in asked))
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in asked)
    )
    return queries


def plain(folder: Path) -> Work:
    files = ["-index", folder / "index", "-topics", folder / "topics.tsv", "-output", folder / "plain.trec"]
    options = [
        "-topicReader",
        "TsvString",
        "-bm25",
        "-bm25.k1",
        "0.9",
        "-bm25.b",
        "0.4",
        "-hits",
        DEPTH,
        "-threads",
        "2",
    ]
    command = lucene.anserini("search.SearchCollection", *files, *options)
    return lambda: lucene.run(command) and {}


def ours(folder: Path) -> Work:
    files = ["--index", folder / "index", "--queries", folder / "queries.jsonl", "--run", folder / "ours.trec.gz"]
    settings = json.dumps({"depth": DEPTH, "tag": "ours", "k1": 0.9, "b": 0.4})
    command = [
        sys.executable,
        "scripts/bm25/search.py",
        *files,
        "--timing",
        folder / "timing.json",
        "--settings",
        settings,
    ]
    return lambda: lucene.run(command) and {}


def loaded(work: Work, file: Path) -> Work:
    """The same work; what it wrote is read as its result."""

    def done() -> Result:
        work()
        return {"run": np.array(str(file))}

    return done


SIDES = {
    "plain": lambda folder: loaded(plain(folder), folder / "plain.trec"),
    "ours": lambda folder: loaded(ours(folder), folder / "ours.trec.gz"),
}


def agree(side: str, plain: Result, ours: Result) -> str:
    one, other = (read_run(Path(str(result["run"]))) for result in (plain, ours))
    found = {query: documents for query, documents in other.items() if documents}
    assert one.keys() == found.keys(), "other queries find something"
    for query, documents in one.items():
        mine = found[query]
        last = min(documents.values())
        apart = [
            name for name in documents.keys() ^ mine.keys() if documents.get(name, mine.get(name)) > last + TOLERANCE
        ]
        assert not apart, f"{query}: other documents"
        assert all(abs(mine[name] - score) <= TOLERANCE for name, score in documents.items() if name in mine), (
            f"{query}: other scores"
        )
    return f"the same {DEPTH} documents up to ties at the end, for {len(one)} queries"
