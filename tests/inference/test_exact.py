"""Exact search against brute force, with ties, in chunks of every size."""

import numpy as np
import pytest

from ranktrial.inference import exact
from ranktrial.inference.exact import merged_by_keys
from ranktrial.ir.trec import ranking

torch = pytest.importorskip("torch")
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("chunk", "group"), [(1, 32), (3, 32), (7, 32), (1000, 32), (4, 2), (6, 3), (8, 8)])
@pytest.mark.parametrize("k", [1, 5, 40, 200])
def test_the_best_are_those_of_trec_eval(monkeypatch, seed, chunk, group, k):
    """Small whole numbers make many equal scores, at the cut-off too, and no rounding."""
    monkeypatch.setattr(exact, "DOCUMENTS", chunk)
    monkeypatch.setattr(exact, "GROUP", group)
    monkeypatch.setattr(exact, "QUERIES", 2)
    rng = np.random.default_rng(seed)
    ids = [f"{rng.choice(['d', 'é', 'Z', '10', '9'])}{n}" for n in range(57)]
    documents = rng.integers(-2, 3, (57, 3)).astype(np.float32)
    queries = rng.integers(-2, 3, (5, 3)).astype(np.float32)
    scores, rows = exact.search(queries, documents, exact.precedence(ids), k, "cpu")
    assert scores.shape == rows.shape == (5, min(k, 57))
    for query, found, values in zip(queries, rows, scores, strict=True):
        true = {name: float(document @ query) for name, document in zip(ids, documents, strict=True)}
        assert [ids[row] for row in found] == ranking(true)[:k]
        assert values.tolist() == [true[ids[row]] for row in found]


def test_scores_are_those_of_a_product_of_matrices():
    rng = np.random.default_rng(1)
    documents, queries = (rng.standard_normal((n, 16), dtype=np.float32) for n in (300, 7))
    ids = [f"d{n}" for n in range(300)]
    scores, rows = exact.search(queries, documents, exact.precedence(ids), 10, "cpu")
    true = queries @ documents.T
    assert np.array_equal(np.sort(true)[:, ::-1][:, :10].argsort(), scores.argsort())
    assert np.allclose(np.take_along_axis(true, rows, 1), scores, atol=1e-5)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=on_gpu)])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 5, 40, 200])
def test_keys_give_the_same_documents_in_the_same_order(seed, k, device):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, (5, 57)).astype(np.float32) * rng.choice([1e-30, 0.0, -0.0, 1.5, 1e30], (5, 57))
    scores = torch.from_numpy(scores.astype(np.float32)).to(device)
    places = torch.from_numpy(rng.permutation(57)).to(device)
    blocks = [slice(first, first + 11) for first in range(0, 55, 11)] + [slice(55, 57)]
    scorings = [(rows, lambda queries, rows=rows: scores[queries][:, rows]) for rows in blocks]
    queries = [slice(0, 3), slice(3, 5)]
    expected = exact.merged(
        [(rows, lambda of, score=score: score(of).cpu()) for rows, score in scorings], queries, places.cpu(), k
    )
    found = merged_by_keys(scorings, queries, places, k)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)
