"""Training under short memory: the same gradients and weights in groups, and what happens when memory lacks."""

import json
import math

import numpy as np
import pytest

from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait

# isort: split
import torch

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import adapter, adapters
from ranktrial.models.losses import LISTS, RANKED
from ranktrial.training import several, trainer
from ranktrial.training.checkpoints import Recorder, fingerprint
from ranktrial.training.examples import columns, read_table, with_texts
from ranktrial.training.memory import MicroBatch, grouped, is_short_of_memory
from ranktrial.training.training_settings import Settings
from tests.support.tiny_task import SCHEDULE, read_log, same, train

LOSSES = [(name, loss) for name, kind in adapters().items() for loss in kind.LOSSES]
PLAIN = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.fixture(scope="module")
def start(task, tmp_path_factory):
    """The start without dropout: what it draws differs between groups and the whole batch."""
    import shutil

    folder = tmp_path_factory.mktemp("start")
    for name in ("start", "masked"):
        shutil.copytree(task / name, folder / name)
        config = json.loads((folder / name / "config.json").read_text())
        (folder / name / "config.json").write_text(json.dumps(config | PLAIN))
    return folder / "start"


def load(start, kind):
    """The model in double precision, whose rounding cannot hide a wrong weight of a group."""
    from scripts.training.fine_tune import load as load_model

    start = start.with_name("masked") if kind == "sparse-encoder" else start
    return load_model(start, Settings(**SCHEDULE | {"type": kind})).double()


def examples(task, kind, loss):
    from ranktrial.ir.collection import passages_of

    shape = adapter(kind).LOSSES[loss]
    made = columns(read_table(task / "negatives.tsv").rows, shape)
    return with_texts(made, passages_of(task / "queries.jsonl"), passages_of(task / "corpus.jsonl")), shape


def loss_and_gradients(model, kind, name, made, shape, size):
    """One batch of 10 rows, which groups do not divide: the loss and the gradient of each weight."""
    training = adapter(kind).training()
    loss = training.loss(name, model)
    torch.manual_seed(5)
    texts = [values[:10] for column, values in made.items() if column != "label"]
    # Every other label is wrong, so that every loss has something to correct (some look at mistaken pairs alone).
    labels = torch.tensor([1.0, 0.0] * 5, dtype=torch.float64) if "label" in made else None
    if shape == RANKED:
        labels = [torch.tensor(grades, dtype=torch.float64) for grades in made["label"][:10]]
    features = texts if kind == "cross-encoder" else [model.preprocess(column) for column in texts]
    model.zero_grad()
    model.train()
    with grouped(model, size, training.outputs):
        value = loss(features, labels)
        value = sum(value.values()) if isinstance(value, dict) else value  # of SpladeLoss, with its regularizers
        value.backward()
    return value.item(), {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(("kind", "name"), LOSSES)
def test_groups_give_the_whole_batchs_loss_and_gradients(task, start, kind, name):
    made, shape = examples(task, kind, name)
    model = load(start, kind)
    whole, expected = loss_and_gradients(model, kind, name, made, shape, None)
    value, found = loss_and_gradients(model, kind, name, made, shape, 3)
    assert value == pytest.approx(whole, rel=1e-12)
    largest = max(gradient.abs().max() for gradient in expected.values())
    assert found.keys() == expected.keys() and largest > 0
    for weight, gradient in expected.items():
        # sums of some thousand products in another order: rounding of 2^-53 each
        assert torch.allclose(found[weight], gradient, rtol=0, atol=1e-12 * largest), weight
    assert "forward" not in vars(model)


def trained(task, start, folder, kind, loss, **settings):
    made, shape = examples(task, kind, loss)
    model = load(start, kind)
    used = Settings(**SCHEDULE | {"type": kind, "loss": loss} | settings)
    schedules = several.schedules([made], used, {} if shape == LISTS else None)
    outcome = trainer.train(model, [made], schedules, loss, used, folder, fingerprint(used, [made], "", ""))
    return outcome, {name: value.detach().numpy() for name, value in model.named_parameters()}


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("bi-encoder", "MultipleNegativesRankingLoss"),
        pytest.param("bi-encoder", "OnlineContrastiveLoss", marks=pytest.mark.long),
        ("cross-encoder", "BinaryCrossEntropyLoss"),
    ],
)
def test_weights_after_training_in_groups_are_those_of_whole_batches(task, start, tmp_path, kind, loss):
    _, whole = trained(task, start, tmp_path / "whole", kind, loss)
    outcome, groups = trained(task, start, tmp_path / "groups", kind, loss, micro_batch=2)
    assert outcome.micro_batch == 2
    # AdamW divides a gradient by its size, so rounding (1e-16 of it) stays relative to the steps' length, lr * steps,
    # but for gradients that are zero: there 1e-16 is divided by its epsilon of 1e-8.
    moved = SCHEDULE["learning_rate"] * outcome.steps
    for name, value in whole.items():
        assert np.allclose(groups[name], value, rtol=0, atol=1e-7 * moved), name
    _, half = trained(task, start, tmp_path / "half", kind, loss, batch_size=2)
    assert max(np.abs(half[name] - value).max() for name, value in whole.items()) > 0.1 * SCHEDULE["learning_rate"]


class SmallDevice:
    """Lets the model take at most `most` texts at a time, and the next only when `kill` steps are not yet done."""

    def __init__(self, monkeypatch, most: int, error: Exception | None = None) -> None:
        from transformers import BertModel

        original, self.refused = BertModel.forward, 0

        def forward(model, input_ids=None, **others):
            if len(input_ids) > most and torch.is_grad_enabled():
                self.refused += 1
                raise error or torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
            return original(model, input_ids, **others)

        monkeypatch.setattr(BertModel, "forward", forward)


@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder"])
def test_a_lack_of_memory_halves_what_passes_at_once(task, start, tmp_path, monkeypatch, capsys, kind):
    loss = "MultipleNegativesRankingLoss" if kind == "bi-encoder" else "BinaryCrossEntropyLoss"
    _, whole = trained(task, start, tmp_path / "whole", kind, loss, batch_size=5)
    device = SmallDevice(monkeypatch, most=2)
    outcome, short = trained(task, start, tmp_path / "short", kind, loss, batch_size=5)
    assert outcome.micro_batch == 2 and device.refused == 2  # 5 and 3 texts are too many
    said = capsys.readouterr().err
    assert "out of memory at step 1: 3 texts at a time instead of 5, the batch of 5 stays the same" in said
    assert "2 texts at a time instead of 3" in said
    moved = SCHEDULE["learning_rate"] * outcome.steps
    assert all(np.allclose(short[name], value, rtol=0, atol=1e-7 * moved) for name, value in whole.items())
    assert {row["micro_batch"] for row in outcome.rows} == {2}


@pytest.mark.long
def test_log_and_timing_say_so_and_a_resumed_training_knows_it(task, tmp_path, monkeypatch):
    train(task, tmp_path / "set", micro_batch=2)
    SmallDevice(monkeypatch, most=2)
    train(task, tmp_path / "short")
    assert {row["micro_batch"] for row in read_log(tmp_path / "short")} == {"2"}
    assert json.loads((tmp_path / "short/timing.json").read_text())["micro_batch"] == 2
    assert same(tmp_path / "short", tmp_path / "set")  # with dropout: the step that failed drew nothing

    stop, original = [], Recorder.on_save

    def stopping(recorder, args, state, control, **others):
        original(recorder, args, state, control, **others)
        stop.append(state.global_step)
        if len(stop) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Recorder, "on_save", stopping)
    with pytest.raises(KeyboardInterrupt):
        train(task, tmp_path / "again")
    monkeypatch.setattr(Recorder, "on_save", original)
    device = SmallDevice(monkeypatch, most=2)
    train(task, tmp_path / "again")
    assert device.refused == 0  # the checkpoint says how many texts fit
    assert json.loads((tmp_path / "again/timing.json").read_text())["resumed_at_step"] == stop[-1]
    assert same(tmp_path / "again", tmp_path / "set")


def test_too_little_memory_for_one_text_is_one_line_and_other_errors_stay(task, tmp_path, monkeypatch):
    SmallDevice(monkeypatch, most=0)
    with pytest.raises(UserError, match=r"^not enough memory to train on one text at a time: lower max_length[^\n]*$"):
        train(task, tmp_path)
    assert not (tmp_path / "model").exists()
    SmallDevice(monkeypatch, most=0, error=RuntimeError("shapes differ"))
    with pytest.raises(RuntimeError, match="shapes differ"):
        train(task, tmp_path)


def test_which_errors_speak_of_memory():
    said = "[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
    assert is_short_of_memory(RuntimeError(said)) and is_short_of_memory(torch.OutOfMemoryError("x"))
    assert not is_short_of_memory(RuntimeError("shapes differ")) and not is_short_of_memory(ValueError("out of memory"))
    with pytest.raises(RuntimeError) as raised:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_short_of_memory(raised.value)
    halved = MicroBatch(None, 32, ())
    sizes = [halved.halve(1) or halved.size for _ in range(5)]
    assert sizes == [16, 8, 4, 2, 1] and math.prod(sizes) == 1024
