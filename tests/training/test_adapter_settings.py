"""Matryoshka losses and gradient checkpointing: those of the library, with weights as they should be."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import adapter
from tests.support.tiny_task import read_log, same, train, weights

FEW = {"epochs": 1, "learning_rate": 1e-2}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder", "multi-vector", "sparse-encoder"])
def test_gradient_checkpointing_changes_memory_and_no_weights(task, tmp_path, monkeypatch, kind):
    from torch.utils import checkpoint

    calls = []
    original = checkpoint.checkpoint

    def counted(*arguments, **named):
        calls.append(named)
        return original(*arguments, **named)

    monkeypatch.setattr("transformers.modeling_utils.checkpoint", counted)
    train(task, tmp_path / "plain", type=kind, **FEW)
    assert not calls
    train(task, tmp_path / "less", type=kind, gradient_checkpointing=True, **FEW)
    assert calls and all(named["use_reentrant"] is False for named in calls)
    one, other = weights(tmp_path / "plain"), weights(tmp_path / "less")
    for name, rows in one.items():
        np.testing.assert_allclose(rows, other[name], rtol=1e-4, atol=1e-6)
    losses = [[float(row["loss"]) for row in read_log(tmp_path / name)] for name in ("plain", "less")]
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_an_adapter_trains_alike_with_gradient_checkpointing_and_micro_batches(task, tmp_path):
    given = {"r": 4, "lora_alpha": 8, "lora_dropout": 0.0, "target_modules": "all-linear", "merge": True}
    train(task, tmp_path / "plain", lora=given, **FEW)
    train(task, tmp_path / "less", lora=given, gradient_checkpointing=True, **FEW)
    one, other = weights(tmp_path / "plain"), weights(tmp_path / "less")
    for name, rows in one.items():
        np.testing.assert_allclose(rows, other[name], rtol=1e-4, atol=1e-6)
    both = {"lora": given, "micro_batch": 2, "gradient_checkpointing": True, "matryoshka_dims": [32, 8]}
    train(task, tmp_path / "all", **both, **FEW)
    reported = json.loads((tmp_path / "all/timing.json").read_text())
    assert all(reported[key] == value for key, value in both.items())


@pytest.mark.long
@pytest.mark.parametrize("loss", ["MultipleNegativesRankingLoss", "CachedMultipleNegativesRankingLoss", "TripletLoss"])
def test_the_loss_of_several_dimensions_is_the_librarys(task, tmp_path, monkeypatch, loss):
    """Its first value is the sum of what the loss is of each number of dimensions alone."""
    import torch

    short = {"loss": loss, "epochs": 0.1, "learning_rate": 1e-9}
    attention = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(torch.nn.Dropout, "forward", lambda self, inputs: inputs)
    monkeypatch.setattr(
        "transformers.integrations.sdpa_attention.torch.nn.functional.scaled_dot_product_attention",
        lambda *arguments, **named: attention(*arguments, **(named | {"dropout_p": 0.0})),
    )
    first = {}
    for name, dimensions in (("both", [32, 8]), ("whole", [32]), ("few", [8]), ("none", None)):
        given = short | ({"matryoshka_dims": dimensions} if dimensions else {})
        train(task, tmp_path / name, **given)
        first[name] = float(read_log(tmp_path / name)[0]["loss"])
    assert first["both"] == pytest.approx(first["whole"] + first["few"], rel=1e-5)
    assert first["whole"] == pytest.approx(first["none"], rel=1e-5) or loss == "TripletLoss"  # of unit length or not
    assert first["few"] != pytest.approx(first["none"], rel=1e-3)


def test_more_dimensions_than_vectors_have_are_a_mistake(task, tmp_path):
    with pytest.raises(UserError, match=r"matryoshka_dims: 64, but this model's vectors have 32 dimensions"):
        train(task, tmp_path, matryoshka_dims=[64, 32])


@pytest.mark.long
def test_what_is_trained_for_few_dimensions_ranks_better_in_them(task, tmp_path):
    """What training is for: with 2 dimensions the positives of the training set are found more often.

    After six epochs neither ranks all of them first, as after thirty, where chance decides.
    """
    found = {}
    for name, dimensions in (("few", [32, 2]), ("whole", [32])):
        train(task, tmp_path / name, matryoshka_dims=dimensions, epochs=6, learning_rate=5e-3)
        kind = adapter("bi-encoder")
        model = kind.load(tmp_path / name / "model", 16)
        kind.truncate(model, 2)
        rows = [json.loads(line) for line in (task / "corpus.jsonl").read_text().splitlines()]
        documents = kind.encode(model, [row["text"] for row in rows], 8, "document")
        asked = [json.loads(line)["text"] for line in (task / "queries.jsonl").read_text().splitlines()]
        queries = kind.encode(model, asked, 8, "query")
        assert documents.shape == (20, 2)
        ranks = [(row > row[number]).sum() for number, row in enumerate(queries @ documents.T)]
        found[name] = np.mean(ranks)
    assert found["few"] < found["whole"]


@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder"])
def test_bf16_trains_nearly_the_weights_of_fp32(task, tmp_path, monkeypatch, kind):
    monkeypatch.setattr("ranktrial.models.running.has", lambda instructions: True)  # any processor can imitate it
    few = {"type": kind, "epochs": 1, "learning_rate": 1e-3}
    for name, precision in (("usual", None), ("whole", "fp32"), ("half", "bf16")):
        train(task, tmp_path / name, precision=precision, **few)
        assert json.loads((tmp_path / name / "timing.json").read_text())["precision"] == (precision or "fp32")
    assert same(tmp_path / "usual", tmp_path / "whole") and not same(tmp_path / "whole", tmp_path / "half")
    losses = [[float(row["loss"]) for row in read_log(tmp_path / name)] for name in ("whole", "half")]
    np.testing.assert_allclose(*losses, rtol=2**-9)  # one rounding of bf16: those of many products even out


def test_a_processor_without_bf16_says_so_in_one_line(task, tmp_path, monkeypatch):
    monkeypatch.setattr("ranktrial.models.running.has", lambda instructions: False)
    with pytest.raises(UserError, match=r"^precision: this processor, .* does not compute in bf16; leave it out$"):
        train(task, tmp_path / "half", precision="bf16", **FEW)
    assert not (tmp_path / "half" / "model").exists()
