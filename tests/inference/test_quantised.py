"""Quantised embeddings: codes and ranges of the library, search and scoring again by hand, a retrieval, and mistakes."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference.exact import precedence
from ranktrial.inference.indices import quantised_vectors as quantised
from ranktrial.inference.indices.quantised_vectors import open_index, write_index
from ranktrial.inference.searches.quantised_vectors import search_codes
from ranktrial.ir.trec import read_run
from scripts.inference.make_index import make_index
from scripts.inference.search import search as retrieve
from tests.support.calling import call
from tests.support.tiny_ranking import encode_four

PRECISIONS = ("int8", "uint8", "binary", "ubinary")  # of codes; float16 has tests of its own
WIDTH = 20  # not a multiple of eight: the last byte of signs is not full
RNG = np.random.default_rng(7)
DOCUMENTS = RNG.standard_normal((150, WIDTH)).astype(np.float32)
QUERIES = RNG.standard_normal((9, WIDTH)).astype(np.float32)
PLACES = precedence([f"d{n}" for n in range(len(DOCUMENTS))])


@pytest.fixture(params=PRECISIONS)
def index(request, tmp_path, monkeypatch):
    monkeypatch.setattr(quantised, "ROWS", 40)  # several parts
    (tmp_path / "index").mkdir()
    write_index(tmp_path / "index", DOCUMENTS, request.param)
    return open_index(tmp_path / "index", len(DOCUMENTS), request.param)


def library(vectors, precision):
    from sentence_transformers.util import quantize_embeddings

    return quantize_embeddings(vectors, precision=precision, calibration_embeddings=DOCUMENTS)


def best(scores, depth):
    """The columns of the highest scores of each row, of equal ones the smaller place first."""
    return np.array([np.lexsort((PLACES, -row))[:depth] for row in scores])


def code_scores(precision):
    """The dot products of codes, or how many of the signs are equal."""
    queries, documents = library(QUERIES, precision), library(DOCUMENTS, precision)
    if precision.endswith("binary"):
        return ((QUERIES[:, None] > 0) == (DOCUMENTS[None] > 0)).sum(axis=2)
    return queries.astype(int) @ documents.astype(int).T


def test_codes_are_those_of_the_library(index):
    assert np.array_equal(index.codes, library(DOCUMENTS, index.precision))
    assert index.codes.dtype == library(DOCUMENTS, index.precision).dtype


def test_search_is_by_the_codes_exactly(index):
    expected = code_scores(index.precision)
    scores, found = search_codes(QUERIES, index, PLACES, 12, 0, "cpu")
    assert np.array_equal(found, best(expected, 12))
    assert np.array_equal(scores, np.take_along_axis(expected, found, axis=1))


def test_the_best_are_scored_again_by_the_querys_own_vector(index):
    from sentence_transformers.util.quantization import _dequantize_embeddings

    candidates = best(code_scores(index.precision), 36)
    if index.precision.endswith("binary"):
        vectors = (DOCUMENTS > 0).astype(float)
    else:
        ranges = np.vstack([DOCUMENTS.min(axis=0), DOCUMENTS.max(axis=0)])
        vectors = _dequantize_embeddings(library(DOCUMENTS, index.precision), index.precision, ranges)
    expected = np.einsum("qd,qnd->qn", QUERIES, vectors[candidates])
    scores, found = search_codes(QUERIES, index, PLACES, 12, 3, "cpu")
    for query in range(len(QUERIES)):
        by_document = dict(zip(candidates[query].tolist(), expected[query].tolist(), strict=True))
        order = sorted(by_document, key=lambda row: (-by_document[row], PLACES[row]))[:12]
        assert found[query].tolist() == order
        np.testing.assert_allclose(scores[query], [by_document[row] for row in order], rtol=1e-12)


def test_float16_is_searched_by_the_querys_own_vector(tmp_path):
    write_index(tmp_path, DOCUMENTS, "float16")
    index = open_index(tmp_path, len(DOCUMENTS), "float16")
    assert index.codes.dtype == np.float16 and np.array_equal(index.codes, DOCUMENTS.astype(np.float16))
    expected = QUERIES.astype(np.float64) @ DOCUMENTS.astype(np.float16).astype(np.float64).T
    scores, found = search_codes(QUERIES, index, PLACES, 12, 0, "cpu")
    assert np.array_equal(found, best(expected, 12))
    # A sum of 20 products of numbers below 4 in float32: 20 roundings of at most 2**-24 of a partial sum below 80.
    np.testing.assert_allclose(scores, np.take_along_axis(expected, found, axis=1), atol=20 * 80 * 2.0**-24, rtol=0)


def test_what_float16_cannot_hold_is_refused(tmp_path):
    with pytest.raises(UserError, match="beyond 65,504, which float16 cannot represent"):
        write_index(tmp_path, np.float32([[1, 70000]]), "float16")


def test_a_corpus_is_encoded_once_and_searched_in_each_precision(tmp_path):
    paths, settings = encode_four(tmp_path, {"q": "ash elm"})
    runs, bytes_of = {}, {}
    ranking = settings | {"depth": 2, "tag": "tiny"}
    for precision in ("float32", "float16", "int8", "binary"):
        index = tmp_path / ("e.index" if precision == "float32" else precision)
        multiplier = 0 if precision == "float16" else 2
        reported = {"embeddings": {"precision": precision, "rescore_multiplier": multiplier}}
        reported = {} if precision == "float32" else reported | {"form": "quantised-vectors"}
        if reported:
            call(make_index, {"form": "quantised-vectors", "name": precision}, vectors=tmp_path / "e.index",
                index=index, timing=tmp_path / f"{precision}.quantising.json",
            )  # fmt: skip
        made = {"run": tmp_path / f"{precision}.run", "timing": tmp_path / f"{precision}.json"}
        call(retrieve, ranking | reported, **paths, index=index, **made)
        timing = json.loads((tmp_path / f"{precision}.json").read_text())
        assert timing.get("embeddings") == reported.get("embeddings")
        if reported:
            assert timing["index_bytes"] == sum(file.stat().st_size for file in index.iterdir())
        runs[precision], bytes_of[precision] = read_run(tmp_path / f"{precision}.run")["q"], timing["index_bytes"]
    assert runs["int8"] == pytest.approx(runs["float32"], abs=0.05) and len(runs["binary"]) == 2
    assert runs["float16"] == pytest.approx(
        runs["float32"], abs=2**-11
    )  # of unit vectors, one of them rounded to 11 bits
    assert bytes_of["float32"] == np.load(tmp_path / "e.index/vectors.npy").nbytes


def test_another_corpus_or_another_precision_is_one_line(index, tmp_path):
    with pytest.raises(UserError, match="of 150 documents, but the corpus has 151; quantise it again"):
        open_index(tmp_path / "index", 151, index.precision)
    other = {"int8": "uint8", "uint8": "int8", "binary": "ubinary", "ubinary": "binary"}[index.precision]
    with pytest.raises(UserError, match=r"codes\.npy has 2 dimensions of .* delete it and quantise again"):
        open_index(tmp_path / "index", 150, other)
