"""The learning rates of the paper's schedule: an encoder and a prediction head, linear warm-up and linear decay."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from tests.support.tiny_task import read_log, same, train, weights

PAPER = {"type": "cross-encoder", "loss": "MarginRankingLoss", "learning_rate": 2e-5, "head_learning_rate": 2e-4,
         "weight_decay": 1e-7, "warmup": 0.2, "schedule": "linear", "batch_size": 2, "epochs": 2}  # fmt: skip


def test_both_rates_rise_over_the_first_fifth_and_fall_to_zero(task, tmp_path):
    """20 triplets in batches of 2, twice: 20 steps, of which 4 are the warm-up."""
    train(task, tmp_path, **PAPER)
    shares = [step / 4 if step < 4 else (20 - step) / 16 for step in range(20)]  # before step n + 1
    log = read_log(tmp_path)
    assert list(log[0])[-1] == "head_learning_rate"
    assert [float(row["learning_rate"]) for row in log] == pytest.approx([2e-5 * share for share in shares], rel=1e-9)
    assert [float(row["head_learning_rate"]) for row in log] == pytest.approx([2e-4 * s for s in shares], rel=1e-9)


def test_the_heads_weights_alone_follow_the_heads_rate(task, tmp_path):
    """In the first step AdamW moves each weight by about its rate, whatever the gradient."""
    import numpy as np
    from safetensors.numpy import load_file

    settings = PAPER | {"warmup": 0, "schedule": "constant", "epochs": 0.1, "weight_decay": 0.0, "checkpoint_steps": 99}
    train(task, tmp_path / "a", **settings)
    trained, start = weights(tmp_path / "a"), load_file(task / "start" / "model.safetensors")
    encoder = {name: name.removeprefix("bert.") for name in trained if name.startswith("bert.")}
    moved = max(np.abs(trained[name] - start[own]).max() for name, own in encoder.items())
    assert moved == pytest.approx(2e-5, rel=0.02)
    # the head is drawn from the seed, so another training with a rate of nearly zero shows where it began
    train(task, tmp_path / "b", **settings | {"head_learning_rate": 1e-12})
    still = weights(tmp_path / "b")
    assert np.abs(trained["classifier.weight"] - still["classifier.weight"]).max() == pytest.approx(2e-4, rel=0.02)
    assert all(np.array_equal(trained[name], still[name]) for name in encoder)


def test_a_head_with_the_rate_of_all_is_no_other_training(task, tmp_path):
    settings = PAPER | {"epochs": 1}
    train(task, tmp_path / "a", **settings | {"head_learning_rate": None})
    train(task, tmp_path / "b", **settings | {"head_learning_rate": PAPER["learning_rate"]})
    assert same(tmp_path / "a", tmp_path / "b")
    assert "head_learning_rate" not in read_log(tmp_path / "a")[0]


def test_a_model_without_a_head_is_refused(task, tmp_path):
    with pytest.raises(UserError, match="head_learning_rate: this model has no prediction head"):
        train(task, tmp_path, head_learning_rate=1e-3)
    assert not (tmp_path / "model").exists()
