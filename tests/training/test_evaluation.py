"""Evaluation while a model is trained: the values, what it leaves alone, the best weights, patience, and a kill."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import TrainerCallback
from transformers.integrations import integration_utils

from ranktrial.common.errors import UserError
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, read_run, write_qrels, write_run
from ranktrial.training import tracking
from ranktrial.training.best_weights import Evaluations
from scripts.inference.rerank import rerank
from tests.support.calling import call
from tests.support.tiny_task import kill, read_log, same, train

HOW = {"measure": "nDCG@10", "candidates": 8, "batch_size": 4}
KINDS = ["bi-encoder", "cross-encoder",
         *(pytest.param(kind, marks=pytest.mark.long) for kind in ("multi-vector", "sparse-encoder"))]  # fmt: skip


@pytest.fixture(scope="module")
def dev(task):
    """Candidates of the training queries, as those of dev; the relevant document of the last is not among them."""
    run = {f"q{n}": {f"d{(n + shift) % 20}": 20.0 - shift for shift in (3, 5, 7, 9, 11)} for n in range(10)}
    for n in range(9):
        run[f"q{n}"][f"d{n}"] = 1.0
    write_run(task / "dev.trec", run, "bm25")
    write_qrels(task / "dev.qrels", {f"q{n}": {f"d{n}": 1, "absent": 1} for n in range(10)})
    return task


def of_dev(dev):
    return {"dev_run": dev / "dev.trec", "dev_queries": dev / "queries.jsonl", "dev_qrels": dev / "dev.qrels"}


def trained(dev, out, **settings):
    return train(dev, out, of_dev(dev), **settings)


def values(out):
    return {int(row["step"]): float(row["nDCG@10"]) for row in read_log(out) if row["nDCG@10"]}


@pytest.mark.parametrize("kind", KINDS)
def test_evaluating_changes_no_weights_and_its_value_is_that_of_the_run(dev, tmp_path, kind):
    """The same weights with and without; re-ranking with what was saved scores as the last evaluation did."""
    timing = trained(dev, tmp_path / "reported", type=kind, evaluate=HOW | {"every": 2})
    train(dev, tmp_path / "plain", type=kind)
    assert same(tmp_path / "reported", tmp_path / "plain")
    reported, plain = read_log(tmp_path / "reported"), read_log(tmp_path / "plain")
    assert [row["loss"] for row in reported] == [row["loss"] for row in plain] and "nDCG@10" not in plain[0]
    steps = timing["steps"]
    assert list(values(tmp_path / "reported")) == sorted({*range(2, steps + 1, 2), steps})
    assert timing["kept_step"] == steps and timing["best_value"] == max(values(tmp_path / "reported").values())
    assert timing["stopped_early"] is False and timing["evaluation_seconds"] > 0

    with_relevant = read_run(dev / "dev.trec")
    with_relevant["q9"]["d9"] = 0.5
    write_run(tmp_path / "first.trec", with_relevant, "bm25")
    paths = {"checkpoint": tmp_path / "reported/model", "corpus": dev / "corpus.jsonl", "queries": dev / "queries.jsonl",
             "first_stage": tmp_path / "first.trec", "run": tmp_path / "run.trec", "timing": tmp_path / "t.json"}  # fmt: skip
    settings = {"type": kind, "backend": "torch", "max_length": 16, "batch_size": 4, "depth": 8, "tag": "x"}
    call(rerank, settings, **paths)
    scored = evaluate(read_run(tmp_path / "run.trec"), read_qrels(dev / "dev.qrels"), ["nDCG@10"])["nDCG@10"].mean()
    assert values(tmp_path / "reported")[steps] == scored


# Values by step that rise, fall and rise less than the threshold, in place of the model's own.
VALUES = {1: 0.2, 2: 0.5, 3: 0.5, 4: 0.504, 5: 0.1, 6: 0.4}


def scripted(monkeypatch):
    from ranktrial.training.dev_evaluation import DevSet

    calls = iter(VALUES.values())
    monkeypatch.setattr(DevSet, "value", lambda self, *others: next(calls))


@pytest.mark.parametrize("gpus", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_best_weights_are_kept(dev, tmp_path, monkeypatch, gpus):
    """Those after step 4: the same as in a training of the same schedule that is stopped there.

    Of two processes only the first evaluates: the other has no scripted values.
    """
    scripted(monkeypatch)
    best = {"evaluate": HOW | {"every": 1}, "load_best_model_at_end": True, "epochs": 2}
    timing = trained(dev, tmp_path / "best", gpus=gpus, **best)
    assert (timing["best_step"], timing["kept_step"], timing["steps"]) == (4, 4, 6)
    assert timing["best_value"] == 0.504 and values(tmp_path / "best") == VALUES
    assert not (tmp_path / "best/model.resume").exists()
    scripted(monkeypatch)
    last = {"evaluate": HOW | {"every": 1}, "early_stopping_patience": 2, "early_stopping_threshold": 0.01, "epochs": 2}
    timing = trained(dev, tmp_path / "stopped", gpus=gpus, **last)
    assert (timing["steps"], timing["kept_step"], timing["best_step"], timing["stopped_early"]) == (4, 4, 4, True)
    assert same(tmp_path / "best", tmp_path / "stopped")
    train(dev, tmp_path / "whole", epochs=2)
    assert not same(tmp_path / "best", tmp_path / "whole")


class Program(TrainerCallback):
    """Stands for the library's callback of TensorBoard: keeps what it is given."""

    def __init__(self) -> None:
        self.logged: list[dict] = []
        self.folder = os.environ[tracking.FOLDER]
        PROGRAMS.append(self)

    def on_log(self, args, state, control, logs: dict, **others) -> None:
        self.logged.append({"step": state.global_step, "run": args.run_name, **logs})


PROGRAMS: list[Program] = []


def test_each_epoch_ends_with_an_evaluation_where_no_steps_are_said(dev, tmp_path, monkeypatch):
    """It is logged by the program of `report_to`, with the losses of the training log."""
    monkeypatch.setitem(integration_utils.INTEGRATION_TO_CALLBACK, "tensorboard", Program)
    monkeypatch.setenv(tracking.REPORT_TO, "tensorboard")
    monkeypatch.setenv(tracking.FOLDER, "logs")
    (tmp_path / "tensorboard").mkdir()  # a package of this name is installed
    monkeypatch.syspath_prepend(tmp_path)
    trained(dev, tmp_path, evaluate=HOW, epochs=2.5)
    assert list(values(tmp_path)) == [3, 6, 8]
    [program] = PROGRAMS
    steps = [row for row in program.logged if "loss" in row]
    assert [str(row["loss"]) for row in steps] == [row["loss"] for row in read_log(tmp_path)]
    assert {row["step"]: row["eval_nDCG@10"] for row in program.logged if "eval_nDCG@10" in row} == values(tmp_path)
    assert program.folder == f"logs{tmp_path}/model" and {row["run"] for row in steps} == {f"{tmp_path}/model"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "where", "count", "resumed_at"),
    [("bi-encoder", "save", 4, 6), ("cross-encoder", "step", 11, 10)],  # saved every two steps
)
def test_a_killed_training_keeps_the_same_best(dev, tmp_path, kind, where, count, resumed_at):
    settings = {"evaluate": HOW | {"every": 1}, "load_best_model_at_end": True, "early_stopping_patience": 30,
                "type": kind, "epochs": 4, "learning_rate": 0.01}  # fmt: skip
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    kill(where, count, dev, killed, of_dev(dev), **settings)
    after = trained(dev, killed, **settings)
    before = trained(dev, whole, **settings)
    assert after["resumed_at_step"] == resumed_at
    decided = ("best_step", "best_value", "kept_step", "steps", "evaluations", "stopped_early")
    assert [after[name] for name in decided] == [before[name] for name in decided]
    assert same(killed, whole) and values(killed) == values(whole)


@pytest.mark.parametrize("threshold", [0.0, 0.01])
def test_patience_is_that_of_transformers(threshold, tmp_path):
    from transformers import EarlyStoppingCallback

    rows = np.random.default_rng(1).integers(0, 8, (200, 12)) / 250
    for row in rows:
        theirs, state = EarlyStoppingCallback(3, threshold), SimpleNamespace(best_metric=None)
        coming = iter(row.tolist())
        ours = Evaluations(lambda coming=coming: next(coming), "m", 1, patience=3, threshold=threshold)
        for step, value in enumerate(row.tolist(), 1):
            theirs.check_metric_value(SimpleNamespace(greater_is_better=True), state, None, value)
            state.best_metric = value if state.best_metric is None else max(value, state.best_metric)
            ours.take(step, torch.nn.Linear(1, 1), tmp_path)
            assert ours.waited == theirs.early_stopping_patience_counter
            assert ours.stopped == (theirs.early_stopping_patience_counter >= 3)


def test_dev_queries_without_a_relevant_document_are_a_mistake(dev, tmp_path):
    empty = tmp_path / "task"
    empty.mkdir()
    for path in dev.iterdir():
        (empty / path.name).symlink_to(path)
    (empty / "dev.qrels").unlink()
    (empty / "dev.qrels").write_text("q1 0 d1 0\n")
    with pytest.raises(UserError, match=r"dev.qrels: no judged query to evaluate by"):
        trained(empty, tmp_path, evaluate=HOW)


def test_weights_that_do_not_learn_are_not_kept_twice(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2))
    model[0].requires_grad_(False)
    coming = iter([0.5, 0.1])
    evaluations = Evaluations(lambda: next(coming), "m", 1, keep=True)
    evaluations.take(1, model, tmp_path)
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        model[2].weight.add_(1)
        model[1].running_mean.add_(1)
    evaluations.take(2, model, tmp_path)
    evaluations.end(2, model, tmp_path)
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    assert not any(name.startswith("0.") for name in torch.load(tmp_path / "best-1.pt"))
