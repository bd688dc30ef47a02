"""A training that several processes share is the training of one: the same weights, whatever the model and the loss."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from ranktrial.common.errors import UserError
from ranktrial.training import memory, processes, several
from tests.support.tiny_task import ROOT, command, read_log, same, train, weights, without_dropout
from tests.training.test_batches import lists_of, settings

# Of the weights: float32 keeps 6e-8 of a sum, and Adam steps of 1e-3 carry what sums in another order lose.
TOLERANCE = 1e-5
# Attention is the same whatever is added to all keys: these gradients are rounding alone, of which Adam makes whole steps.
OF_NO_EFFECT = ".attention.self.key.bias"


@pytest.fixture(scope="module")
def undisturbed(task, tmp_path_factory):
    return without_dropout(task, tmp_path_factory.mktemp("undisturbed") / "task")


def apart(left: Path, right: Path) -> float:
    """The largest difference of two trainings' weights."""
    one, other = weights(left), weights(right)
    assert one.keys() == other.keys()
    return max(float(np.abs(one[name] - other[name]).max()) for name in one if not name.endswith(OF_NO_EFFECT))


@pytest.mark.usefixtures("warm_processes")
@pytest.mark.parametrize(
    ("kind", "gpus", "others"),
    [
        ("bi-encoder", 3, {"micro_batch": 1}),  # four texts per batch: two in one process, and two in the last step
        pytest.param("cross-encoder", 2, {"epochs": 1}, marks=pytest.mark.long),
        pytest.param("multi-vector", 2, {}, marks=pytest.mark.long),
        pytest.param("sparse-encoder", 2, {"gradient_checkpointing": True}, marks=pytest.mark.long),
    ],
)
def test_several_processes_train_the_weights_of_one(undisturbed, tmp_path, kind, gpus, others):
    train(undisturbed, tmp_path / "alone", type=kind, **others)
    train(undisturbed, tmp_path / "shared", type=kind, gpus=gpus, **others)
    assert apart(tmp_path / "alone", tmp_path / "shared") < TOLERANCE
    alone, shared = ([float(row["loss"]) for row in read_log(tmp_path / name)] for name in ("alone", "shared"))
    assert shared == pytest.approx(alone, rel=1e-4)
    assert json.loads((tmp_path / "shared" / "timing.json").read_text())["gpus"] == gpus
    assert not (tmp_path / "shared" / "model.resume").exists()
    assert not torch.distributed.is_initialized()


@pytest.mark.usefixtures("warm_processes")
def test_several_processes_use_each_row_of_several_datasets_once_per_epoch(tmp_path):
    """A batch's loss is the sum of its rows' weights, so that the gradient of a weight counts how often it is used.

    Some batches are smaller than the number of processes, and some rows conflict.
    """
    drawn, epochs = random.Random(7), 2
    columns = [lists_of(sizes, 90, 1, drawn)[0] for sizes in ([20] * 8, [1] * 11, [3, 1, 40])]
    cases, batches = [*itertools.product(several.SAMPLERS, (None, {}))], []
    for sampler, apart in cases:
        asked = settings(epochs=epochs, batch_size=8, multi_dataset_batch_sampler=sampler)
        made = several.schedules(columns, asked, apart)
        batches.append([*several._in_order(several._merged(made, asked), epochs)])
    (tmp_path / "batches.json").write_text(json.dumps(batches))
    assert min(map(len, itertools.chain(*batches))) < 2
    rows = [len(one["anchor"]) for one in columns]
    command = [sys.executable, "-c", EACH_ROW_COUNTED, str(tmp_path), str(sum(rows))]
    started = [subprocess.Popen([*command, str(rank)], env=os.environ | {"PYTHONPATH": str(ROOT)}) for rank in (0, 1)]
    assert [one.wait(120) for one in started] == [0, 0]
    for rank, (number, (sampler, _)) in itertools.product((0, 1), enumerate(cases)):
        counts = np.load(tmp_path / f"{rank}-{number}.npy")
        assert counts.sum() == sum(map(len, batches[number]))
        if sampler == "proportional":
            assert (counts == epochs).all()
        else:  # as often as the smallest dataset has batches
            assert counts.max() <= epochs and counts.min() == 0 and (counts[rows[0] : -rows[2]] == epochs).all()


EACH_ROW_COUNTED = """
import json, sys
from pathlib import Path
from ranktrial.models import running
import numpy, torch
from ranktrial.training import memory
folder, rows, rank = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
store = torch.distributed.FileStore(str(folder / "meeting"), 2)
torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2)
class Rows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(rows))
    def forward(self, features):
        return {"sentence_embedding": self.weight[features["input_ids"]]}
for number, batches in enumerate(json.loads((folder / "batches.json").read_text())):
    model = Rows()
    for batch in batches:
        with memory.shared(model, ("sentence_embedding",)):
            outputs = model({"input_ids": torch.tensor(batch)})["sentence_embedding"]
        assert len(outputs) == len(batch)
        outputs.sum().backward()
    memory.add_gradients(model)
    numpy.save(folder / f"{rank}-{number}.npy", model.weight.grad.numpy())
torch.distributed.destroy_process_group()
"""


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits to be asked for its end does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
def test_what_several_processes_began_one_ends_and_the_others_die_with_the_first(undisturbed, tmp_path):
    python, _, *arguments = command(undisturbed, tmp_path / "killed", gpus=2, epochs=4)
    parts = [python, "-c", KILLED_AT_THE_SEVENTH_STEP, *arguments]
    started = subprocess.Popen(parts, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True)
    said = started.communicate()[1]
    assert started.returncode == -signal.SIGKILL, said
    (other,) = said.partition("others: ")[2].split()
    end = time.monotonic() + 10
    while is_alive(int(other)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_alive(int(other))
    train(undisturbed, tmp_path / "killed", epochs=4)
    train(undisturbed, tmp_path / "whole", epochs=4)
    assert json.loads((tmp_path / "killed" / "timing.json").read_text())["resumed_at_step"] == 6
    assert apart(tmp_path / "killed", tmp_path / "whole") < TOLERANCE


KILLED_AT_THE_SEVENTH_STEP = """
import os, signal
from ranktrial.common.command_line import arguments_of
from ranktrial.training import checkpoints
from scripts.training.fine_tune import fine_tune
end = checkpoints.Recorder.on_step_end
def ended(self, args, state, control, **others):
    end(self, args, state, control, **others)
    if state.global_step == 7:  # four steps per epoch
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
            os.write(2, b"others: " + file.read().encode())
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints.Recorder.on_step_end = ended
fine_tune(**arguments_of(fine_tune))
"""


@pytest.mark.long
def test_dropout_differs_by_process_and_a_seed_gives_the_same_weights_twice(task, tmp_path):
    for name in ("a", "b"):
        train(task, tmp_path / name, gpus=2, epochs=1)
    train(task, tmp_path / "alone", epochs=1)
    assert same(tmp_path / "a", tmp_path / "b")
    assert not same(tmp_path / "a", tmp_path / "alone")
    drawn, after = set(), set()
    for rank in (0, 1):
        torch.manual_seed(1)
        with memory._own_random_numbers(rank):
            drawn.add(float(torch.rand(1)))
        after.add(float(torch.rand(1)))
    assert len(drawn) == 2 and len(after) == 1


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.long
def test_a_process_that_ends_ends_the_training_with_one_line(undisturbed, tmp_path):
    parts = command(undisturbed, tmp_path, gpus=2, epochs=100000)
    started = subprocess.Popen(parts, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "model.resume").is_dir() or not list(
        (tmp_path / "model.resume").glob("checkpoint-*/complete.json")
    ):
        assert started.poll() is None, started.stderr.read()
        time.sleep(0.2)
    os.kill(children(started.pid)[0], signal.SIGKILL)
    said = started.communicate(timeout=60)[1]
    assert started.returncode == 1
    errors = [line for line in said.splitlines() if line.startswith("error:")]
    assert len(errors) == 1 and "process 1 of the training has ended" in errors[0]
    assert "Traceback" not in said and not (tmp_path / "model").exists()


@pytest.mark.long
def test_a_mistake_is_reported_once(undisturbed, tmp_path):
    parts = command(undisturbed, tmp_path, gpus=2, head_learning_rate=0.1)
    done = subprocess.run(parts, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if "error" in line] == [
        "error: head_learning_rate: this model has no prediction head to train; leave it out"
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ["0", "1", "2"]),
        ("", ["0", "1", "2"]),
        ("4,5, 6,7", ["4", "5", "6"]),
        ("GPU-a,GPU-b,GPU-c", ["GPU-a", "GPU-b", "GPU-c"]),
    ],
)
def test_each_process_has_a_device_of_those_that_the_job_was_given(monkeypatch, given, expected):
    monkeypatch.setattr(processes, "DEVICES", given)
    monkeypatch.setattr(processes, "device", lambda: "cuda")
    assert processes.devices(3) == expected


def test_fewer_devices_than_asked_for_are_refused(monkeypatch):
    monkeypatch.setattr(processes, "DEVICES", "2,3")
    monkeypatch.setattr(processes, "device", lambda: "cuda")
    with pytest.raises(UserError, match=r"^gpus: 3, but this job has 2 of them; ask for as many, or lower it$"):
        processes.devices(3)


def test_a_process_whose_device_is_not_there_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv(processes.RANK, "1")
    monkeypatch.setenv(processes.BACKEND, "nccl")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "9")
    with pytest.raises(UserError, match=r"^gpus: device 9 cannot be used here"):
        processes._meet(str(tmp_path / "meeting"), 2)
