"""Prompts in inference: every way of ranking gives what it gives for texts that begin with them, in another order."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import ranking, read_run, write_run
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.score_all import score_all
from scripts.inference.search import search as retrieve
from tests.support.calling import call
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS

BOTH = {"query": "ashen elmwood figling ", "document": "yewlet yewlet "}
QUERIES = {f"q{n}": f"{WORDS[n]} {WORDS[n + 3]}" for n in range(6)}
DOCUMENTS = {f"d{n}": " ".join(WORDS[(n + 3 * m) % 20] for m in range(2 + n % 5)) for n in range(20)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The model without prompts and storing them; the collection as it is and with prompts written into its texts."""
    folder = tmp_path_factory.mktemp("prompts")
    for model in ("none", "stored"):
        build(folder / model, [" ".join(WORDS)], seed=1)
    (folder / "stored" / "config_sentence_transformers.json").write_text(json.dumps({"prompts": BOTH}))
    for name, put in (("plain", {"query": "", "document": ""}), ("by-hand", BOTH)):
        (folder / name).mkdir()
        documents = (Document(key, "", put["document"] + text) for key, text in DOCUMENTS.items())
        write_corpus(folder / name / "corpus.jsonl", documents)
        write_queries(folder / name / "queries.jsonl", {key: put["query"] + text for key, text in QUERIES.items()})
        write_run(folder / name / "first", {query: dict.fromkeys(DOCUMENTS, 1.0) for query in QUERIES}, "first")
    return folder


def ranked(folder, out, way, model, texts, prompts=None):
    """The run, and what both timings say of prompts."""
    out.mkdir()
    given = {"prompts": prompts} if prompts else {}
    settings = {"type": "bi-encoder", "max_length": 32, "batch_size": 4}
    paths = {"checkpoint": folder / model, "corpus": folder / texts / "corpus.jsonl"}
    reported = {}
    if "encoded" in way:
        of_documents = {role: prompt for role, prompt in (prompts or {}).items() if role == "document"}
        encoding = settings | ({"prompts": of_documents} if of_documents else {})
        call(encode, encoding, **paths, index=out / "e.index", timing=out / "e.json")
        paths["index"] = out / "e.index"
        reported["encoding"] = json.loads((out / "e.json").read_text()).get("prompts")
    script = retrieve if "retrieve" in way else rerank
    further = {} if script is retrieve else {"backend": "torch"}
    paths |= {} if script is retrieve else {"first_stage": folder / texts / "first"}
    paths |= {"queries": folder / texts / "queries.jsonl", "run": out / "run", "timing": out / "t.json"}
    call(script, settings | further | {"depth": 20, "tag": "t"} | given, **paths)
    reported["ranking"] = json.loads((out / "t.json").read_text()).get("prompts")
    return read_run(out / "run"), reported


def like(one, other):
    return all(one[query] == pytest.approx(other[query], abs=1e-5) for query in QUERIES)


@pytest.mark.parametrize("way", ["retrieve encoded", "rerank", "rerank encoded"])
def test_prompts_are_put_before_queries_and_documents(folder, tmp_path, way):
    def run(name, model, texts, prompts=None):
        return ranked(folder, tmp_path / name, way, model, texts, prompts)

    encoding = {"encoding": {"document": BOTH["document"]}} if "encoded" in way else {}
    nothing = {part: None for part in ("ranking", *encoding)}
    by_hand, plain = run("hand", "none", "by-hand"), run("plain", "none", "plain")
    assert by_hand[1] == plain[1] == nothing  # timings as they were
    stored, given = run("stored", "stored", "plain"), run("given", "none", "plain", BOTH)
    for run_of_prompts, reported in (stored, given):
        assert like(run_of_prompts, by_hand[0]) and not like(run_of_prompts, plain[0])
        assert reported == {"ranking": BOTH, **encoding}
    orders = [[ranking(of[query]) for query in QUERIES] for of in (stored[0], plain[0])]
    assert orders[0] != orders[1]  # not the scores alone
    off = run("off", "stored", "plain", {"query": "", "document": ""})
    assert like(off[0], plain[0]) and off[1] == nothing
    other = run("other", "stored", "plain", {"query": WORDS[9] + " "})
    assert not like(other[0], stored[0]) and other[1]["ranking"] == BOTH | {"query": WORDS[9] + " "}


def test_another_prompt_of_queries_leaves_the_embeddings_as_they_are(folder, tmp_path):
    for name, prompts in (("a", {"query": "ashen "}), ("b", None)):
        ranked(folder, tmp_path / name, "retrieve encoded", "stored", "plain", prompts)
    assert np.array_equal(*(np.load(tmp_path / name / "e.index/vectors.npy") for name in "ab"))


def test_a_model_of_pairs_is_given_none_of_documents(folder, tmp_path):
    settings = {"type": "cross-encoder", "backend": "torch", "max_length": 32, "batch_size": 4, "depth": 5, "tag": "t"}
    names = {"checkpoint": "none", "corpus": "plain/corpus.jsonl", "queries": "plain/queries.jsonl"}
    paths = {name: folder / path for name, path in names.items()} | {"run": tmp_path / "r", "timing": tmp_path / "t"}
    with pytest.raises(UserError, match=r"^prompts: unknown key 'document'; expected query$"):
        call(rerank, settings | {"prompts": BOTH}, **paths, first_stage=folder / "plain" / "first")
    with pytest.raises(UserError, match=r"^prompts: unknown key 'document'; expected query$"):
        call(score_all, settings | {"prompts": BOTH}, **paths)
