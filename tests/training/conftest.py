"""The tiny task on which trainings are tested."""

from pathlib import Path

import pytest

from ranktrial.ir.collection import Document, write_corpus, write_queries
from tests.support.tiny_bert import build, build_masked
from tests.support.tiny_task import WORDS


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Path:
    """A start (of sparse encoders: masked), a corpus, queries and negatives: 10 queries of two words, each with one positive and two negatives."""
    folder = tmp_path_factory.mktemp("task")
    build(folder / "start", [" ".join(WORDS)], seed=1)
    build_masked(folder / "masked", [" ".join(WORDS)], seed=1)
    write_corpus(folder / "corpus.jsonl", (Document(f"d{n}", "", f"{w} {WORDS[n - 1]}") for n, w in enumerate(WORDS)))
    write_queries(folder / "queries.jsonl", {f"q{n}": f"{WORDS[n]} tree" for n in range(10)})
    rows = [f"q{n}\td{n}\td{(n + shift) % 20}\trandom\t" for n in range(10) for shift in (5, 9)]
    (folder / "negatives.tsv").write_text(
        "\n".join(["query_id\tpositive_id\tnegative_id\tsource\tbm25_rank", *rows]) + "\n"
    )
    return folder
