"""Encoding, retrieval and re-ranking: order, memory maps, ties, mistakes, and a published table with real weights."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import read_queries
from ranktrial.ir.trec import ranking, read_run, write_run
from ranktrial.models.types import bi_encoder, cross_encoder
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.search import search
from tests.support.calling import call
from tests.support.printed import differing
from tests.support.tiny_ranking import Ranker, build_two_kinds, check_re_ranked
from tests.support.tiny_task import WORDS, write_collection

RANKER = Ranker("bi-encoder", "bi", "vectors")


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Path:
    """A bi-encoder, a cross-encoder and a collection in which two documents have the same text."""
    folder = tmp_path_factory.mktemp("task")
    build_two_kinds(folder)
    write_collection(folder)
    return folder


def encode_task(task: Path, out: Path, **changes: Path) -> np.ndarray:
    return np.load(RANKER.encode(task, out, **changes) / "vectors.npy", mmap_mode="r")


def rerank_task(task: Path, out: Path, kind: str, **changes: Path) -> dict:
    paths = {"checkpoint": task / kind, "corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl"}
    paths |= {"first_stage": task / "first.trec", "run": out / f"{kind}.trec", "timing": out / f"{kind}.json"} | changes
    settings = {
        "type": f"{kind}-encoder",
        "max_length": 32,
        "batch_size": 4,
        "depth": 5,
        "tag": "tiny",
        "backend": "torch",
    }
    call(rerank, settings, **paths)
    return read_run(paths["run"])


def test_rows_are_in_the_order_of_the_corpus_whatever_the_chunks(task, tmp_path, monkeypatch):
    model = bi_encoder.load(task / "bi", 16)
    contents = [json.loads(line)["text"] for line in (task / "corpus.jsonl").read_text().splitlines()]
    one_by_one = np.concatenate([bi_encoder.encode(model, [text], 1, "document") for text in contents])
    for batches in (1, 3, 32):
        monkeypatch.setattr("ranktrial.inference.encoding_settings.BATCHES", batches)
        rows = encode_task(task, tmp_path)
        assert rows.dtype == np.float32
        assert np.allclose(rows, one_by_one, atol=1e-5)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    timing = json.loads((tmp_path / "e.json").read_text())
    assert timing["documents"] == 51
    assert timing["documents_per_second"] == pytest.approx(51 / timing["seconds"])
    assert (timing["precision"], timing["batch_size"], timing["device"]) == ("fp32", 4, "cpu")


def test_a_model_of_dot_products_is_not_normalised(task, tmp_path):
    folder = shutil.copytree(task / "bi", tmp_path / "dot")
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"similarity_fn_name": "dot"}))
    rows = encode_task(task, tmp_path, checkpoint=folder)
    assert not np.allclose(np.linalg.norm(rows, axis=1), 1, atol=0.1)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"similarity_fn_name": "euclidean"}))
    with pytest.raises(UserError, match="its similarity is euclidean"):
        bi_encoder.load(folder, 16)


def test_prompts_of_the_model_are_used(task, tmp_path):
    folder = shutil.copytree(task / "bi", tmp_path / "prompts")
    prompts = {"prompts": {"query": "ashen ", "document": "yewwood "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    plain, prompted = bi_encoder.load(task / "bi", 16), bi_encoder.load(folder, 16)
    for role, text in (("query", "ashen elmen"), ("document", "yewwood elmen")):
        expected = bi_encoder.encode(plain, [text], 1, role)
        assert np.allclose(bi_encoder.encode(prompted, ["elmen"], 1, role), expected, atol=1e-6)


def test_retrieval_finds_what_brute_force_finds(task, tmp_path):
    rows = encode_task(task, tmp_path)
    run = RANKER.retrieve(task, tmp_path)
    queries = read_queries(task / "queries.jsonl")
    ids = [json.loads(line)["_id"] for line in (task / "corpus.jsonl").read_text().splitlines()]
    asked = bi_encoder.encode(bi_encoder.load(task / "bi", 16), list(queries.values()), 4, "query")
    assert list(run) == list(queries)
    for query, vector in zip(queries, asked, strict=True):
        scores = dict(zip(ids, (rows @ vector).tolist(), strict=True))
        assert len(run[query]) == 10
        assert all(run[query][name] == pytest.approx(scores[name], abs=1e-5) for name in run[query])
        assert min(run[query].values()) >= sorted(scores.values())[-10] - 1e-5
    timing = json.loads((tmp_path / "run.json").read_text())
    assert (timing["queries"], timing["latency_ms"]["n"], timing["depth"]) == (6, 6, 10)
    assert len(RANKER.retrieve(task, tmp_path, depth=1000)["q1"]) == 51


def test_a_cross_encoder_ranks_the_top_of_the_first_stage(task, tmp_path):
    run = rerank_task(task, tmp_path, "cross")
    first = read_run(task / "first.trec")
    model = cross_encoder.load(task / "cross", 32)
    queries = read_queries(task / "queries.jsonl")
    texts = {(r := json.loads(line))["_id"]: r["text"] for line in (task / "corpus.jsonl").read_text().splitlines()}
    assert list(run) == list(first)
    for query, documents in run.items():
        assert set(documents) == set(ranking(first[query])[:5])
        for name, score in documents.items():
            assert score == pytest.approx(
                cross_encoder.score_pairs(model, [(queries[query], texts[name])], 1)[0], abs=1e-5
            )
    assert min(min(documents.values()) for documents in run.values()) < 0  # logits, not probabilities
    timing = json.loads((tmp_path / "cross.json").read_text())
    assert (timing["pairs"], timing["queries"], timing["latency_ms"]["n"]) == (25, 5, 5)


def test_a_bi_encoder_re_ranks_as_it_retrieves(task, tmp_path):
    encode_task(task, tmp_path)
    everything = RANKER.retrieve(task, tmp_path, depth=1000)
    run = rerank_task(task, tmp_path, "bi")
    check_re_ranked(task, run, everything, abs=1e-5)


def test_a_run_or_embeddings_of_another_corpus_are_mistakes(task, tmp_path):
    write_run(tmp_path / "other.trec", {"q1": {"d1": 1.0, "elsewhere": 2.0}}, "x")
    with pytest.raises(UserError, match=r"other.trec: 1 of its documents are not in .*corpus.jsonl, such as elsewhere"):
        rerank_task(task, tmp_path, "cross", first_stage=tmp_path / "other.trec")
    write_run(tmp_path / "other.trec", {"unknown": {"d1": 1.0}}, "x")
    with pytest.raises(UserError, match="no query"):
        rerank_task(task, tmp_path, "cross", first_stage=tmp_path / "other.trec")
    vectors = tmp_path / "e.vectors/vectors.npy"
    vectors.parent.mkdir()
    np.save(vectors, np.zeros((3, 32), np.float32))
    with pytest.raises(UserError, match=r"e.vectors: of 3 documents, but the corpus has 51; encode it again"):
        RANKER.retrieve(task, tmp_path)
    vectors.write_bytes(vectors.read_bytes()[:200])
    with pytest.raises(UserError, match="not a complete index"):
        RANKER.retrieve(task, tmp_path)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UserError, match="no query"):
        RANKER.retrieve(task, tmp_path, queries=tmp_path / "empty.jsonl")
    with pytest.raises(UserError, match="the corpus is empty"):
        encode_task(task, tmp_path, corpus=tmp_path / "empty.jsonl")
    assert not (tmp_path / "cross.trec").exists()


def test_what_is_no_model_is_a_mistake(task, tmp_path):
    with pytest.raises(UserError, match="no such model folder"):
        bi_encoder.load(tmp_path / "absent", 16)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"not a model, it has no config.json"):
        bi_encoder.load(tmp_path / "empty", 16)
    half = shutil.copytree(task / "bi", tmp_path / "half")
    content = (half / "model.safetensors").read_bytes()
    (half / "model.safetensors").write_bytes(content[:-10])
    with pytest.raises(UserError, match="damaged weights"):
        bi_encoder.load(half, 16)
    (half / "model.safetensors").unlink()
    with pytest.raises(UserError, match="it has no weights"):
        cross_encoder.load(half, 16)
    alien = shutil.copytree(task / "bi", tmp_path / "alien")
    (alien / "config.json").write_text(json.dumps({"model_type": "no-such-architecture"}))
    with pytest.raises(UserError, match="alien: cannot be loaded") as raised:
        bi_encoder.load(alien, 16)
    assert "\n" not in str(raised.value)


def test_a_cross_encoder_needs_a_single_trained_score(task, tmp_path):
    with pytest.raises(UserError, match="no scoring head, so scores would be random"):
        cross_encoder.load(task / "bi", 16)
    two = shutil.copytree(task / "cross", tmp_path / "two")
    config = json.loads((two / "config.json").read_text())
    (two / "config.json").write_text(json.dumps(config | {"id2label": {"0": "no", "1": "yes"}}))
    with pytest.raises(UserError, match=r"2 of its tensors have another shape \(classifier.bias is \[1\], not \[2\]"):
        cross_encoder.load(two, 16)


def test_a_diverged_model_is_a_mistake(task, tmp_path):
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(task / "bi", tmp_path / "diverged")
    values = {name: np.full_like(value, np.nan) for name, value in load_file(folder / "model.safetensors").items()}
    save_file(values, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match="no finite numbers"):
        encode_task(task, tmp_path, checkpoint=folder)
    assert not (tmp_path / "e.vectors").exists()


def test_max_length_is_held_to_what_the_model_takes(task):
    with pytest.raises(UserError, match="max_length is 65, but this model takes at most 64 tokens"):
        bi_encoder.load(task / "bi", 65)
    model = bi_encoder.load(task / "bi", 4)
    assert np.array_equal(*bi_encoder.encode(model, [" ".join(WORDS), " ".join(WORDS[:2])], 2, "query"))


@pytest.mark.long  # 10,375 claims are encoded
def test_the_published_figures_of_clef_2020_come_out(clef, published, minilm, tmp_path):
    """Table A.3 of the thesis, all-MiniLM-L6-v2: all 20 cells."""
    settings = RANKER.settings | {"max_length": 128, "batch_size": 32}
    paths = {"checkpoint": minilm, "corpus": clef / "corpus.jsonl", "index": tmp_path / "e.vectors"}
    call(encode, settings, **paths, timing=tmp_path / "e.json")
    queries = clef / "queries" / "test.jsonl"
    paths |= {"queries": queries, "run": tmp_path / "run", "timing": tmp_path / "t.json"}
    call(search, settings | {"depth": 1000, "tag": "minilm"}, **paths)
    cells = published("A.3", "all-MiniLM-L6-v2")
    assert len(cells) == 20
    assert differing(tmp_path / "run", clef / "qrels/test.qrels", cells, tmp_path / "metrics.tsv") == {}
