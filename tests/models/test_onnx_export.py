"""Checkpoints turned into ONNX: against sentence-transformers itself in fp32, int8 by batches, and what cannot be."""

import json
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.inference.indices import weights_sha256
from ranktrial.models import loading  # noqa: F401 - first: it sets what the libraries read while they are imported
from ranktrial.models.adapters import adapter
from ranktrial.models.onnx_session import precision
from scripts.inference.export import Settings, export, export_checkpoint
from tests.support.calling import call
from tests.support.tiny_bert import SPECIAL, build, build_masked, vocabulary
from tests.support.tiny_routes import build_routed

WORDS = ["ash elm fig oak yew", "the price of oats in august", "rain"]
TEXTS = ["Oak", "yew  ash elm", "the price of oats in august rain fig " * 3, "", "zebra! oak", "ash " * 90]
PROMPTS = {"query": "price of ", "document": "rain "}


@pytest.fixture(scope="module")
def with_dense(tmp_path_factory) -> Path:
    """A BERT with pooling by maximum, a dense layer behind it, prompts, and the dot product."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    folder = tmp_path_factory.mktemp("dense")
    transformer = Transformer(str(build(folder / "start", WORDS, seed=1)))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="max")
    modules = [transformer, pooling, Dense(32, 8)]
    SentenceTransformer(modules=modules, prompts=PROMPTS, similarity_fn_name="dot").save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="module")
def exported(with_dense) -> Path:
    kind, folder = adapter("bi-encoder"), with_dense.parent / "fp32"
    folder.mkdir()
    export_checkpoint(kind, with_dense, folder, Settings(type="bi-encoder", max_length=24, precision="fp32"))
    return folder


def test_fp32_gives_the_vectors_of_the_library_for_any_texts_and_batches(with_dense, exported):
    from sentence_transformers import SentenceTransformer

    library, kind = SentenceTransformer(str(with_dense), device="cpu"), adapter("bi-encoder")
    library.max_seq_length = 24
    model = kind.load(exported, 24)
    assert kind.prompts(model) == PROMPTS
    for role, encode in (("query", library.encode_query), ("document", library.encode_document)):
        for size in (1, 3, 6):
            np.testing.assert_allclose(kind.encode(model, TEXTS, size, role), encode(TEXTS), rtol=0, atol=1e-4)
    assert np.abs(np.linalg.norm(library.encode(TEXTS), axis=1) - 1).max() > 0.01  # the dot product is not the cosine


def test_texts_are_truncated_from_the_side_of_the_tokenizer(with_dense, tmp_path):
    """The last words of a long text count; an ONNX file of others states the side in tokenizer_config.json."""
    from sentence_transformers import SentenceTransformer

    library, kind = SentenceTransformer(str(with_dense), device="cpu"), adapter("bi-encoder")
    library.tokenizer.truncation_side = "left"
    library.save(str(tmp_path / "left"))
    config = tmp_path / "left/tokenizer_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"truncation_side": "left"}))
    (tmp_path / "out").mkdir()
    export_checkpoint(
        kind, tmp_path / "left", tmp_path / "out", Settings(type="bi-encoder", max_length=8, precision="fp32")
    )
    library.max_seq_length = 8
    texts = ["ash elm " * 9 + "fig oak yew rain " * 2, "oak"]
    expected = library.encode_document(texts)
    for stated in (False, True):
        if stated:
            file = json.loads((tmp_path / "out/tokenizer.json").read_text())
            (tmp_path / "out/tokenizer.json").write_text(json.dumps(file | {"truncation": None}))
            (tmp_path / "out/tokenizer_config.json").write_text(json.dumps({"truncation_side": "left"}))
        model = kind.load(tmp_path / "out", 8)
        found = kind.encode(model, texts, 2, "document")
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
        assert np.abs(found[0] - kind.encode(model, [texts[0][:60]], 1, "document")).max() > 1e-3


def test_no_place_of_a_source_file_is_left_in_a_graph(exported):
    content = (exported / "model.onnx").read_bytes()
    assert b"site-packages" not in content and b".py" not in content and str(exported.parent).encode() not in content


def test_int8_is_small_repeats_itself_and_is_near_fp32(with_dense, exported, tmp_path):
    settings = {"type": "bi-encoder", "max_length": 24, "precision": "int8"}
    for name in ("one", "two"):
        call(export, settings, checkpoint=with_dense, exported=tmp_path / name)
    one, two = (tmp_path / name / "model.onnx" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes() and precision(one) == "int8"
    kind = adapter("bi-encoder")
    model = kind.load(tmp_path / "one", 24)
    assert kind.facts(model)["precision"] == "int8"
    vectors = kind.encode(model, TEXTS, 1, "query")
    assert np.array_equal(vectors, kind.encode(model, TEXTS, 1, "query"))
    whole = kind.encode(kind.load(exported, 24), TEXTS, 1, "query")
    cosines = (vectors * whole).sum(axis=1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(whole, axis=1)
    assert 0.99 < cosines.min() < 1


@pytest.mark.long
def test_positions_that_count_from_the_padding_and_another_architecture(tmp_path):
    import torch
    import transformers

    words = vocabulary(WORDS)
    transformers.BertTokenizerFast(vocab={word: n for n, word in enumerate(words)}).save_pretrained(tmp_path / "start")
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(5)
    configuration = transformers.RobertaConfig(
        vocab_size=len(words), pad_token_id=SPECIAL.index("[PAD]"), max_position_embeddings=66, **sizes
    )
    transformers.RobertaModel(configuration).save_pretrained(tmp_path / "start")
    target = tmp_path / "out"
    target.mkdir()
    assert (
        export_checkpoint(
            adapter("bi-encoder"),
            tmp_path / "start",
            target,
            Settings(type="bi-encoder", max_length=40, precision="fp32"),
        )
        < 1e-5
    )


@pytest.mark.long
def test_a_cross_encoder_gives_the_logits_of_the_library_with_its_prompt(tmp_path):
    from sentence_transformers import CrossEncoder
    from torch.nn import Identity

    kind = adapter("cross-encoder")
    start = kind.load(build(tmp_path / "start", WORDS, seed=2), 24, to_train=True)
    start.prompts, start.default_prompt_name = {"ask": "price of "}, "ask"
    start.save_pretrained(str(tmp_path / "model"))
    target = tmp_path / "out"
    target.mkdir()
    export_checkpoint(kind, tmp_path / "model", target, Settings(type="cross-encoder", max_length=24, precision="fp32"))
    pairs = [(query, document) for query in TEXTS[:3] for document in TEXTS]
    library = CrossEncoder(str(tmp_path / "model"), max_length=24, device="cpu")
    expected = library.predict(pairs, activation_fn=Identity(), show_progress_bar=False)
    for size in (1, 5):
        scorer = kind.load_scorer(target, 24, size, "onnx")
        np.testing.assert_allclose(scorer.score(pairs), expected, rtol=0, atol=1e-4)
    assert scorer.prompts == {"query": "price of "} and scorer.facts["prompts"] == {"query": "price of "}


@pytest.mark.long
def test_a_sparse_encoder_gives_the_weights_of_the_library_and_an_index_of_its_own(tmp_path):
    from sentence_transformers import SparseEncoder

    kind = adapter("sparse-encoder")
    library = SparseEncoder(str(build_masked(tmp_path / "start", WORDS, seed=1)), device="cpu", prompts=PROMPTS)
    library.save_pretrained(str(tmp_path / "model"), create_model_card=False)
    library.max_seq_length = 24
    for precision_of in ("fp32", "int8"):
        (tmp_path / precision_of).mkdir()
        settings = Settings(type="sparse-encoder", max_length=24, precision=precision_of)
        assert export_checkpoint(kind, tmp_path / "model", tmp_path / precision_of, settings) < 1e-5
    model = kind.load(tmp_path / "fp32", 24)
    assert kind.prompts(model) == PROMPTS and kind.facts(model)["precision"] == "fp32"
    for role, encode in (("query", library.encode_query), ("document", library.encode_document)):
        expected = encode(TEXTS).to_dense().numpy()
        for size in (1, 3, 6):
            found = kind.encode(model, TEXTS, size, role)
            np.testing.assert_allclose(found.toarray(), expected, rtol=0, atol=1e-4)
            assert found.nnz == np.count_nonzero(expected)
    small = kind.encode(kind.load(tmp_path / "int8", 24), TEXTS, 1, "query").toarray()
    whole = kind.encode(model, TEXTS, 1, "query").toarray()
    assert 0 < np.abs(small - whole).max() < 0.2 * whole.max()
    marks = {weights_sha256(tmp_path / name) for name in ("fp32", "int8", "model")}
    assert len(marks) == 3  # an index of one is not searched with another


def test_a_sparse_encoder_of_others_or_with_routes_is_refused(tmp_path, with_dense, exported):
    kind = adapter("sparse-encoder")
    with pytest.raises(UserError, match="not a sparse encoder that was exported here"):
        kind.load(exported, 24)
    routed = kind.load(build_routed(tmp_path / "routed", WORDS, seed=1), 24)
    with pytest.raises(UserError, match="its queries pass modules of their own"):
        kind.exportable(routed, tmp_path)


def test_a_graph_that_computes_something_else_is_refused(tmp_path, with_dense):
    kind = adapter("bi-encoder")

    class Wrong:
        SEARCHES, load, encode = True, staticmethod(kind.load), staticmethod(kind.encode)

        @staticmethod
        def exportable(model, folder):
            import dataclasses

            right = kind.exportable(model, folder)
            return dataclasses.replace(right, compute=lambda whole, tensors: right.compute(whole, tensors) * 1.001)

    with pytest.raises(UserError, match=r"the graph differs from torch by 1\.0e-03 of the largest number"):
        export_checkpoint(Wrong, with_dense, tmp_path, Settings(type="bi-encoder", max_length=24, precision="fp32"))


def test_a_pooling_without_the_prompt_is_refused_in_one_line(tmp_path, with_dense):
    import shutil

    shutil.copytree(with_dense, tmp_path / "model")
    (file,) = (tmp_path / "model").glob("*_Pooling/config.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"include_prompt": False}))
    settings = {"type": "bi-encoder", "max_length": 24, "precision": "fp32"}
    with pytest.raises(UserError, match=r"model: cannot be exported to ONNX: its pooling leaves out the prompt"):
        call(export, settings, checkpoint=tmp_path / "model", exported=tmp_path / "out")
    assert not (tmp_path / "out").exists()
