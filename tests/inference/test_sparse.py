"""Learned sparse retrieval: an index of terms, exact search as the library scores it, re-ranking, and mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from ranktrial.common.errors import UserError
from ranktrial.inference.exact import precedence
from ranktrial.inference.indices import terms as term_index
from ranktrial.inference.indices.terms import open_index, write_index
from ranktrial.inference.searches import terms as term_search
from ranktrial.ir.collection import read_corpus, read_queries
from ranktrial.ir.trec import ranking
from ranktrial.models.adapters import adapter, index_of
from ranktrial.models.loaded import rank_fast
from tests.support import tiny_ranking
from tests.support.tiny_bert import build, build_masked
from tests.support.tiny_ranking import Ranker, check_mistakes, check_re_ranked
from tests.support.tiny_task import WORDS, write_collection

RANKER = Ranker("sparse-encoder", "model", "terms")
TYPE = adapter("sparse-encoder")


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Path:
    """Two models, one without a head, and a collection in which two documents have the same text."""
    folder = tmp_path_factory.mktemp("task")
    build(folder / "headless", [" ".join(WORDS)], seed=1)
    for name, seed in (("model", 1), ("other", 2)):
        build_masked(folder / name, [" ".join(WORDS)], seed=seed)
    write_collection(folder)
    return folder


@pytest.fixture(scope="module")
def index(task, tmp_path_factory) -> Path:
    """The index of the collection, beside its timing."""
    return RANKER.encode(task, tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def by_the_library(task) -> dict:
    from sentence_transformers import SparseEncoder

    return tiny_ranking.by_the_library(task, SparseEncoder(str(task / "model"), device="cpu", local_files_only=True))


def test_the_search_finds_what_the_library_scores_highest(task, index, by_the_library, tmp_path, monkeypatch):
    monkeypatch.setattr(term_index, "ENTRIES", 100)  # so that there are parts of the index
    monkeypatch.setattr(term_search, "QUERIES", 4)
    run = RANKER.retrieve(task, tmp_path, index=index)
    assert list(run) == list(by_the_library)
    for query, documents in run.items():
        expected = by_the_library[query]
        assert documents == pytest.approx({name: expected[name] for name in documents}, rel=1e-5)
        assert len(documents) == 10 and min(documents.values()) >= sorted(expected.values())[-10] * (1 - 1e-5)
    everything = RANKER.retrieve(task, tmp_path, index=index, depth=1000)["q1"]
    order = ranking(everything)
    assert len(order) == 51 and order.index("d7") == order.index("twin") + 1  # equal scores: descending ids


def test_index_and_timings_count_terms(task, index, tmp_path):
    RANKER.retrieve(task, tmp_path, index=index)
    model = TYPE.load(task / "model", 16)
    rank_fast(model)  # as the job does
    documents = TYPE.encode(
        model, [document.contents for document in read_corpus(task / "corpus.jsonl")], 4, "document"
    )
    queries = TYPE.encode(model, list(read_queries(task / "queries.jsonl").values()), 4, "query")
    opened = open_index(index, 51, task / "model")
    whole = opened.rows(slice(0, 51))
    assert index_of("sparse-encoder") == "terms" and whole.dtype == documents.dtype == np.float32
    assert np.allclose(whole.toarray(), documents.toarray(), rtol=1e-5) and 0 < opened.terms.size < 51 * opened.size
    of_index, of_run = (json.loads(path.read_text()) for path in (index.parent / "e.json", tmp_path / "run.json"))
    assert of_index["documents"] == 51 and of_index["terms_per_document"] == pytest.approx(documents.nnz / 51)
    assert of_index["index_bytes"] == sum(file.stat().st_size for file in index.iterdir())
    assert of_run["terms_per_query"] == pytest.approx(queries.nnz / 6) and of_run["queries_without_terms"] == 0
    of_both = [(matrix.toarray() > 0).mean(axis=0) for matrix in (queries, documents)]
    assert of_run["flops"] == pytest.approx((of_both[0] * of_both[1]).sum())


def test_it_re_ranks_as_it_searches(task, by_the_library, tmp_path):
    check_re_ranked(task, RANKER.rerank(task, tmp_path), by_the_library, rel=1e-5)


def made(folder: Path, checkpoint: Path, documents: np.ndarray, chunk: int = 2) -> term_index.TermIndex:
    """An index of these documents, written `chunk` at a time."""
    folder.mkdir()
    matrix = scipy.sparse.csr_array(documents.astype(np.float32))
    return write_index(folder, [matrix[n : n + chunk] for n in range(0, len(documents), chunk)], checkpoint)


def test_any_parts_of_an_index_give_what_all_products_at_once_give(task, tmp_path, monkeypatch):
    chance = np.random.default_rng(3)
    documents = chance.integers(0, 4, (40, 30)) * (chance.random((40, 30)) < 0.2)
    queries = chance.integers(1, 3, (9, 30)) * (chance.random((9, 30)) < 0.2)
    documents[[0, 17, 39]] = 0
    index = made(tmp_path / "index", task / "model", documents, chunk=7)
    places = precedence([f"d{n:02}" for n in range(40)])
    scores = queries @ documents.T
    wanted = np.lexsort((np.broadcast_to(places, scores.shape), -scores), axis=1)
    sparse = scipy.sparse.csr_array(queries.astype(np.float32))
    for entries in (1, 13, 10**6):
        monkeypatch.setattr(term_index, "ENTRIES", entries)
        for k in (1, 5, 100):
            found, rows = term_search.highest(sparse, index, places, k)
            assert (rows == wanted[:, :k]).all() and (found == np.take_along_axis(scores, rows, 1)).all()
        assert (index.frequencies() == (documents > 0).sum(axis=0)).all()


def test_a_query_without_terms_finds_nothing_and_is_counted(task, index, tmp_path, monkeypatch, capsys):
    encode_as_ever = TYPE.encode

    def without_the_first(model, texts, batch_size, role):
        encoded = encode_as_ever(model, texts, batch_size, role).tolil()
        for row, text in enumerate(texts):
            if text == WORDS[0]:
                encoded[[row]] = 0
        return encoded.tocsr()

    monkeypatch.setattr(TYPE, "encode", without_the_first)
    run = RANKER.retrieve(task, tmp_path, index=index)
    assert "q0" not in run and len(run["q1"]) == 10
    assert json.loads((tmp_path / "run.json").read_text())["queries_without_terms"] == 1
    assert "1 of 6 queries have no term, so they find nothing" in capsys.readouterr().err
    monkeypatch.setattr(
        TYPE, "encode", lambda model, texts, *_: scipy.sparse.csr_array((len(texts), 400), dtype=np.float32)
    )
    with pytest.raises(UserError, match=r"the model gives no query of .* a term"):
        RANKER.retrieve(task, tmp_path, index=index)
    with pytest.raises(UserError, match="gives no document a term"):
        made(tmp_path / "nothing", task / "model", np.zeros((3, 4)))


def test_an_index_of_other_weights_or_another_corpus_or_damaged_is_one_line(task, index, tmp_path):
    check_mistakes(RANKER, task, index, tmp_path)
    damaged = tmp_path / "damaged"
    made(damaged, task / "model", np.eye(3))
    for name, values in (("offsets.npy", [0, 2, 1, 3]), ("offsets.npy", [0, 1, 2, 4]), ("weights.npy", [1.0])):
        before = (damaged / name).read_bytes()
        np.save(damaged / name, np.array(values, np.int64 if name == "offsets.npy" else np.float32))
        with pytest.raises(UserError, match="do not belong together"):
            open_index(damaged, 3, task / "model")
        (damaged / name).write_bytes(before)
    np.save(damaged / "terms.npy", np.array([0, 1, 3], np.int32))
    with pytest.raises(UserError, match="names a term that there is not"):
        open_index(damaged, 3, task / "model")
    (damaged / "terms.npy").write_bytes((damaged / "terms.npy").read_bytes()[:130])
    with pytest.raises(UserError, match="not a complete index"):
        open_index(damaged, 3, task / "model")


def test_a_model_that_cannot_be_used_is_one_line(task):
    for to_train in (False, True):
        with pytest.raises(UserError, match=r"no sparse encoder: its weights have no head that predicts masked words"):
            TYPE.load(task / "headless", 16, to_train)
    with pytest.raises(UserError, match="at most 64 tokens"):
        TYPE.load(task / "model", 65)
