"""A corpus is indexed by Lucene: Anserini's own command line, and ours, with two threads each; both from Java's start on."""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np

from tests.benchmark import lucene
from tests.benchmark.row import Result, Work

TITLE = "BM25 index, against Anserini's IndexCollection"
BY_COMMANDS = True
UNIT = "documents"


def prepare(folder: Path, small: bool) -> int:
    """Write documents of 30 words, as Anserini reads them and as we do."""
    count = 1_000 if small else 300_000
    (folder / "anserini").mkdir(exist_ok=True)
    with open(folder / "anserini" / "corpus.jsonl", "w") as theirs, open(folder / "corpus.jsonl", "w") as ours:
        for name, text in lucene.documents(count):
            theirs.write(json.dumps({"id": name, "contents": text}) + "\n")
            ours.write(json.dumps({"_id": name, "title": "", "text": text}) + "\n")
    return count


def plain(folder: Path, threads: int = 2) -> Work:
    shutil.rmtree(folder / "index-plain", ignore_errors=True)
    options = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator", "-threads", threads]
    command = lucene.anserini(
        "index.IndexCollection", *options, "-input", folder / "anserini", "-index", folder / "index-plain"
    )

    def work() -> Result:
        said = lucene.run(command)
        return {"documents": np.array(int(re.search(r"Total ([\d,]+) documents indexed", said)[1].replace(",", "")))}

    return work


def ours(folder: Path) -> Work:
    shutil.rmtree(folder / "index-ours", ignore_errors=True)
    files = ["--corpus", folder / "corpus.jsonl", "--index", folder / "index-ours"]
    settings = json.dumps({"analyzer": "english", "fields": "together"})
    command = [sys.executable, "scripts/bm25/index.py", "index", *files, "--settings", settings]

    def work() -> Result:
        return {"documents": np.array(int(re.search(r"(\d+) of \d+ documents indexed", lucene.run(command))[1]))}

    return work


SIDES = {"plain": plain, "ours": ours}


def agree(side: str, plain: Result, ours: Result) -> str:
    assert plain["documents"] == ours["documents"], f"{plain['documents']} documents and {ours['documents']}"
    return f"{ours['documents']} documents in both"
