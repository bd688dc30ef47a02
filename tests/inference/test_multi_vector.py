"""Late interaction: an index of token vectors, exact MaxSim as the library computes it, re-ranking, and mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference import exact
from ranktrial.inference.indices.token_vectors import open_index, write_index
from ranktrial.ir.collection import read_corpus
from ranktrial.ir.trec import ranking
from ranktrial.models.adapters import adapter, index_of
from tests.support import tiny_ranking
from tests.support.tiny_bert import build
from tests.support.tiny_ranking import Ranker, check_mistakes, check_re_ranked
from tests.support.tiny_task import WORDS, write_collection

RANKER = Ranker("multi-vector", "late", "token-vectors")
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
    return RANKER.encode(task, tmp_path_factory.mktemp("index"))


def by_the_library(task: Path, similarity: str = "maxsim") -> dict:
    from sentence_transformers import MultiVectorEncoder

    known = {"device": "cpu", "local_files_only": True, "similarity_fn_name": similarity}
    return tiny_ranking.by_the_library(task, MultiVectorEncoder(str(task / "late"), **known))


def test_the_search_finds_what_the_library_scores_highest(task, index, tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "DOCUMENTS", 20)  # so that there are parts of the index
    monkeypatch.setattr(exact, "QUERIES", 20)
    run, expected = RANKER.retrieve(task, tmp_path, index=index), by_the_library(task)
    assert list(run) == list(expected)
    for query, documents in run.items():
        assert documents == pytest.approx({name: expected[query][name] for name in documents}, abs=1e-5)
        assert len(documents) == 10 and min(documents.values()) >= sorted(expected[query].values())[-10] - 1e-5
    everything = RANKER.retrieve(task, tmp_path, index=index, depth=1000)["q1"]
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
    check_re_ranked(task, RANKER.rerank(task, tmp_path), by_the_library(task), abs=1e-5)


def test_a_mean_over_the_querys_tokens_is_scored_as_the_library_does(task):
    model = TYPE.load(task / "late", 16)
    model.similarity_fn_name = "meanmaxsim"
    query = TYPE.encode(model, [WORDS[2]], 1, "query")[0]
    document = TYPE.encode(model, [" ".join(WORDS[2:5])], 1, "document")[0]  # d2
    assert len(query) == EXPANSION["length"]  # the tokens that the library adds count
    score = (query @ document.T).max(axis=1).sum()
    assert score == pytest.approx(by_the_library(task, "meanmaxsim")["q2"]["d2"], abs=1e-6)


def test_an_index_of_other_weights_or_another_corpus_or_damaged_is_one_line(task, index, tmp_path):
    check_mistakes(RANKER, task, index, tmp_path)
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


def test_a_model_that_cannot_be_used_is_one_line(task):
    with pytest.raises(UserError, match=r"not a multi-vector model, so the projection .* random; give it a recipe$"):
        TYPE.load(task / "start", 16)
    with pytest.raises(UserError, match=r"max_length is 7, but this model expands queries to 8 tokens$"):
        TYPE.load(task / "late", 7)
    with pytest.raises(UserError, match="at most 64 tokens"):
        TYPE.load(task / "late", 65)
