"""What graphs in ONNX take beside ids: positions, whole numbers of 32 bits; what is not given is one line at loading."""

import json
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.onnx_texts import OnnxBiEncoder, write_pooling
from tests.support.one_line import one_line, refused
from tests.support.tiny_onnx import FLOAT, INT32, INT64, bi_encoder, placed

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ash", "elm", "fig", "oak", "yew"]
TEXTS = ["ash", "elm fig oak yew", "yew yew", "oak ash elm"]
NUMBERS = np.random.default_rng(2).standard_normal((42, 4)).astype(np.float32)
OF_WORDS, OF_POSITIONS = NUMBERS[:10], NUMBERS[10:]


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    write_pooling(tmp_path, "mean")
    return tmp_path


@pytest.mark.parametrize("kind", [INT64, INT32])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_positions_count_from_0_in_whole_numbers_of_the_graphs_type(folder, kind, batch_size):
    placed(folder / "model.onnx", OF_WORDS, OF_POSITIONS, kind)
    found = OnnxBiEncoder(folder, 32).encode(TEXTS, batch_size, "document")
    for text, vector in zip(TEXTS, found, strict=True):
        tokens = [WORDS.index(word) for word in f"[CLS] {text} [SEP]".split()]
        expected = (OF_WORDS[tokens] + OF_POSITIONS[: len(tokens)]).mean(axis=0)
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), rtol=0, atol=1e-6)


def said(folder: Path) -> str:
    with pytest.raises(UserError) as refused:
        OnnxBiEncoder(folder, 32)
    one_line(refused, f"{folder}/model.onnx: ")
    return str(refused.value)


def test_what_is_not_given_is_one_line_before_anything_is_computed(folder):
    file = folder / "model.onnx"
    placed(file, OF_WORDS, OF_POSITIONS, position_ids="past_key_values.0.key")
    assert "the graph takes past_key_values.0.key; given are input_ids, attention_mask, token_type_ids, " in said(
        folder
    )
    placed(file, OF_WORDS, OF_POSITIONS, input_ids="attention_mask")
    assert "the graph takes no input_ids, so nothing of a text" in said(folder)
    placed(file, OF_WORDS, OF_POSITIONS, masked=False)
    assert "the graph takes no attention_mask, so padding would count as part of a text" in said(folder)
    bi_encoder(file, OF_WORDS, free=(1, "tokens"))  # one text at a time
    assert "computes no texts of its tokenizer: " in said(folder)
    bi_encoder(file, OF_WORDS, free=("batch", 128))  # texts of 128 tokens
    assert "computes no texts of its tokenizer: " in said(folder)
    bi_encoder(file, OF_WORDS[:9])  # the tokenizer is of another model
    assert "computes no texts of its tokenizer: " in said(folder)
    placed(file, OF_WORDS, OF_POSITIONS, FLOAT)
    assert "cannot be loaded: " in said(folder)  # ids are whole numbers in ONNX


def test_other_numbers_than_whole_ones_are_one_line(folder):
    file = folder / "model.onnx"
    bi_encoder(file, OF_WORDS, pooled=True, mask=FLOAT)
    write_pooling(folder, "none")
    assert "the graph takes attention_mask as float; given are int64 or int32" in said(folder)


def test_a_tokenizer_without_padding_pads_with_the_end_of_a_text(folder):
    """The embeddings of padding would count if the mask did not leave it out."""
    bi_encoder(folder / "model.onnx", OF_WORDS, pooled=True)
    write_pooling(folder, "none")
    expected = OnnxBiEncoder(folder, 32).encode(TEXTS, 4, "document")
    (folder / "vocab.txt").write_text("\n".join(["<end>", *WORDS[1:]]) + "\n")
    with refused("no token for padding ([PAD] or <pad>), nor one for the end of a text in tokenizer_config.json"):
        OnnxBiEncoder(folder, 32)
    for token in ("<end>", {"content": "<end>"}):
        (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": token, "pad_token": None}))
        assert np.array_equal(OnnxBiEncoder(folder, 32).encode(TEXTS, 4, "document"), expected)
