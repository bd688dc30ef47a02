"""truncate_dim: the first dimensions of stored and new vectors, equal to what sentence-transformers makes itself."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.adapters import adapter
from ranktrial.models.truncation import first_dimensions, truncation
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.search import search
from tests.support.calling import call as call_job
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS

DOCUMENTS = {f"d{n}": f"{word} {WORDS[n - 3]}" for n, word in enumerate(WORDS)}
QUERIES = {f"q{n}": f"{WORDS[n]} tree" for n in range(6)}
GIVEN = {"type": "bi-encoder", "max_length": 16, "batch_size": 4}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("truncation")
    build(folder / "model", [" ".join(WORDS)], seed=1)
    write_corpus(folder / "corpus.jsonl", (Document(name, "", text) for name, text in DOCUMENTS.items()))
    write_queries(folder / "queries.jsonl", QUERIES)
    write_run(folder / "first", {query: dict.fromkeys(DOCUMENTS, 1.0) for query in QUERIES}, "x")
    call(encode, folder, GIVEN, index="e.index", timing="encode.json")
    return folder


def call(script, folder, settings, **paths):
    given = {name: folder / path for name, path in ({"checkpoint": "model", "corpus": "corpus.jsonl"} | paths).items()}
    call_job(script, settings, **given)


def librarys(folder, dimensions):
    """The scores of all documents for all queries, by the library alone."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder / "model"), device="cpu", truncate_dim=dimensions)
    model.max_seq_length = 16
    documents = model.encode_document(list(DOCUMENTS.values()), normalize_embeddings=True)
    queries = model.encode_query(list(QUERIES.values()), normalize_embeddings=True)
    assert documents.shape == (20, dimensions)
    rows = (queries @ documents.T).tolist()
    return {query: dict(zip(DOCUMENTS, row, strict=True)) for query, row in zip(QUERIES, rows, strict=True)}


@pytest.mark.parametrize("dimensions", [32, 8, 1])
@pytest.mark.parametrize("way", ["retrieve", "rerank by the corpus's vectors", "rerank"])
def test_scores_are_those_of_the_library(files, way, dimensions):
    paths = {"queries": "queries.jsonl", "run": f"run-{way}", "timing": "t.json"}
    settings = GIVEN | {"depth": 20, "tag": "t", "truncate_dim": dimensions}
    if way == "retrieve":
        call(search, files, settings, **paths, index="e.index")
    else:
        stored = {"index": "e.index"} if "corpus" in way else {}
        call(rerank, files, settings | {"backend": "torch"}, **paths, **stored, first_stage="first")
    found, expected = read_run(files / f"run-{way}"), librarys(files, dimensions)
    for query, scores in expected.items():
        assert found[query] == pytest.approx(scores, abs=1e-5)
    timing = json.loads((files / "t.json").read_text())
    assert timing["truncate_dim"] == dimensions
    if way == "retrieve":
        assert (timing["dimensions"], timing["index_bytes"]) == (dimensions, 20 * dimensions * 4)


def test_whole_vectors_are_reported_with_their_size(files):
    paths = {"queries": "queries.jsonl", "run": "run", "timing": "t.json", "index": "e.index"}
    call(search, files, GIVEN | {"depth": 3, "tag": "t"}, **paths)
    timing = json.loads((files / "t.json").read_text())
    assert (timing["dimensions"], timing["index_bytes"]) == (32, 20 * 32 * 4) and "truncate_dim" not in timing


@pytest.mark.parametrize("script", [search, rerank])
def test_more_dimensions_than_there_are_are_a_mistake(files, script):
    paths = {"queries": "queries.jsonl", "run": "run", "timing": "t.json", "index": "e.index"}
    settings = GIVEN | {"depth": 3, "tag": "t", "truncate_dim": 33}
    further = {"first_stage": "first"} if script is rerank else {}
    settings |= {"backend": "torch"} if script is rerank else {}
    with pytest.raises(UserError, match="truncate_dim is 33, but this model's vectors have 32 dimensions"):
        call(script, files, settings, **paths, **further)


def test_a_kind_without_such_vectors_is_a_mistake():
    with pytest.raises(UserError, match="truncate_dim: a sparse-encoder has no vectors that could be truncated"):
        truncation(adapter("sparse-encoder"), None, 8)


def test_dot_products_keep_their_length_and_nothing_stays_nothing():
    vectors = np.array([[3, 4, 5], [0, 0, 2]], np.float32)
    assert first_dimensions(vectors, 2, unit=False).tolist() == [[3, 4], [0, 0]]
    np.testing.assert_allclose(first_dimensions(vectors, 2, unit=True), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    assert vectors[0].tolist() == [3, 4, 5]
