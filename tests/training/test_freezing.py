"""OpenNIR's training of a re-ranker: a frozen encoder, the pairwise softmax loss, and epochs of so many steps."""

import json

import numpy as np
import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from tests.support.tiny_task import read_log, same, train, weights

OPENNIR = {"type": "cross-encoder", "loss": "PairwiseSoftmaxLoss", "freeze": "encoder", "steps_per_epoch": 2,
           "learning_rate": 1e-3, "warmup": 0, "schedule": "constant", "weight_decay": 0.0}  # fmt: skip


def test_the_head_alone_is_trained_in_epochs_of_so_many_steps(task, tmp_path):
    """20 triplets in batches of 4 are 5 steps; three epochs of two steps end after 6."""
    from safetensors.numpy import load_file

    train(task, tmp_path / "a", **OPENNIR)
    timing = json.loads((tmp_path / "a" / "timing.json").read_text())
    log = read_log(tmp_path / "a")
    assert timing["steps"] == 6 and [float(row["epoch"]) for row in log] == [0.5, 1, 1.5, 2, 2.5, 3]
    trained, start = weights(tmp_path / "a"), load_file(task / "start" / "model.safetensors")
    encoder = {name: start[name.removeprefix("bert.")] for name in trained if name.startswith("bert.")}
    assert len(encoder) > 20
    assert all(trained[name].tobytes() == rows.tobytes() for name, rows in encoder.items())
    # the head is drawn from the seed: a training with a rate of nearly zero shows where it began
    train(task, tmp_path / "b", **OPENNIR | {"learning_rate": 1e-12})
    moved = trained["classifier.weight"] - weights(tmp_path / "b")["classifier.weight"]
    assert 2e-3 < np.abs(moved).max() < 7e-3  # AdamW moves a weight by about its rate in each of the six steps
    assert timing["trainable_parameters"] == sum(trained[name].size for name in trained.keys() - encoder.keys())


def test_a_killed_training_of_the_head_goes_on_in_the_midst_of_a_pass(task, tmp_path, monkeypatch):
    from ranktrial.training import trainer

    step = trainer.MicroBatchTrainer.training_step

    def killed(self, model, *others):
        if self.state.global_step == 3:
            raise KeyboardInterrupt
        return step(self, model, *others)

    settings = OPENNIR | {"checkpoint_steps": 3}
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(trainer.MicroBatchTrainer, "training_step", killed)
        train(task, tmp_path / "killed", **settings)
    kept = [path.name for path in (tmp_path / "killed" / "model.resume").glob("checkpoint-3/*.safetensors")]
    assert kept == ["trainable.safetensors"]  # the frozen weights are where the training starts
    for name in ("killed", "whole"):
        train(task, tmp_path / name, **settings)
    assert json.loads((tmp_path / "killed" / "timing.json").read_text())["resumed_at_step"] == 3
    assert same(tmp_path / "killed", tmp_path / "whole")


def test_a_model_without_a_head_is_refused(task, tmp_path):
    with pytest.raises(UserError, match="freeze: this model has no prediction head"):
        train(task, tmp_path, freeze="encoder")
    assert not (tmp_path / "model").exists()
