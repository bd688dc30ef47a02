"""A training task of seconds: its schedule, the script's command line, and what it writes."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common.command_line import arguments_of
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import write_run

ROOT = Path(__file__).parents[2]
SCHEDULE = {
    **{"max_length": 16, "loss": "auto", "epochs": 3, "batch_size": 4, "learning_rate": 1e-3, "warmup": 0.1},
    **{
        "schedule": "linear",
        "weight_decay": 0.01,
        "checkpoint_steps": 2,
        "micro_batch": None,
        "seed": 1,
        "type": "bi-encoder",
    },
}
WORDS = [f"{first}{last}" for first in ("ash", "elm", "fig", "oak", "yew") for last in ("en", "let", "ling", "wood")]


def write_collection(folder: Path) -> None:
    """A corpus in which two documents have the same text, queries, and the run of a first stage for all but one."""
    texts = [" ".join(WORDS[n % 20 : n % 20 + 1 + n % 5]) for n in range(50)]
    documents = [Document(f"d{n}", "", text) for n, text in enumerate(texts)]
    write_corpus(folder / "corpus.jsonl", [*documents, Document("twin", "", texts[7])])
    write_queries(folder / "queries.jsonl", {f"q{n}": WORDS[n] for n in range(6)})
    write_run(
        folder / "first.trec", {f"q{n}": {f"d{m}": float(m) for m in range(n, n + 12)} for n in range(5)}, "first"
    )


def write_good_and_bad(folder: Path) -> None:
    """Documents that begin with `good` or `bad`, and twelve queries with a word of one of each."""
    texts = {f"{sort}{n}": f"{sort} {word}" for n, word in enumerate(WORDS) for sort in ("good", "bad")}
    write_corpus(folder / "corpus.jsonl", (Document(name, "", text) for name, text in texts.items()))
    write_queries(folder / "queries.jsonl", {f"q{n}": f"{WORDS[n]} tree" for n in range(12)})


def command(task: Path, out: Path, files: dict[str, Path | list[Path]] | None = None, **settings) -> list[str]:
    """The command line of a training on the task; `files` are further options, or others in place of the task's."""
    start = "masked" if settings.get("type") == "sparse-encoder" else "start"
    paths = {
        **{"start": task / start, "corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl"},
        **{"negatives": task / "negatives.tsv", "checkpoint": out / "model", "timing": out / "timing.json"},
        "training_log": out / "log.tsv",
    } | (files or {})
    options = []
    for name, path in paths.items():
        options += [f"--{name.replace('_', '-')}", *map(str, path if isinstance(path, list) else [path])]
    script = str(ROOT / "scripts" / "training" / "fine_tune.py")
    return [sys.executable, script, *options, "--settings", json.dumps(SCHEDULE | settings)]


def without_dropout(task: Path, folder: Path) -> Path:
    """A copy of the task with starts without dropout, which draws other numbers in other processes."""
    shutil.copytree(task, folder)
    for path in folder.glob("*/config.json"):
        config = json.loads(path.read_text())
        path.write_text(json.dumps(config | {name: 0.0 for name in config if name.endswith("dropout_prob")}))
    return folder


def train(task: Path, out: Path, files: dict[str, Path | list[Path]] | None = None, **settings) -> dict:
    """Train in this process, whose command line further processes of the training are given; what its timing says."""
    from scripts.training.fine_tune import fine_tune

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command(task, out, files, **settings)[1:])
        fine_tune(**arguments_of(fine_tune))
    return json.loads((out / "timing.json").read_text())


def kill(where: str, count: int, task: Path, out: Path, files: dict | None = None, **settings) -> None:
    """Train in a process that is killed without warning, after `count` steps or while it saves for the n-th time."""
    words = [sys.executable, "-c", KILLER, where, str(count), *command(task, out, files, **settings)[2:]]
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (out / "model").exists()


KILLER = """
import os, signal, sys
from ranktrial.common.command_line import arguments_of
from ranktrial.training import checkpoints, trainer
from scripts.training.fine_tune import fine_tune
where, count = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
owner, name = {"step": (checkpoints.Recorder, "on_step_end"), "save": (trainer.MicroBatchTrainer, "_save")}[where]
original = getattr(owner, name)
calls = []
def counted(*arguments, **named):
    original(*arguments, **named)
    calls.append(1)
    if len(calls) == count:
        os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, name, counted)
fine_tune(**arguments_of(fine_tune))
"""


def read_log(out: Path) -> list[dict[str, str]]:
    with open(out / "log.tsv") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def weights(out: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    files = sorted((out / "model").rglob("*.safetensors"))  # modules above the encoder may have weights of their own
    inside = [str(file.parent.relative_to(out / "model")).removeprefix(".") for file in files]
    return {
        f"{folder}{name}": rows
        for folder, file in zip(inside, files, strict=True)
        for name, rows in load_file(file).items()
    }


def same(left: Path, right: Path) -> bool:
    one, other = weights(left), weights(right)
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
