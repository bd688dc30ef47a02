"""Late interaction: an index of token vectors, exact MaxSim as the library computes it, re-ranking, and mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference import exact
from ranktrial.inference.indices.token_vectors import open_index, write_index
from ranktrial.ir.collection import Document, read_corpus, read_queries, write_corpus
from ranktrial.ir.trec import ranking, read_run
from ranktrial.models.adapters import adapter, index_of
from scripts.inference.encode import encode as encoding
from scripts.inference.rerank import rerank
from scripts.inference.search import search
from tests.support.calling import call
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS, write_collection

SETTINGS = {"type": "multi-vector", "max_length": 16, "batch_size": 4}
RANKING = SETTINGS | {"tag": "tiny"}
TYPE = adapter("multi-vector")
EXPANSION = {"strategy": "fixed", "attend": False, "length": 8}


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Path:
    """A model that expands queries, one as its start and a collection in which two documents have the same text."""
    import torch

    folder = tmp_path_factory.mktemp("task")
    build(folder / "start", [" ".join(WORDS)], seed=1)
    for name, seed in (("late", 1), ("other", 2)):
        torch.manual_seed(seed)
        model = TYPE.load(folder / "start", 16, to_train=True)
        model[0].query_expansion = EXPANSION
        model.save_pretrained(str(folder / name), create_model_card=False)
    write_collection(folder)
    return folder


@pytest.fixture(scope="module")
def index(task, tmp_path_factory) -> Path:
    """The index of the collection, beside its timing."""
    folder = tmp_path_factory.mktemp("index")
    encode(task, folder)
    return folder / "e.token-vectors"


def encode(task: Path, out: Path, **changes: Path) -> None:
    paths = {"checkpoint": task / "late", "corpus": task / "corpus.jsonl"} | changes
    call(encoding, SETTINGS, **paths, index=out / "e.token-vectors", timing=out / "e.json")


def retrieve(task: Path, out: Path, depth: int = 10, **changes: Path) -> dict:
    paths = {"checkpoint": task / "late", "corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl"} | changes
    paths |= {"run": out / "run.trec.gz", "timing": out / "run.json"}
    call(search, RANKING | {"depth": depth, "form": "token-vectors"}, **paths)
    return read_run(paths["run"])


def by_the_library(task: Path, similarity: str = "maxsim") -> dict:
    """All scores, by the model's own encoding and similarity."""
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(str(task / "late"), device="cpu", local_files_only=True, similarity_fn_name=similarity)
    queries = read_queries(task / "queries.jsonl")
    documents = {document.id: document.contents for document in read_corpus(task / "corpus.jsonl")}
    encoded = model.encode_query(list(queries.values())), model.encode_document(list(documents.values()))
    scores = model.similarity(*encoded).tolist()
    return {query: dict(zip(documents, row, strict=True)) for query, row in zip(queries, scores, strict=True)}


def test_the_search_finds_what_the_library_scores_highest(task, index, tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "DOCUMENTS", 20)  # so that there are parts of the index
    monkeypatch.setattr(exact, "QUERIES", 20)
    run, expected = retrieve(task, tmp_path, index=index), by_the_library(task)
    assert list(run) == list(expected)
    for query, documents in run.items():
        assert documents == pytest.approx({name: expected[query][name] for name in documents}, abs=1e-5)
        assert len(documents) == 10 and min(documents.values()) >= sorted(expected[query].values())[-10] - 1e-5
    everything = retrieve(task, tmp_path, index=index, depth=1000)["q1"]
    order = ranking(everything)
    assert len(order) == 51 and order.index("d7") == order.index("twin") + 1  # equal scores: descending ids
    timing = json.loads((tmp_path / "run.json").read_text())
    assert (timing["queries"], timing["documents"], timing["latency_ms"]["n"], timing["depth"]) == (6, 51, 6, 1000)


def test_the_index_holds_the_tokens_of_each_document_and_its_timing_says_how_many(task, index):
    opened = open_index(index, 51, task / "late")
    model = TYPE.load(task / "late", 16)
    alone = [
        TYPE.encode(model, [document.contents], 1, "document")[0] for document in read_corpus(task / "corpus.jsonl")
    ]
    assert index_of("multi-vector") == "token-vectors" and opened.vectors.dtype == np.float32
    assert opened.counts.tolist() == list(map(len, alone)) and len(set(opened.counts.tolist())) > 3
    assert np.allclose(opened.vectors, np.concatenate(alone), atol=1e-5)
    timing = json.loads((index.parent / "e.json").read_text())
    assert (timing["documents"], timing["vectors"]) == (51, len(opened.vectors))
    assert timing["vectors_per_document"] == pytest.approx(len(opened.vectors) / 51)
    assert timing["index_bytes"] == sum(file.stat().st_size for file in index.iterdir())


def test_it_re_ranks_as_it_searches(task, tmp_path):
    paths = {name: task / f"{name}.jsonl" for name in ("corpus", "queries")}
    paths |= {"checkpoint": task / "late", "first_stage": task / "first.trec"}
    paths |= {"run": tmp_path / "run.trec", "timing": tmp_path / "run.json"}
    call(rerank, RANKING | {"depth": 5, "backend": "torch"}, **paths, index=[])
    run, first, expected = read_run(tmp_path / "run.trec"), read_run(task / "first.trec"), by_the_library(task)
    assert list(run) == list(first)
    for query, documents in run.items():
        assert set(documents) == set(ranking(first[query])[:5])
        assert documents == pytest.approx({name: expected[query][name] for name in documents}, abs=1e-5)


def test_a_mean_over_the_querys_tokens_is_scored_as_the_library_does(task):
    model = TYPE.load(task / "late", 16)
    model.similarity_fn_name = "meanmaxsim"
    query = TYPE.encode(model, [WORDS[2]], 1, "query")[0]
    document = TYPE.encode(model, [" ".join(WORDS[2:5])], 1, "document")[0]  # d2
    assert len(query) == EXPANSION["length"]  # the tokens that the library adds count
    score = (query @ document.T).max(axis=1).sum()
    assert score == pytest.approx(by_the_library(task, "meanmaxsim")["q2"]["d2"], abs=1e-6)


def test_an_index_of_other_weights_or_another_corpus_or_damaged_is_one_line(task, index, tmp_path):
    with pytest.raises(UserError, match=r"made with other weights than those of .*other; delete it and encode again$"):
        retrieve(task, tmp_path, index=index, checkpoint=task / "other")
    write_corpus(tmp_path / "short.jsonl", [Document("d", "", "ashen")])
    with pytest.raises(UserError, match=r"of 51 documents, but the corpus has 1; encode it again$"):
        retrieve(task, tmp_path, index=index, corpus=tmp_path / "short.jsonl")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    write_index(damaged, [[np.zeros((2, 3), np.float32)], [np.zeros((1, 3), np.float32)]], task / "late")
    assert open_index(damaged, 2, task / "late").counts.tolist() == [2, 1]
    for offsets in ([0, 2, 4], [0, 3, 3], [0, 2], [1, 2, 3]):
        np.save(damaged / "offsets.npy", np.array(offsets))
        with pytest.raises(UserError, match=r"do not belong together|of 1 documents"):
            open_index(damaged, 2, task / "late")
    (damaged / "vectors.npy").write_bytes((damaged / "vectors.npy").read_bytes()[:140])
    with pytest.raises(UserError, match="not a complete index"):
        open_index(damaged, 2, task / "late")
    (damaged / "index.json").unlink()
    with pytest.raises(UserError):
        open_index(damaged, 2, task / "late")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UserError, match="no query"):
        retrieve(task, tmp_path, index=index, queries=tmp_path / "empty.jsonl")
    with pytest.raises(UserError, match="nothing to encode"):
        encode(task, tmp_path, corpus=tmp_path / "empty.jsonl")


def test_a_model_that_cannot_be_used_is_one_line(task):
    with pytest.raises(UserError, match=r"not a multi-vector model, so the projection .* random; give it a recipe$"):
        TYPE.load(task / "start", 16)
    with pytest.raises(UserError, match=r"max_length is 7, but this model expands queries to 8 tokens$"):
        TYPE.load(task / "late", 7)
    with pytest.raises(UserError, match="at most 64 tokens"):
        TYPE.load(task / "late", 65)
