"""Fine-tuning: determinism, every loss, and a training that is killed and started again."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from safetensors.torch import load_file

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus
from ranktrial.models.adapters import adapters
from ranktrial.models.losses import LISTS, PAIRS, RANKED, TRIPLETS, resolve_loss
from ranktrial.training.examples import Row, columns, read_table, with_texts
from tests.support.tiny_task import ROOT, command, kill, read_log, same, train, weights


@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder", "multi-vector", "sparse-encoder"])
def test_a_seed_gives_the_same_weights_twice_and_another_seed_others(task, tmp_path, kind):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(task, tmp_path / name, type=kind, seed=seed, epochs=1)
    assert same(tmp_path / "a", tmp_path / "b")
    assert not same(tmp_path / "a", tmp_path / "c")
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"model", "timing.json", "log.tsv"}


@pytest.mark.parametrize(("kind", "loss"), [(name, loss) for name, kind in adapters().items() for loss in kind.LOSSES])
def test_every_loss_trains(task, tmp_path, kind, loss):
    train(task, tmp_path, type=kind, loss=loss, epochs=0.5)
    assert (tmp_path / "model" / "model.safetensors").is_file()
    assert all(np.isfinite(float(row["loss"])) for row in read_log(tmp_path))


@pytest.mark.usefixtures("warm_processes")
@pytest.mark.parametrize(
    ("kind", "where", "count", "resumed_at"),
    [
        ("bi-encoder", "step", 7, 6),  # four steps per epoch: in the middle of the second
        pytest.param("bi-encoder", "save", 4, 6, marks=pytest.mark.long),  # while the checkpoint of step 8 is written
        pytest.param("cross-encoder", "step", 13, 12, marks=pytest.mark.long),  # eight steps per epoch
        pytest.param("multi-vector", "step", 7, 6, marks=pytest.mark.long),
        pytest.param(
            "sparse-encoder", "step", 7, 6, marks=pytest.mark.long
        ),  # while the weights of the regularizers still rise
    ],
)
def test_a_killed_training_ends_like_an_undisturbed_one(task, tmp_path, kind, where, count, resumed_at):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    kill(where, count, task, killed, type=kind, epochs=4)
    timings = [train(task, out, type=kind, epochs=4) for out in (killed, whole)]
    assert same(killed, whole)
    assert not (killed / "model.resume").exists()
    logs = [[row["loss"] for row in read_log(out)] for out in (killed, whole)]
    assert logs[0] == logs[1]
    assert timings[0]["steps"] == timings[1]["steps"]
    assert (timings[0]["resumed_at_step"], timings[1]["resumed_at_step"]) == (resumed_at, 0)


# In a process of its own, as a job is: signals reach whatever else a process has loaded, too.
WARNED = """
import os, signal
from ranktrial.common.command_line import arguments_of
from ranktrial.training import checkpoints
from scripts.training.fine_tune import fine_tune
save = checkpoints.Recorder.on_save
def warned(self, args, state, control, **others):
    if state.global_step == 4:
        os.kill(os.getpid(), signal.SIGURG)
def saved(self, args, state, control, **others):
    save(self, args, state, control, **others)
    print("saved", state.global_step)
checkpoints.Recorder.on_step_begin, checkpoints.Recorder.on_save = warned, saved
fine_tune(**arguments_of(fine_tune))
"""


@pytest.mark.long
def test_a_warning_brings_a_checkpoint_at_the_end_of_the_step(task, tmp_path):
    """SIGURG in the fifth step, the second of the second epoch; what is trained stays the same."""
    train(task, tmp_path / "undisturbed", checkpoint_steps=1000)
    arguments = command(task, tmp_path / "warned", checkpoint_steps=1000)[2:]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", WARNED, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["saved 3", "saved 5", "saved 6"]
    assert "the time limit is near: checkpoint at step 5\n" in done.stderr
    assert same(tmp_path / "undisturbed", tmp_path / "warned")


def test_what_another_training_left_is_not_resumed(task, tmp_path):
    """Of a start with the same weights, which pools otherwise."""
    kill("step", 3, task, tmp_path, epochs=1)
    start = shutil.copytree(task / "start", tmp_path / "start")
    pooling = start / "1_Pooling/config.json"
    text = pooling.read_text()
    pooling.write_text(text.replace("pooling_mode_mean_tokens", "pooling_mode_cls_token"))
    assert text != pooling.read_text()
    assert train(task, tmp_path, {"start": start}, epochs=1)["resumed_at_step"] == 0


def test_a_checkpoint_can_be_the_start_of_another_training(task, tmp_path):
    train(task, tmp_path / "first", epochs=1)
    train(task, tmp_path / "second", {"start": tmp_path / "first/model"})
    assert not same(tmp_path / "first", tmp_path / "second")


def test_a_single_step_trains(task, tmp_path):
    """Of which all would be warm-up, which begins at the rate 0."""
    assert train(task, tmp_path, loss="TripletLoss", epochs=1, batch_size=1000)["steps"] == 1
    before, after = (load_file(folder / "model.safetensors") for folder in (task / "start", tmp_path / "model"))
    assert any(not before[name].equal(weights) for name, weights in after.items() if name in before)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "NoSuchLoss"}, "'NoSuchLoss' is not one that a bi-encoder .* MultipleNegativesRankingLoss"),
        ({"loss": "BatchAllTripletLoss"}, "is not one that a bi-encoder"),
        ({"loss": "MarginMSELoss"}, "compares with a teacher's scores; name a teacher"),
        ({"loss": "TripletLoss", "type": "cross-encoder"}, "is not one that a cross-encoder"),
        ({"max_length": 65}, "at most 64 tokens"),
        ({"learning_rate": 1e30, "warmup": 0, "epochs": 2}, "the loss is nan"),
    ],
)
def test_mistakes_are_reported(task, tmp_path, settings, said):
    with pytest.raises(UserError, match=said):
        train(task, tmp_path, **settings)
    assert not (tmp_path / "model").exists()


def test_no_examples_and_unknown_documents_are_mistakes(tmp_path):
    header = "query_id\tpositive_id\tnegative_id\tsource\tbm25_rank\n"
    (tmp_path / "empty.tsv").write_text(header)
    with pytest.raises(UserError, match="no training example"):
        read_table(tmp_path / "empty.tsv")
    (tmp_path / "one.tsv").write_text(header + "q\tp\tn\tbm25\t1\n")
    made = columns(read_table(tmp_path / "one.tsv").rows, PAIRS)
    with pytest.raises(UserError, match="document n"):
        with_texts(made, {"q": ["query"]}, {"p": ["positive"]})


def test_a_pair_becomes_all_pairs_of_its_passages():
    made = columns([Row("q", "p", "n")], PAIRS)
    texts = with_texts(made, {"q": ["q1", "q2"]}, {"p": ["p1", "p2", "p3"], "n": ["n1"]})
    expected = {("q1", "n1", 0.0), ("q2", "n1", 0.0)} | {(q, p, 1.0) for q in ("q1", "q2") for p in ("p1", "p2", "p3")}
    rows = list(zip(texts["query"], texts["document"], texts["label"], strict=True))
    assert set(rows) == expected and len(rows) == 8


def test_split_texts_are_trained_on_with_losses_of_labelled_pairs(task, tmp_path):
    for kind, loss in (("bi-encoder", "ContrastiveLoss"), ("cross-encoder", "BinaryCrossEntropyLoss")):
        assert resolve_loss("auto", kind, split=True) == loss
    with pytest.raises(UserError, match=r"does not go with long_documents: passages, .*; use auto or Contras"):
        resolve_loss("TripletLoss", "bi-encoder", split=True)
    folder = tmp_path / "task"
    folder.mkdir()
    for name in ("start", "negatives.tsv"):
        (folder / name).symlink_to(task / name)
    for name in ("corpus.jsonl", "queries.jsonl"):  # each document in two passages, each query in one
        rows = [json.loads(line) for line in (task / name).read_text().splitlines()]
        passages = [
            (row["_id"], part) for row in rows for part in (row["text"].split() if name[0] == "c" else [row["text"]])
        ]
        write_corpus(folder / name, (Document(name, "", part) for name, part in passages))
    timing = train(folder, tmp_path, epochs=1, long_documents="passages")
    assert (timing["examples"], timing["steps"], timing["loss"]) == (
        60,
        15,
        "ContrastiveLoss",
    )  # 10 queries, 3 documents


def test_columns_of_each_shape():
    rows = [Row("q", "p", "n"), Row("q", "p", "m"), Row("q", "r", "n"), Row("q", "r", "m"), Row("s", "p", "n")]
    assert columns(rows, LISTS) == {
        "anchor": ["q", "q", "s"],
        "positive": ["p", "r", "p"],
        "negative_1": ["n", "n", "n"],
        "negative_2": ["m", "m", "n"],
    }
    assert columns(rows, TRIPLETS)["negative"] == ["n", "m", "n", "m", "n"]
    ranked = columns(rows, RANKED)
    assert ranked["query"] == ["q", "s"]
    assert [dict(zip(*one, strict=True)) for one in zip(ranked["documents"], ranked["label"], strict=True)] == [
        {"p": 1.0, "r": 1.0, "n": 0.0, "m": 0.0}, {"p": 1.0, "n": 0.0},
    ]  # fmt: skip
    assert with_texts(ranked, {"q": ["Q"], "s": ["S"]}, {d: [d.upper()] for d in "prnm"})["documents"][1] == ["P", "N"]
    pairs = columns(rows, PAIRS)
    assert sorted(zip(pairs["query"], pairs["document"], pairs["label"], strict=True)) == [
        ("q", "m", 0.0), ("q", "n", 0.0), ("q", "p", 1.0), ("q", "r", 1.0), ("s", "n", 0.0), ("s", "p", 1.0),
    ]  # fmt: skip


def test_a_multi_vector_model_learns_its_projection_and_is_the_start_of_another_training(task, tmp_path):
    """A plain encoder's projection is drawn from the seed; a trained model's goes on from its own."""
    timing = train(task, tmp_path / "first", type="multi-vector", epochs=1, prompts={"query": "ashen "})
    assert (timing["loss"], timing["prompts"]) == ("MultiVectorMultipleNegativesRankingLoss", {"query": "ashen "})
    learnt = weights(tmp_path / "first")
    projections = [name for name in learnt if name.startswith("1_Dense")]
    assert [learnt[name].shape for name in projections] == [(128, 32)]
    settings = {"type": "multi-vector", "epochs": 1, "learning_rate": 1e-9}
    timing = train(task, tmp_path / "second", {"start": tmp_path / "first/model"}, **settings)
    assert timing["prompts"] == {"query": "ashen "}  # it stores them
    assert all(np.allclose(value, learnt[name], atol=1e-6) for name, value in weights(tmp_path / "second").items())
