"""Static embeddings rank as with the library, whatever layout they are saved in; what they cannot do is said."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter
from ranktrial.models.cutting import cutting_encoder
from ranktrial.models.loaded import size_batches
from ranktrial.training.training_settings import Settings as Training
from scripts.inference.export import Settings, export_checkpoint
from scripts.training.weights import weights
from tests.support.calling import call
from tests.support.one_line import refused
from tests.support.tiny_bert import vocabulary
from tests.support.tiny_task import SCHEDULE

WORDS = ["ash elm fig oak yew", "the price of oats in august", "rain"]
TEXTS = ["Oak", "yew  ash elm", "the price of oats in august rain fig", "", "zebra! oak", "elm fig"]
PROMPTS = {"query": "price of ", "document": "rain "}
LIBRARY, FORMER = "sentence_transformers.sentence_transformer.modules.static_embedding", "sentence_transformers.models"


def library_model(**further):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from transformers import BertTokenizerFast

    tokenizer = BertTokenizerFast(vocab={word: n for n, word in enumerate(vocabulary(WORDS))})
    rows = np.random.default_rng(1).normal(size=(len(vocabulary(WORDS)), 8)).astype(np.float32)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=rows)], device="cpu", **further)


def saved(folder: Path, **further) -> Path:
    library_model(**further).save_pretrained(str(folder), create_model_card=False)
    return folder


def former(folder: Path) -> Path:
    """As the library saved it before version 5: in a folder of the module."""
    saved(folder)
    (folder / "0_StaticEmbedding").mkdir()
    for file in ("model.safetensors", "tokenizer.json"):
        (folder / file).rename(folder / "0_StaticEmbedding" / file)
    module = {"idx": 0, "name": "0", "path": "0_StaticEmbedding", "type": f"{FORMER}.StaticEmbedding"}
    (folder / "modules.json").write_text(json.dumps([module]))
    return folder


def of_model2vec(folder: Path) -> Path:
    """As Model2Vec saves it: a config.json, rows that several tokens share, and a weight of each token."""
    from safetensors.numpy import save_file

    saved(folder)
    drawn, tokens = np.random.default_rng(2), len(vocabulary(WORDS))
    save_file(
        {
            "embeddings": drawn.normal(size=(20, 8)).astype(np.float32),
            "mapping": drawn.integers(0, 20, tokens),
            "weights": drawn.uniform(0.1, 2, tokens),
        },
        folder / "model.safetensors",
    )
    (folder / "config.json").write_text('{"model_type": "model2vec", "architectures": ["StaticModel"]}')
    kinds = {".": f"{FORMER}.StaticEmbedding", "1_Normalize": f"{FORMER}.Normalize"}
    modules = [{"idx": n, "name": str(n), "path": path, "type": kind} for n, (path, kind) in enumerate(kinds.items())]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


MADE = {
    "plain": saved,
    "prompts": lambda folder: saved(folder, prompts=PROMPTS),
    "dot": lambda folder: saved(folder, similarity_fn_name="dot"),
    "former": former,
    "model2vec": of_model2vec,
}


@pytest.mark.parametrize("name", MADE)
def test_published_models_become_checkpoints_with_the_vectors_of_the_library(tmp_path, name):
    from sentence_transformers import SentenceTransformer

    published, kind = MADE[name](tmp_path / "published"), adapter("bi-encoder")
    call(weights, {"source": str(published)}, checkpoint=tmp_path / "checkpoint")
    library, model = SentenceTransformer(str(published), device="cpu"), kind.load(tmp_path / "checkpoint", 64)
    for role, encode in (("query", library.encode_query), ("document", library.encode_document)):
        expected = encode(TEXTS, normalize_embeddings=name != "dot")
        for size in (1, 4, 10):
            np.testing.assert_allclose(kind.encode(model, TEXTS, size, role), expected, rtol=0, atol=1e-6)
    assert len(np.unique(expected.round(3), axis=0)) == len(TEXTS)


def test_max_length_keeps_the_first_tokens_and_no_more_than_the_tokenizer_does(tmp_path):
    kind, folder = adapter("bi-encoder"), saved(tmp_path / "model")
    texts = ["ash elm fig oak", "ash elm", "rain oats price"]
    first = ["ash elm", "ash elm", "rain oats"]
    expected = library_model().encode(first, normalize_embeddings=True)
    np.testing.assert_allclose(kind.encode(kind.load(folder, 2), texts, 3, "query"), expected, rtol=0, atol=1e-6)
    asked = Training(**SCHEDULE | {"max_length": 64, "max_query_length": 2})
    cut = cutting_encoder(kind, kind.load(folder, 64), asked)
    np.testing.assert_allclose(cut(texts, 3, "query"), expected, rtol=0, atol=1e-6)
    stored = json.loads((folder / "tokenizer.json").read_text())
    stored["truncation"] = {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    (folder / "tokenizer.json").write_text(json.dumps(stored))
    last = library_model().encode(["fig oak", "ash elm", "oats price"], normalize_embeddings=True)
    np.testing.assert_allclose(kind.encode(kind.load(folder, 2), texts, 3, "query"), last, rtol=0, atol=1e-6)
    with refused(f"{folder}: max_length is 4, but this model takes at most 3 tokens"):
        kind.load(folder, 4)


def test_first_dimensions_and_batches_by_tokens(tmp_path, capsys):
    kind = adapter("bi-encoder")
    model = kind.load(saved(tmp_path / "model"), 64)
    whole = kind.encode(model, TEXTS, 2, "document")
    size_batches(kind, model, 6)
    assert np.array_equal(kind.encode(model, TEXTS, 2, "document"), whole)
    assert (
        "batches of 2 texts, not by tokens: the model has no fast tokenizer of transformers" in capsys.readouterr().err
    )
    cut = kind.truncate(model, 4)
    np.testing.assert_allclose(kind.encode(model, TEXTS, 2, "document"), cut(whole), rtol=0, atol=1e-6)


def test_what_it_cannot_do_is_said_in_one_line(tmp_path):
    folder = saved(tmp_path / "model")
    with refused(f"{folder}: a static embedding (StaticEmbedding) cannot be trained here; leave out the recipe"):
        adapter("bi-encoder").load(folder, 64, to_train=True)
    with refused("cannot be exported to ONNX: it takes offsets"):
        export_checkpoint(
            adapter("bi-encoder"), folder, tmp_path, Settings(type="bi-encoder", max_length=24, precision="fp32")
        )
    for kind in ("cross-encoder", "sparse-encoder", "multi-vector", "query-generator"):
        model_type = adapter(kind)
        read = getattr(model_type, "load", None) or model_type.load_writer
        with refused(f"{folder}: a static embedding (StaticEmbedding); only bi-encoders may be one"):
            read(folder, 64, 1)


def test_the_tokenizer_has_to_be_there_and_to_be_its_own(tmp_path):
    kind, folder = adapter("bi-encoder"), saved(tmp_path / "model")
    known = len(vocabulary(WORDS))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    image = tokenizer["added_tokens"][0] | {"id": known, "content": "<image>"}
    (folder / "tokenizer.json").write_text(
        json.dumps(tokenizer | {"added_tokens": [*tokenizer["added_tokens"], image]})
    )
    with_image = kind.load(folder, 64)
    assert np.isfinite(kind.encode(with_image, TEXTS, 2, "document")).all()
    with refused(f"{folder}: a text has the token '<image>' with the number {known}"):
        kind.encode(with_image, [*TEXTS, "an <image>"], 2, "document")
    tokenizer["model"]["vocab"]["zebra"] = known
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with refused(f"its tokenizer has numbers up to {known} (the token 'zebra')", "it is another model's"):
        kind.load(folder, 64)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("ash\n")
    with refused(f"{folder}: no tokenizer beside its weights (tokenizer.json)"):
        kind.load(folder, 64)


def test_another_first_module_is_named(tmp_path):
    folder = saved(tmp_path / "model")
    modules = json.loads((folder / "modules.json").read_text())
    assert [module["type"] for module in modules] == [f"{LIBRARY}.StaticEmbedding"]
    (folder / "modules.json").write_text(json.dumps([modules[0] | {"type": f"{FORMER}.WordEmbeddings"}]))
    with refused(f"{folder}: its first module is a WordEmbeddings; expected a Transformer or a StaticEmbedding"):
        adapter("bi-encoder").load(folder, 64)


def test_a_table_without_rows_for_its_tokens_is_not_filled_at_random(tmp_path):
    from safetensors.numpy import save_file

    folder = shutil.copytree(saved(tmp_path / "model"), tmp_path / "other")
    save_file({"rows": np.ones((3, 8), np.float32)}, folder / "model.safetensors")
    with refused(f"{folder}: cannot be loaded: "):
        adapter("bi-encoder").load(folder, 64)
