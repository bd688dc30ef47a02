"""Queries and documents cut apart: every way of ranking gives what it gives for texts that were written that short."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.types import cross_encoder
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.score_all import score_all
from scripts.inference.search import search as retrieve
from tests.support.calling import call
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS

LENGTHS = {"max_query_length": 2, "max_document_length": 3}
QUERIES = {f"q{n}": f"{WORDS[n]} {WORDS[n + 3]} {WORDS[n + 5]} {WORDS[n + 1]}" for n in range(4)}
DOCUMENTS = {f"d{n}": " ".join(WORDS[(n + 3 * m) % 20] for m in range(2 + n % 5)) for n in range(20)}


def first_words(text: str, count: int) -> str:
    """The first tokens: each word of the collection is one."""
    return " ".join(text.split()[:count])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lengths")
    build(folder / "bi", [" ".join(WORDS)], seed=1)
    import torch

    torch.manual_seed(1)
    cross_encoder.load(folder / "bi", 32, to_train=True).save_pretrained(str(folder / "cross"), create_model_card=False)
    for name, of_query, of_document in (("long", 99, 99), ("short", 2, 3)):
        (folder / name).mkdir()
        documents = ((key, first_words(text, of_document)) for key, text in DOCUMENTS.items())
        write_corpus(folder / name / "corpus.jsonl", (Document(key, "", text) for key, text in documents))
        queries = {key: first_words(text, of_query) for key, text in QUERIES.items()}
        write_queries(folder / name / "queries.jsonl", queries)
        write_run(folder / name / "first", {query: dict.fromkeys(DOCUMENTS, 1.0) for query in QUERIES}, "first")
    return folder


def ranked(folder, out, texts, model, script, lengths, **further):
    out.mkdir(exist_ok=True)
    settings = {"type": f"{model}-encoder", "max_length": 32, "batch_size": 4, "depth": 20, "tag": "t"} | lengths
    paths = {"checkpoint": folder / model, "corpus": folder / texts / "corpus.jsonl"}
    paths |= {"queries": folder / texts / "queries.jsonl", "run": out / "run", "timing": out / "t.json"} | further
    call(script, settings | ({} if script is retrieve else {"backend": "torch"}), **paths)
    timing = json.loads((out / "t.json").read_text())
    assert lengths.items() <= timing.items() and (lengths or "max_query_length" not in timing)
    return read_run(out / "run")


def encoded(folder, out, texts, **lengths):
    out.mkdir(exist_ok=True)
    settings = {"type": "bi-encoder", "max_length": 32, "batch_size": 4} | lengths
    paths = {"checkpoint": folder / "bi", "corpus": folder / texts / "corpus.jsonl"}
    call(encode, settings, **paths, index=out / "e.index", timing=out / "e.json")
    return {"index": out / "e.index"}


def like(one, other):
    return all(one[query] == pytest.approx(other[query], abs=1e-5) for query in QUERIES)


@pytest.mark.parametrize("way", ["retrieve", "rerank", "rerank pairs", "score all"])
def test_what_is_cut_is_ranked_as_if_it_were_written_so(folder, tmp_path, way):
    model = "bi" if way in ("retrieve", "rerank") else "cross"
    script = {"retrieve": retrieve, "score all": score_all}.get(way, rerank)

    def run(name, texts, lengths):
        further = {"first_stage": folder / texts / "first"} if script is rerank else {}
        if script is retrieve:
            of_documents = {key: value for key, value in lengths.items() if "document" in key}
            further = encoded(folder, tmp_path / name, texts, **of_documents)
        return ranked(folder, tmp_path / name, texts, model, script, lengths, **further)

    cut, short, whole = run("cut", "long", LENGTHS), run("short", "short", {}), run("whole", "long", {})
    assert like(cut, short) and not like(cut, whole)
    for key, count in LENGTHS.items():  # each limit alone
        assert not like(run("one", "long", {key: count}), short)


def test_embeddings_are_those_of_the_cut_documents(folder, tmp_path):
    cut = np.load(encoded(folder, tmp_path / "a", "long", max_document_length=3)["index"] / "vectors.npy")
    short = np.load(encoded(folder, tmp_path / "b", "short")["index"] / "vectors.npy")
    assert np.allclose(cut, short, atol=1e-5)
    assert json.loads((tmp_path / "a" / "e.json").read_text())["max_document_length"] == 3
    assert "max_document_length" not in json.loads((tmp_path / "b" / "e.json").read_text())


def test_lengths_that_do_not_fit_are_a_mistake(folder, tmp_path):
    too_much = {"max_query_length": 10, "max_document_length": 20}  # and three special tokens, of 32
    with pytest.raises(UserError, match="max_query_length 10 and max_document_length 20 do not fit into max_length 32"):
        first = folder / "long" / "first"
        ranked(folder, tmp_path / "x", "long", "cross", rerank, too_much, first_stage=first)
    assert not (tmp_path / "x" / "run").exists()
