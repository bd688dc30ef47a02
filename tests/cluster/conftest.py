"""A real Slurm on this machine and an experiment that ran on it through the profile that is shipped."""

import os
import re
import signal
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cluster.loopback import Loopback, Shape, install, obstacle
from tests.support.tiny_bert import build
from tests.workflow.conftest import REPOSITORY, Workspace, copy, write_collection

QUICK = ["--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5"]  # the node is this machine


class ClusterWorkspace(Workspace):
    """A workspace whose Snakemake submits to the Slurm of these tests."""

    slurm: Loopback

    def __init__(self, folder: Path, slurm: Loopback) -> None:
        super().__init__(folder)
        self.slurm = slurm
        self.started: list[subprocess.Popen] = []

    def command(self, *arguments: str, **options: str) -> list[str]:
        return super().command(*arguments, "--profile", "slurm", *QUICK, **options)

    def start(self, *arguments: str, config: str = "tiny.yaml", seconds: int = 900) -> subprocess.Popen:
        """Start Snakemake, ended after so many seconds, and give back its process; its words are in run.log."""
        with open(self.folder / "run.log", "a") as log:
            process = subprocess.Popen(
                ["timeout", "--signal=INT", str(seconds), *self.command(*arguments, config=config)],
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.started.append(process)
        return process

    def said(self) -> str:
        return (self.folder / "run.log").read_text()

    def finish(self, process: subprocess.Popen) -> None:
        """Wait for the end of a Snakemake, which must be a good one."""
        assert process.wait() == 0, self.said()[-5000:]

    def end(self) -> None:
        """End what still runs: each Snakemake that was started, then its jobs."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        active = [one["JobId"] for one in self.slurm.jobs(self.folder) if one["JobState"] in ("RUNNING", "PENDING")]
        if active:
            self.slurm.ask("scancel", *active)

    def edit(self, pattern: str, value: str) -> None:
        """Change what a pattern finds, once, in this copy's profile, as a site would."""
        path = self.folder / "profiles" / "slurm" / "config.yaml"
        text, count = re.subn(f"(?m){pattern}", lambda _: value, path.read_text())
        assert count == 1, pattern
        path.write_text(text)

    def needs(self, rule: str, call: str) -> None:
        """Give a rule other needs in this copy's profile."""
        self.edit(rf"^  {rule}: \?need\(.*\)$", f"  {rule}: ?{call}")

    def records(self, rule: str) -> list[dict[str, str]]:
        """What Slurm recorded of a rule's jobs from this folder."""
        return self.slurm.of_rule(self.folder, rule)

    def states(self, rule: str) -> list[str]:
        return [one["JobState"] for one in self.records(rule)]

    def one_at_a_time(self, rule: str) -> list[str]:
        """The states of a rule's jobs, none of which began before the one before had ended."""
        records = [one for one in self.records(rule) if one["StartTime"] != "Unknown"]
        assert all(first["EndTime"] <= second["StartTime"] for first, second in pairwise(records))
        return [one["JobState"] for one in records]

    def lines(self, beginning: str) -> list[str]:
        """The lines of the terminal that begin so."""
        return [line for line in self.said().splitlines() if line.startswith(beginning)]


def experiment(documents_of: str = "data/weather") -> dict:
    """BM25, a bi-encoder as it is and one fine-tuned for some seconds, on one task: few jobs, each of another kind."""
    return {
        "experiment": "tiny",
        "measures": ["nDCG@10", "RR@10"],
        "depth": 20,
        "datasets": {"weather": {"format": "beir", "location": documents_of}},
        "models": {"bert": {"type": "bi-encoder", "weights": "weights/tiny", "max_length": 16}},
        "recipes": {
            "hard": {"train_on": "weather", "negatives": {"per_query": 2}, "epochs": 60, "batch_size": 8,
                     "learning_rate": 0.0001, "checkpoint_steps": 50},
        },
        "systems": {"bm25": {"type": "bm25", "k1": 0.9, "b": 0.4}, "hard": {"model": "bert", "recipe": "hard"}},
        "tasks": ["weather"],
        "comparisons": {"hard-helps": {"control": "bm25", "treatment": "hard"}},
    }  # fmt: skip


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """A running one-node Slurm with one simulated A100; stopped at the end whatever happens."""
    why = obstacle()
    if why:
        pytest.skip(f"no Slurm: {why}")
    try:
        install()
    except RuntimeError as error:
        pytest.skip(f"no Slurm: {error}")
    made = Loopback(tmp_path_factory.mktemp("slurm"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def three(slurm):
    """The Slurm of these tests with three nodes, accounting and limits, which it keeps for all further tests."""
    shape = Shape(further=2, accounting=True)
    if why := shape.obstacle():
        pytest.skip(why)
    slurm.end()
    slurm.begin(shape)
    return slurm


@pytest.fixture(scope="session")
def prepared(slurm, tmp_path_factory) -> ClusterWorkspace:
    """A copy of the repository with a tiny collection and model; nothing has run in it."""
    folder = copy(REPOSITORY, tmp_path_factory.mktemp("prepared") / "ranktrial").folder
    texts = write_collection(folder / "data" / "weather", seed=1)
    build(folder / "weights" / "tiny", texts, seed=1)
    workspace = ClusterWorkspace(folder, slurm)
    workspace.write_config(experiment())
    workspace.edit(r"longest: \d+", "longest: 60")
    workspace.edit(r"longest_gpu: \d+", "longest_gpu: 60")
    start = folder / "rules" / "start.smk"
    text = start.read_text()
    assert text.count("; export PYTHONPATH=") == 1
    # The GPUs of these tests are Slurm's alone: a job asks for them, and its commands compute on the processor.
    start.write_text(text.replace("; export PYTHONPATH=", "; export RANKTRIAL_DEVICE=cpu PYTHONPATH="))
    return workspace


@pytest.fixture(scope="session")
def finished(prepared, tmp_path_factory) -> ClusterWorkspace:
    """The experiment, run from raw data to its summary by Slurm jobs."""
    folder = copy(prepared.folder, tmp_path_factory.mktemp("finished") / "ranktrial").folder
    workspace = ClusterWorkspace(folder, prepared.slurm)
    workspace.write_config(experiment() | {"timing": "exclusive"})
    workspace.finish(workspace.start())
    return workspace


@pytest.fixture
def again(finished, tmp_path) -> ClusterWorkspace:
    """A copy of the finished experiment to change."""
    workspace = ClusterWorkspace(copy(finished.folder, tmp_path / "ranktrial").folder, finished.slurm)
    yield workspace
    workspace.end()


@pytest.fixture
def wrapped(again, monkeypatch, tmp_path):
    """Put a shell script before a command of Slurm; `$real` in it is that command."""

    def wrap(command, script):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / command).write_text(f"#!/bin/sh\nreal=/usr/bin/{command} count={folder}/{command}.calls\n{script}\n")
        (folder / command).chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return wrap
