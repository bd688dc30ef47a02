"""Models behind endpoints: what is sent by each protocol, what is kept, counted and refused; and the scripts with them."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import ranking, read_run, write_run
from ranktrial.models.adapters import adapter
from ranktrial.models.endpoint_models import EndpointModel, write_address
from ranktrial.models.kept_answers import keep_answers_beside
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.search import search
from tests.support.answering import (
    answered,
    answering,
    embedded,
    embedded_by_tei,
    error,
    scored,
    scored_by_tei,
    shared,
    vector,
)
from tests.support.calling import call
from tests.support.one_line import refused

PROTOCOLS = {
    "openai": {"embeddings": embedded, "rerank": scored},
    "tei": {"embed": embedded_by_tei, "rerank": scored_by_tei},
}
TEXTS = {"d1": "ash elm", "d2": "fig fig oak", "d3": "ash elm", "d4": "yew", "d5": ""}
QUERIES = {"q1": "oak fig", "q2": "elm"}
TEXT = {"type": "bi-encoder-endpoint", "max_length": 1000, "batch_size": 2}
PAIR = {"type": "cross-encoder-endpoint", "max_length": 1000, "batch_size": 2, "backend": "endpoint"}


def address(folder, url, **further):
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir(exist_ok=True)
    write_address(checkpoint, {"url": url, "model": "m", **further})
    return checkpoint


def made(folder, url, **further):
    """A model whose answers are kept in the folder."""
    keep_answers_beside(folder / "out")
    return EndpointModel(address(folder, url, **further))


def unit(text):
    return np.array(vector(text)) / max(np.linalg.norm(vector(text)), 1e-12)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_texts_become_vectors_a_batch_per_request_and_none_twice(tmp_path, protocol):
    texts = list(TEXTS.values())
    with answering(PROTOCOLS[protocol]) as asked:
        model = made(tmp_path, asked.url, protocol=protocol, price=2.0, concurrency=1)
        found = model.encode(texts, 2, "document")
        assert np.allclose(found, [unit(text) for text in texts]) and found.dtype == np.float32
        sent = [request["input" if protocol == "openai" else "inputs"] for request in asked.requests]
        assert sent == [["ash elm", "fig fig oak"], ["yew", " "]]  # no text twice, and none that is empty
        if protocol == "openai":
            assert model.facts["prompt_tokens"] == 6 and model.facts["cost"] == pytest.approx(6 * 2.0 / 1e6)
        else:
            assert model.facts["prompt_tokens"] is None and "cost" not in model.facts
        assert (model.facts["calls"], model.facts["cached_calls"]) == (4, 0)
        model.prompts["query"] = "query: "
        assert np.allclose(model.encode(["yew", "elm"], 9, "query"), [unit("query: yew"), unit("query: elm")])
        assert len(asked.requests) == 3 and model.facts["calls"] == 6
        again = made(tmp_path, asked.url, protocol=protocol)
        assert np.array_equal(again.encode(texts, 1, "document"), found) and again.facts["cached_calls"] == 4
        assert len(asked.requests) == 3 and asked.probes == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pairs_are_scored_a_batch_of_documents_per_query(tmp_path, protocol):
    pairs = [(query, text) for query in QUERIES.values() for text in TEXTS.values()]
    with answering(PROTOCOLS[protocol]) as asked:
        model = made(tmp_path, asked.url, protocol=protocol, price=1.0)
        assert model.score(pairs, 3).tolist() == [shared(query, text) for query, text in pairs]
        key = "documents" if protocol == "openai" else "texts"
        assert sorted(len(request[key]) for request in asked.requests) == [1, 1, 3, 3]
        assert model.facts["calls"] == 8 and model.facts["prompt_tokens"] == (80 if protocol == "openai" else None)
        more = [*pairs, ("elm", "a new one")]
        assert made(tmp_path, asked.url, protocol=protocol).score(more, 3).tolist()[-1] == 0
        assert len(asked.requests) == 5


def test_words_behind_the_limit_are_not_sent(tmp_path):
    with answering(PROTOCOLS["openai"]) as asked:
        made(tmp_path, asked.url, max_words=2).encode(["a b c", "d"], 9, "document")
        assert asked.requests[0] == {"model": "m", "input": ["a b", "d"], "encoding_format": "float"}


def test_a_prompt_is_sent_as_it_is_and_does_not_count_as_words_of_a_text(tmp_path):
    with answering(PROTOCOLS["openai"]) as asked:
        model = made(tmp_path, asked.url, max_words=2)
        model.prompts["query"] = "Instruct: find documents\nQuery:"
        model.encode(["sugar is safe", ""], 9, "query")
        assert asked.requests[0]["input"] == [f"{model.prompts['query']}{text}" for text in ("sugar is", "")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"data": [{"index": 0, "embedding": [1.0]}]}, "one embedding for each of 2 texts"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in range(3)]}, "one embedding for each of 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 2}, "one embedding for each of 2 texts"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in (0, 1, 0)]}, "one embedding for each of 2 texts"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in (False, True)]}, "one embedding for each of 2 texts"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in (0.0, 1.0)]}, "one embedding for each of 2 texts"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in ([], 1)]}, "one embedding for each of 2 texts"),
        ({"data": [7, {"index": 1, "embedding": [1.0]}]}, "one embedding for each of 2 texts"),
        ({"data": None}, "one embedding for each of 2 texts"),
        ([], "one embedding for each of 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}, "different dimensions"),
        ({"data": [{"index": n, "embedding": []} for n in range(2)]}, "of shape (2, 0)"),
        ({"data": [{"index": n, "embedding": 1.0} for n in range(2)]}, "of shape (2,)"),
        ({"data": [{"index": n, "embedding": ["1"]} for n in range(2)]}, "something else than numbers"),
        ({"data": [{"index": n, "embedding": [None]} for n in range(2)]}, "something else than numbers"),
        ({"data": [{"index": n, "embedding": [1e300]} for n in range(2)]}, "that 32 bits cannot represent"),
    ],
)
def test_an_answer_with_other_numbers_than_asked_for_is_refused_and_not_kept(tmp_path, content, words):
    with answering({"embeddings": lambda request: answered(content)}) as asked:
        model = made(tmp_path, asked.url)
        with refused(asked.url, words):
            model.encode(["a", "b"], 2, "document")
        assert len(model.kept) == 0 and len(asked.requests) == 1


@pytest.mark.parametrize("score", [None, "1", [1.0], True])
def test_scores_that_are_no_numbers_are_refused(tmp_path, score):
    with (
        answering({"rerank": lambda request: answered([{"index": 0, "score": score}])}) as asked,
        refused(asked.url, "numbers"),
    ):
        made(tmp_path, asked.url, protocol="tei").score([("a", "b")], 2)


def test_batches_of_other_dimensions_are_refused(tmp_path):
    def growing(request):
        return answered({"data": [{"index": 0, "embedding": [1.0] * len(request["input"][0])}]})

    with answering({"embeddings": growing}) as asked, refused(asked.url, "vectors of 1 and of 2 dimensions; delete"):
        made(tmp_path, asked.url).encode(["a", "bb"], 1, "document")


def test_a_job_that_ends_midway_goes_on(tmp_path):
    left = [2]

    def so_many(request):
        left[0] -= 1
        return embedded(request) if left[0] >= 0 else error(401)

    with answering({"embeddings": so_many}) as asked:
        with pytest.raises(UserError, match="refuses access"):
            made(tmp_path, asked.url, concurrency=1).encode([f"text{n}" for n in range(8)], 2, "document")
        kept = tmp_path / "out.resume/answers.jsonl"
        kept.write_bytes(kept.read_bytes() + b'\n{"request": "abc", "text": "cut of')  # as a kill leaves it
        left[0] = 9
        model = made(tmp_path, asked.url)
        assert len(model.kept) == 4
        model.encode([f"text{n}" for n in range(8)], 2, "document")
        assert model.facts["cached_calls"] == 4 and len(asked.requests) == 3 + 2


def test_an_endpoint_without_such_a_path_is_refused(tmp_path):
    with answering({"embed": embedded_by_tei}) as asked, refused(asked.url, "no embeddings below this address (404)"):
        made(tmp_path, asked.url).encode(["a"], 2, "document")


@pytest.fixture
def task(tmp_path):
    write_corpus(tmp_path / "corpus.jsonl", [Document(name, "", text) for name, text in TEXTS.items()])
    write_queries(tmp_path / "queries.jsonl", QUERIES)
    write_run(tmp_path / "first.trec.gz", {query: dict.fromkeys(TEXTS, 1.0) for query in QUERIES}, "first")
    return tmp_path


def test_a_corpus_is_encoded_searched_and_re_ranked(task):
    model = {"corpus": task / "corpus.jsonl", "checkpoint": task / "checkpoint"}
    ranked = {"queries": task / "queries.jsonl", "run": task / "run.trec.gz", "timing": task / "run.json"}
    with answering(PROTOCOLS["openai"]) as asked:
        address(task, asked.url, price=1.0)
        call(encode, TEXT, **model, index=task / "e.vectors", timing=task / "e.json")
        index = np.load(task / "e.vectors/vectors.npy")
        assert np.allclose(index, [unit(text) for text in TEXTS.values()])
        encoded = json.loads((task / "e.json").read_text())
        assert encoded["calls"] == 4 and encoded["cost"] == pytest.approx(6 / 1e6)
        assert encoded["device"].startswith("m at 127.0.0.1")

        how = TEXT | {"depth": 2, "tag": "t"}
        call(search, how, **model, **ranked, index=task / "e.vectors")
        assert ranking(read_run(task / "run.trec.gz")["q1"])[0] == "d2"
        searched = json.loads((task / "run.json").read_text())
        assert searched["calls"] == 2 and searched["latency_ms"]["n"] == 2
        count = len(asked.requests)
        call(search, how, **model, **ranked, index=task / "e.vectors")
        again = json.loads((task / "run.json").read_text())
        assert len(asked.requests) == count and again["cached_calls"] == 2
        kept = [json.loads(line) for line in (task / "run.trec.gz.resume/answers.jsonl").read_text().split("\n")[1:]]
        assert again["seconds"] > sum(answer["seconds"] for answer in kept) > 0  # as when they came

        call(rerank, PAIR | {"depth": 5, "tag": "t"}, **model, **ranked, first_stage=task / "first.trec.gz")
        scores = read_run(task / "run.trec.gz")
        assert scores == {q: {d: shared(text, TEXTS[d]) for d in TEXTS} for q, text in QUERIES.items()}
        timing = json.loads((task / "run.json").read_text())
        assert timing["calls"] == 8 and timing["pairs"] == 10 and timing["cost"] == pytest.approx(80 / 1e6)
        call(rerank, TEXT | {"backend": "endpoint", "depth": 5, "tag": "t"}, **model, **ranked,
             first_stage=task / "first.trec.gz")  # fmt: skip
        scores = read_run(task / "run.trec.gz")["q1"]
        assert scores["d2"] == pytest.approx(unit("oak fig") @ unit("fig fig oak"), abs=1e-6)


def test_first_dimensions_are_of_unit_length(tmp_path):
    with answering(PROTOCOLS["openai"]) as asked:
        model = made(tmp_path, asked.url)
        kind = adapter("bi-encoder-endpoint")
        whole = kind.encode(model, ["ash elm fig oak yew"], 2, "document")
        cut = kind.truncate(model, 40)
        found = kind.encode(model, ["ash elm fig oak yew"], 2, "document")
        assert found.shape == (1, 40) and np.array_equal(cut(whole), found)
        assert np.linalg.norm(found) == pytest.approx(1)
