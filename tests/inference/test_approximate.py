"""Approximate search by faiss: exact where it looks at everything, the same every time, its recall by hand, mistakes."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference import exact
from ranktrial.inference.exact import precedence
from ranktrial.inference.indices import approximate
from ranktrial.inference.indices.approximate import build, open_index, write_index
from ranktrial.inference.searches.approximate import nearest, recall
from ranktrial.ir.trec import read_run
from scripts.inference.make_index import make_index
from scripts.inference.search import search as retrieve
from tests.support.calling import call
from tests.support.tiny_ranking import encode_four

WIDTH, DEPTH = 16, 10
RNG = np.random.default_rng(7)
DOCUMENTS = RNG.standard_normal((700, WIDTH)).astype(np.float32)
DOCUMENTS /= np.linalg.norm(DOCUMENTS, axis=1, keepdims=True)
QUERIES = RNG.standard_normal((30, WIDTH)).astype(np.float32)
PLACES = precedence([f"d{n}" for n in range(len(DOCUMENTS))])


def indexed(folder, name, parameters, vectors=DOCUMENTS):
    write_index(build(vectors, name), folder)
    return open_index(folder, len(vectors), parameters)


@pytest.mark.parametrize(
    ("name", "parameters"), [("HNSW16", {"efSearch": 700}), ("IVF8,Flat", {"nprobe": 8})], ids=["graph", "lists"]
)
def test_it_is_exact_where_it_looks_at_everything(tmp_path, monkeypatch, name, parameters):
    monkeypatch.setattr(approximate, "ROWS", 300)  # several parts
    found = nearest(indexed(tmp_path, name, parameters), QUERIES, PLACES, DEPTH)
    best = exact.search(QUERIES, DOCUMENTS, PLACES, DEPTH, "cpu")
    assert np.array_equal(found[1], best[1])
    np.testing.assert_allclose(found[0], best[0], rtol=0, atol=1e-5)
    assert recall(found, best) == 1


@pytest.mark.parametrize(
    "name", ["HNSW8", "IVF8,Flat", "IVF8,SQ8", pytest.param("OPQ4_8,IVF2,PQ4", marks=pytest.mark.long)]
)
def test_the_same_vectors_give_the_same_index_which_misses_some(tmp_path, name):
    found = []
    for take in ("one", "two"):
        (tmp_path / take).mkdir()
        found.append(nearest(indexed(tmp_path / take, name, {}), QUERIES, PLACES, DEPTH))
    assert (tmp_path / "one/index.faiss").read_bytes() == (tmp_path / "two/index.faiss").read_bytes()
    best = exact.search(QUERIES, DOCUMENTS, PLACES, DEPTH, "cpu")
    assert 0.1 < recall(found[0], best) < 1


def test_lists_are_trained_on_a_sample_that_is_the_same_every_time(monkeypatch):
    monkeypatch.setattr(approximate, "A_LIST", 40)
    one, two = (approximate.sample(DOCUMENTS, "IVF4,Flat") for _ in range(2))
    assert one.shape == (160, WIDTH) and np.array_equal(one, two)
    assert np.array_equal(approximate.sample(DOCUMENTS, "IVF32,Flat"), DOCUMENTS)


def test_equal_scores_go_by_place_and_what_was_not_found_comes_last(tmp_path):
    vectors = np.eye(4, 16, dtype=np.float32)[[0, 1, 1, 2]]
    places = np.array([3, 2, 1, 0])
    scores, rows = nearest(indexed(tmp_path, "IVF2,Flat", {"nprobe": 1}, vectors), vectors[1:2], places, 4)
    assert rows[0, :2].tolist() == [2, 1] and scores[0, :2].tolist() == [1, 1]
    assert scores[0, -1] == -np.inf


def test_recall_by_hand():
    scores = np.array([[3.0, 2.0, 1.0, 1.0]])
    best = (scores, np.array([[5, 6, 7, 8]]))
    assert recall(best, best) == 1
    assert recall((np.array([[3.0, 1.0, 0.5, -np.inf]]), np.array([[5, 9, 1, 6]])), best) == 0.5  # 9 ties with 7 and 8
    assert recall((np.array([[3.0, 1.0, 1.0, 1.0]]), np.array([[5, 9, 7, 4]])), best) == 0.75  # 6 is missing
    assert recall((np.array([[0.5, 0.4, 0.3, 0.2]]), np.array([[1, 2, 3, 4]])), best) == 0


def test_what_does_not_fit_is_one_line(tmp_path):
    for name, few in (("IVF900,Flat", DOCUMENTS), ("IVF2,PQ5", DOCUMENTS)):
        with pytest.raises(UserError, match=f"{name} does not fit 700 vectors of 16 dimensions: ") as error:
            build(few, name)
        assert "\n" not in str(error.value)
    file = tmp_path / "index.faiss"
    write_index(build(DOCUMENTS, "HNSW8"), tmp_path)
    with pytest.raises(UserError, match="of 700 documents, but the corpus has 701; build it again"):
        open_index(tmp_path, 701, {})
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(UserError, match="not a complete faiss index"):
        open_index(tmp_path, 700, {})


def test_a_corpus_is_encoded_once_and_searched_exactly_and_approximately(tmp_path, capsys):
    paths, settings = encode_four(tmp_path, {"q": "ash elm", "r": "yew"})
    reported, index = {"index": "HNSW4", "efSearch": 8}, tmp_path / "e.HNSW4"
    building = {"vectors": tmp_path / "e.index", "index": index, "timing": tmp_path / "index.json"}
    call(make_index, {"form": "approximate", "name": "HNSW4"}, **building)
    ranking = settings | {"depth": 3, "tag": "tiny"}
    vectors = tmp_path / "e.index"
    call(retrieve, ranking, **paths, index=vectors, run=tmp_path / "exact.run",
         timing=tmp_path / "x.json")  # fmt: skip
    call(retrieve, ranking | {"form": "approximate", "approximate": reported}, **paths, index=index,
         vectors=vectors,
         run=tmp_path / "near.run", timing=tmp_path / "near.json")  # fmt: skip
    runs = {name: read_run(tmp_path / f"{name}.run") for name in ("exact", "near")}
    for query, documents in runs["exact"].items():
        assert runs["near"][query] == pytest.approx(documents, abs=1e-6)
    timing = json.loads((tmp_path / "near.json").read_text())
    assert (timing["recall"], timing["recall_queries"]) == (1, 2) and timing["latency_ms"]["n"] == 2
    assert timing["approximate"] == reported | {"nprobe": None}
    assert timing["index_bytes"] == (index / "index.faiss").stat().st_size
    assert json.loads((tmp_path / "index.json").read_text())["approximate"] == "HNSW4"
    assert "HNSW4: 1.0000 of the exact search's 3 documents" in capsys.readouterr().err
