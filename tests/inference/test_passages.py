"""Split texts: scores aggregated over passages, against loops over single pairs, in every way to rank."""

import json
import random
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference import exact, ranked
from ranktrial.inference.vectors import max_sim, max_sims
from ranktrial.ir.collection import Document, write_corpus
from ranktrial.ir.trec import ranking, read_run, write_run
from ranktrial.models.types import bi_encoder, cross_encoder
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.score_all import score_all
from scripts.inference.search import search as retrieve
from tests.support.calling import call
from tests.support.tiny_ranking import build_two_kinds
from tests.support.tiny_task import WORDS

ENCODING = {"type": "bi-encoder", "max_length": 16, "batch_size": 4}
SEARCH = ENCODING | {"passage_length": 30, "tag": "tiny"}
SPLIT = SEARCH | {"backend": "torch"}


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Path:
    """Both kinds of model, 40 documents of 1 to 6 passages, 5 queries of 1 to 3, and a first stage of 12 documents."""
    folder = tmp_path_factory.mktemp("split")
    build_two_kinds(folder)
    rng = random.Random(1)

    def write(path: Path, names: list[str], most: int) -> None:
        passages = [(name, " ".join(rng.sample(WORDS, 3))) for name in names for _ in range(rng.randint(1, most))]
        write_corpus(path, (Document(name, "", passage) for name, passage in passages))

    write(folder / "corpus.jsonl", [f"d{n}" for n in range(40)], 6)
    write(folder / "queries.jsonl", [f"q{n}" for n in range(5)], 3)
    write_run(folder / "first.trec", {f"q{n}": {f"d{m}": float(m) for m in range(n, n + 12)} for n in range(5)}, "x")
    return folder


def read(path: Path) -> dict[str, list[str]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {name: [row["text"] for row in some] for name, some in groupby(rows, key=lambda row: row["_id"])}


@pytest.fixture(scope="module")
def naive(task) -> dict[str, dict[str, dict[str, float]]]:
    """For each kind of model the score of every query and document, a pair of passages at a time."""
    bi = bi_encoder.load(task / "bi", 16)
    cross = cross_encoder.load(task / "cross", 16)
    vectors: dict[tuple[str, str], np.ndarray] = {}

    def similarity(query: str, document: str) -> float:
        for role, text in (("query", query), ("document", document)):
            if (role, text) not in vectors:
                vectors[role, text] = bi_encoder.encode(bi, [text], 1, role)[0]
        return float(vectors["query", query] @ vectors["document", document])

    def logit(query: str, document: str) -> float:
        return float(cross_encoder.score_pairs(cross, [(query, document)], 1)[0])

    def of_all(score) -> dict[str, dict[str, float]]:
        queries, documents = read(task / "queries.jsonl"), read(task / "corpus.jsonl")
        scores = {}
        for query, its_passages in queries.items():
            scores[query] = {}
            for document, other_passages in documents.items():
                total = 0.0
                for passage in its_passages:
                    total += max(score(passage, other) for other in other_passages)
                scores[query][document] = total
        return scores

    return {"bi": of_all(similarity), "cross": of_all(logit)}


def paths(task: Path, out: Path, kind: str) -> dict[str, Path]:
    made = {"checkpoint": task / kind, "corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl"}
    return made | {"run": out / "run.trec", "timing": out / "timing.json"}


def embeddings(task: Path, out: Path) -> Path:
    files = {"checkpoint": task / "bi", "corpus": task / "corpus.jsonl"}
    call(encode, ENCODING, **files, index=out / "e.index", timing=out / "e.json")
    return out / "e.index"


def agree(run: dict, expected: dict, depth: int) -> None:
    assert list(run) == list(expected)
    for query, documents in run.items():
        assert len(documents) == min(depth, len(expected[query]))
        assert documents == pytest.approx({name: expected[query][name] for name in documents}, abs=2e-5)
        kept = sorted(expected[query].values())[-depth:]
        assert min(documents.values()) == pytest.approx(kept[0], abs=2e-5)


def test_the_maximum_over_the_documents_passages_is_summed_over_the_querys():
    scores = np.array([[1, 5, 2, -1, -3], [4, 0, -7, -2, -9]], np.float32)
    assert max_sim(scores, np.array([2, 1, 2])).tolist() == [9, -5, -3]
    assert max_sim(scores[:1], np.array([5])).tolist() == [5]
    assert max_sim(scores[:1, 2:3], np.array([1])).tolist() == [2]


@pytest.mark.parametrize("seed", range(5))
def test_many_queries_at_once_are_aggregated_as_one_by_one(seed):
    import torch

    rng = np.random.default_rng(seed)
    queries, documents = rng.integers(1, 5, 7), rng.integers(1, 9, 11)
    scores = rng.standard_normal((queries.sum(), documents.sum()), dtype=np.float32)
    found = max_sims(*(torch.from_numpy(one) for one in (scores, queries, documents))).numpy()
    ends = queries.cumsum()
    one_by_one = [max_sim(scores[end - n : end], documents) for n, end in zip(queries, ends, strict=True)]
    assert np.allclose(found, one_by_one, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 4, 1000])
@pytest.mark.parametrize("k", [1, 7, 100])
@pytest.mark.parametrize("seed", range(3))
def test_exact_search_over_passages_finds_what_a_loop_finds(monkeypatch, seed, chunk, k):
    monkeypatch.setattr(exact, "DOCUMENTS", chunk)
    monkeypatch.setattr(exact, "QUERIES", 2)
    rng = np.random.default_rng(seed)
    of_query, of_document = rng.integers(1, 4, 5), rng.integers(1, 7, 30)
    queries = rng.integers(-2, 3, (of_query.sum(), 3)).astype(np.float32)  # small whole numbers: ties, no rounding
    documents = rng.integers(-2, 3, (of_document.sum(), 3)).astype(np.float32)
    ids = [f"d{n}" for n in range(30)]
    split = (of_query, of_document)
    scores, rows = exact.search(queries, documents, exact.precedence(ids), k, "cpu", split)
    ends, document_ends = of_query.cumsum(), of_document.cumsum()
    for n in range(5):
        true = {}
        for m, name in enumerate(ids):
            its = documents[document_ends[m] - of_document[m] : document_ends[m]]
            true[name] = float(sum(max(one @ q for one in its) for q in queries[ends[n] - of_query[n] : ends[n]]))
        assert [ids[row] for row in rows[n]] == ranking(true)[:k]
        assert scores[n].tolist() == [true[ids[row]] for row in rows[n]]


def test_a_bi_encoder_searches_all_passages(task, tmp_path, naive):
    files = paths(task, tmp_path, "bi") | {"index": embeddings(task, tmp_path)}
    call(retrieve, SEARCH | {"depth": 10}, **files)
    agree(read_run(tmp_path / "run.trec"), naive["bi"], 10)
    timing = json.loads((tmp_path / "timing.json").read_text())
    assert (timing["queries"], timing["documents"], timing["passage_length"]) == (5, 40, 30)


@pytest.mark.parametrize("given", [True, False])
def test_a_bi_encoder_re_ranks_passages_encoded_before_or_by_itself(task, tmp_path, monkeypatch, naive, given):
    files = paths(task, tmp_path, "bi") | {"first_stage": task / "first.trec"}
    if given:
        files["index"] = embeddings(task, tmp_path)
        texts: list[str] = []
        original = bi_encoder.encode

        def recorded(model, some, *others):
            texts.extend(some)
            return original(model, some, *others)

        monkeypatch.setattr(bi_encoder, "encode", recorded)
    call(rerank, SPLIT | {"depth": 6, "type": "bi-encoder"}, **files)
    first = read_run(task / "first.trec")
    tops = {query: {name: naive["bi"][query][name] for name in ranking(first[query])[:6]} for query in first}
    agree(read_run(tmp_path / "run.trec"), tops, 6)
    if given:  # no document is encoded again
        asked = {passage for passages in read(task / "queries.jsonl").values() for passage in passages}
        assert set(texts) == asked


@pytest.mark.parametrize("chunk", [3, 1024])
def test_a_cross_encoder_scores_all_pairs_of_passages_of_its_candidates(task, tmp_path, monkeypatch, naive, chunk):
    monkeypatch.setattr(ranked.chunks, "__defaults__", (chunk,))
    files = paths(task, tmp_path, "cross") | {"first_stage": task / "first.trec"}
    call(rerank, SPLIT | {"depth": 6, "type": "cross-encoder"}, **files)
    first = read_run(task / "first.trec")
    tops = {query: {name: naive["cross"][query][name] for name in ranking(first[query])[:6]} for query in first}
    agree(read_run(tmp_path / "run.trec"), tops, 6)
    timing = json.loads((tmp_path / "timing.json").read_text())
    queries, documents = read(task / "queries.jsonl"), read(task / "corpus.jsonl")
    total = sum(len(queries[query]) * len(documents[name]) for query in tops for name in tops[query])
    assert (timing["pairs"], timing["passage_pairs"]) == (30, total)


@pytest.mark.parametrize(("chunk", "depth"), [(1, 4), (7, 40), (1024, 9)])
def test_a_cross_encoder_scores_the_whole_collection(task, tmp_path, monkeypatch, naive, chunk, depth):
    monkeypatch.setattr(ranked.chunks, "__defaults__", (chunk,))
    call(score_all, SPLIT | {"depth": depth, "type": "cross-encoder"}, **paths(task, tmp_path, "cross"))
    agree(read_run(tmp_path / "run.trec"), naive["cross"], depth)
    timing = json.loads((tmp_path / "timing.json").read_text())
    assert (timing["pairs"], timing["documents"], timing["latency_ms"]["n"]) == (200, 40, 5)
    assert timing["latency_ms"]["mean"] * 5 == pytest.approx(timing["seconds"] * 1000)


def test_nothing_to_score_is_a_mistake(task, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    for name in ("corpus", "queries"):
        files = paths(task, tmp_path, "cross") | {name: tmp_path / "empty.jsonl"}
        with pytest.raises(UserError, match=r"empty.jsonl: empty, so there is nothing to score"):
            call(score_all, SPLIT | {"depth": 3, "type": "cross-encoder"}, **files)
    assert not (tmp_path / "run.trec").exists()
