"""Bi-encoders in ONNX: against vectors by hand, through encoding and search, and mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.adapters import adapter
from ranktrial.models.onnx_texts import OnnxBiEncoder, write_pooling
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.search import search as retrieve
from scripts.training.weights import weights
from tests.support.calling import call
from tests.support.tiny_onnx import bi_encoder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ash", "elm", "fig", "oak", "yew"]
TEXTS = ["ash", "elm fig oak yew", "yew yew", "oak ash elm"]


def made(folder: Path, pooling: str) -> Path:
    """A folder with a model whose vectors can be worked out by hand."""
    folder.mkdir()
    embeddings = np.random.default_rng(2).standard_normal((len(WORDS), 4)).astype(np.float32)
    np.save(folder / "embeddings.npy", embeddings)
    bi_encoder(folder / "model.onnx", embeddings, pooled=pooling == "none")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    write_pooling(folder, pooling)
    return folder


def by_hand(folder: Path, pooling: str, text: str) -> np.ndarray:
    tokens = np.load(folder / "embeddings.npy")[[WORDS.index(word) for word in f"[CLS] {text} [SEP]".split()]]
    vector = tokens[0] if pooling == "cls" else tokens.mean(axis=0)  # a sum has the direction of the mean
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["cls", "mean", "none"])
@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_vectors_are_pooled_of_unit_length_and_those_of_their_texts(tmp_path, pooling, batch_size):
    folder = made(tmp_path / "tiny", pooling)
    vectors = OnnxBiEncoder(folder, 32).encode(TEXTS, batch_size, "document")
    assert vectors.dtype == np.float32 and vectors.shape == (4, 4)
    # 24 bits a number, of sums of up to six numbers of size one
    np.testing.assert_allclose(vectors, [by_hand(folder, pooling, text) for text in TEXTS], rtol=0, atol=1e-6)


@pytest.mark.parametrize("pooling", ["mean", "none"])
def test_batches_that_pass_at_the_same_time_give_the_same_in_the_same_order(tmp_path, monkeypatch, pooling):
    folder = made(tmp_path / "tiny", pooling)
    texts = [" ".join(WORDS[5 + n * step % 5] for n in range(1 + step % 7)) for step in range(40)]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    one = OnnxBiEncoder(folder, 32)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    three = OnnxBiEncoder(folder, 32)
    assert np.array_equal(one.encode(texts, 2, "document"), three.encode(texts, 2, "document"))
    assert "narrow" in vars(three.session) and "narrow" not in vars(one.session)
    three = OnnxBiEncoder(folder, 32)
    three.encode(texts[:4], 2, "document")  # two batches are fewer than threads, which then share each
    assert "narrow" not in vars(three.session)
    monkeypatch.setattr(three.session, "run", lambda *of: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        three.encode(texts, 2, "document")


def test_a_prompt_of_its_role_stands_before_a_text_and_long_texts_are_cut(tmp_path):
    folder, kind = made(tmp_path / "tiny", "mean"), adapter("bi-encoder")
    model = kind.load(folder, 4)
    assert kind.prompts(model) == {"query": "", "document": ""}
    kind.give_prompts(model, {"query": "fig "})
    (query,), (document,) = (kind.encode(model, ["ash"], 1, role) for role in ("query", "document"))
    np.testing.assert_allclose(query, by_hand(folder, "mean", "fig ash"), rtol=0, atol=1e-6)
    np.testing.assert_allclose(document, by_hand(folder, "mean", "ash"), rtol=0, atol=1e-6)
    (cut,) = kind.encode(model, ["elm elm oak yew"], 1, "document")
    np.testing.assert_allclose(cut, by_hand(folder, "mean", "elm elm"), rtol=0, atol=1e-6)
    assert kind.tokenizer(model).num_special_tokens_to_add(False) == 2


def test_it_encodes_searches_and_re_ranks_as_any_bi_encoder(tmp_path):
    folder = made(tmp_path / "tiny", "mean")
    documents = {f"d{place}": text for place, text in enumerate(TEXTS)}
    write_corpus(tmp_path / "corpus.jsonl", (Document(name, "", text) for name, text in documents.items()))
    write_queries(tmp_path / "queries.jsonl", {"q": "ash elm"})
    write_run(tmp_path / "first", {"q": dict.fromkeys(documents, 1.0)}, "x")
    paths = {"checkpoint": folder, "corpus": tmp_path / "corpus.jsonl", "index": tmp_path / "e.index"}
    settings = {"type": "bi-encoder", "max_length": 32, "batch_size": 2, "max_document_length": 3}
    call(encode, settings, **paths, timing=tmp_path / "encoding.json")
    kept = {name: " ".join(text.split()[:3]) for name, text in documents.items()}
    expected = {
        name: float(by_hand(folder, "mean", text) @ by_hand(folder, "mean", "ash elm")) for name, text in kept.items()
    }
    ranking = settings | {"depth": 4, "tag": "tiny"}
    call(retrieve, ranking, **paths, queries=tmp_path / "queries.jsonl", run=tmp_path / "run",
         timing=tmp_path / "searching.json")  # fmt: skip
    assert read_run(tmp_path / "run")["q"] == pytest.approx(expected, abs=1e-6)
    again = paths | {"index": [], "first_stage": tmp_path / "first", "queries": tmp_path / "queries.jsonl"}
    call(rerank, ranking | {"backend": "onnx"}, **again, run=tmp_path / "again", timing=tmp_path / "re.json")
    assert read_run(tmp_path / "again")["q"] == pytest.approx(expected, abs=1e-6)
    for file in ("encoding.json", "searching.json", "re.json"):
        timing = json.loads((tmp_path / file).read_text())
        assert (timing["precision"], timing["device"]) == ("fp32", "cpu") and timing["versions"]["onnxruntime"]


def test_weights_take_the_pooling_with_them(tmp_path):
    source = made(tmp_path / "source", "mean")
    (source / "pooling.json").unlink()
    settings = {"backend": "onnx", "pooling": "cls", "source": str(source)}
    call(weights, settings, checkpoint=tmp_path / "out")
    (vector,) = OnnxBiEncoder(tmp_path / "out", 8).encode(["ash"], 1, "query")
    np.testing.assert_allclose(vector, by_hand(source, "cls", "ash"), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("file", "said", "problem"),
    [
        ("mean", "none", r"pooling none needs one vector per text, its outputs are token_embeddings \['batch', 'tokens', 4\]"),
        ("none", "cls", r"pooling cls needs one vector per token, its outputs are sentence_embedding \['batch', 4\]"),
        ("mean", "max", r"pooling.json: pooling is 'max'; expected cls, mean, none"),
    ],
)  # fmt: skip
def test_a_pooling_that_does_not_fit_is_one_line(tmp_path, file, said, problem):
    folder = made(tmp_path / "tiny", file)
    write_pooling(folder, said)
    with pytest.raises(UserError, match=problem):
        OnnxBiEncoder(folder, 8)


def test_a_missing_pooling_and_infinite_vectors_are_one_line(tmp_path):
    folder = made(tmp_path / "tiny", "mean")
    (folder / "pooling.json").unlink()
    with pytest.raises(UserError, match=r"it has no pooling\.json"):
        OnnxBiEncoder(folder, 8)
    write_pooling(folder, "mean")
    bi_encoder(folder / "model.onnx", np.full((len(WORDS), 4), np.inf, np.float32))
    with pytest.raises(UserError, match="no finite numbers"):
        OnnxBiEncoder(folder, 8).encode(["ash"], 1, "query")
