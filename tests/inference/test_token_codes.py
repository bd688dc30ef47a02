"""Residual codes of token vectors: MaxSim of what is decoded, what a search misses, and how many bytes it takes."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference import exact
from ranktrial.inference.indices import folder_bytes
from ranktrial.inference.indices.token_codes import open_index, write_index
from ranktrial.inference.searches.approximate import recall
from ranktrial.inference.searches.token_codes import nearest
from ranktrial.ir.trec import read_run
from scripts.inference.make_index import make_index
from scripts.inference.search import search
from tests.inference.test_multi_vector import RANKER, index, task  # noqa: F401 (fixtures)
from tests.support.calling import call

RNG = np.random.default_rng(5)
COUNTS = RNG.integers(1, 9, size=90)
TOPICS = RNG.normal(size=(12, 8))


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


TOKENS = unit(TOPICS[RNG.integers(12, size=COUNTS.sum())] + 0.2 * RNG.normal(size=(COUNTS.sum(), 8)))
QUERIES = [unit(TOPICS[RNG.integers(12, size=size)]) for size in (3, 1, 5)]
PLACES = RNG.permutation(len(COUNTS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("codes")
    write_index(made, TOKENS, COUNTS, "IVF16,SQ8")
    return made


def by_hand(queries, tokens):
    """MaxSim of each query and document, one by one."""
    documents = np.split(tokens, np.cumsum(COUNTS)[:-1])
    return [[(query @ document.T).max(axis=1).sum() for document in documents] for query in queries]


def test_a_search_of_all_centroids_ranks_by_the_decoded_vectors(folder):
    opened = open_index(folder, len(COUNTS), 99)
    scores, rows = nearest(opened, QUERIES, PLACES, len(COUNTS))
    expected = by_hand(QUERIES, opened.codec.sa_decode(np.array(opened.codes)))
    for ranked, numbers, every in zip(scores, rows, expected, strict=True):
        assert sorted(numbers) == list(range(len(COUNTS))) and (np.diff(ranked) <= 0).all()
        assert ranked == pytest.approx(np.array(every)[numbers], abs=1e-5)


def test_it_finds_nearly_all_that_the_exact_search_finds_and_fewer_with_fewer_centroids(folder):
    split = (np.array(list(map(len, QUERIES))), COUNTS)
    best = exact.search(np.concatenate(QUERIES), TOKENS, PLACES, 10, "cpu", split)
    shares = [recall(nearest(open_index(folder, len(COUNTS), near), QUERIES, PLACES, 10), best) for near in (1, 16)]
    assert shares[1] >= 0.9 and shares[0] <= shares[1]


def test_documents_of_a_few_centroids_alone_are_found(folder):
    """Of a query of one token one list is searched; what is not found comes last, without a score."""
    opened = open_index(folder, len(COUNTS), 1)
    scores, rows = nearest(opened, QUERIES[1:2], PLACES, len(COUNTS))
    near = int((QUERIES[1] @ opened.centroids.T).argmax())
    of_tokens = np.repeat(np.arange(len(COUNTS)), COUNTS)
    listed = set(of_tokens[np.array(opened.codes)[:, 0] == near])
    assert set(rows[0][scores[0] > -np.inf]) == listed and 0 < len(listed) < len(COUNTS)


def test_a_token_takes_the_bytes_of_its_code(folder):
    codes = np.load(folder / "codes.npy")
    assert codes.shape == (COUNTS.sum(), 1 + 8) and codes.dtype == np.uint8  # a centroid, and a byte per dimension


def test_what_is_damaged_or_does_not_fit_is_one_line(folder, tmp_path):
    with pytest.raises(UserError, match="of 90 documents, but the corpus has 91; build it again"):
        open_index(folder, 91, 1)
    with pytest.raises(UserError, match="not a complete index, delete it and build"):
        open_index(tmp_path, 90, 1)
    with pytest.raises(UserError, match=r"approximate.index: IVF16,PQ3 does not fit \d+ vectors of 8 dimensions: "):
        write_index(tmp_path, TOKENS, COUNTS, "IVF16,PQ3")


def test_an_encoded_corpus_is_coded_searched_and_compared(task, index, tmp_path):  # noqa: F811
    coded = tmp_path / "e.IVF4_SQ8"
    how = {"form": "token-codes", "name": "IVF4,SQ8"}
    call(make_index, how, vectors=index, index=coded, timing=tmp_path / "b.json")
    built = json.loads((tmp_path / "b.json").read_text())
    assert built["index_bytes"] == folder_bytes(coded) and built["documents"] == 51
    paths = {"checkpoint": task / "late", "corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl"}
    how = RANKER.settings | {"form": "token-codes", "approximate": {"index": "IVF4,SQ8", "nprobe": 4}}
    call(
        search,
        how | {"depth": 10, "tag": "tiny"},
        **paths,
        index=coded,
        vectors=index,
        run=tmp_path / "r",
        timing=tmp_path / "t",
    )
    found, whole = read_run(tmp_path / "r"), RANKER.retrieve(task, tmp_path, index=index)
    timing = json.loads((tmp_path / "t").read_text())
    assert timing["recall"] >= 0.8 and timing["recall_queries"] == 6 and timing["index_bytes"] == folder_bytes(coded)
    for query, documents in whole.items():
        first = max(documents, key=documents.get)
        assert found[query][first] == pytest.approx(documents[first], abs=0.05)
