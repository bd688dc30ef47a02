"""A training on two nodes of a real Slurm: the weights of one process, and what happens when a process over there dies."""

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.cluster.conftest import ClusterWorkspace, experiment
from tests.cluster.daemons import wait
from tests.training.test_processes import OF_NO_EFFECT, TOLERANCE
from tests.workflow.conftest import copy

pytestmark = [pytest.mark.cluster, pytest.mark.long]

MODELS = Path("results/tiny/models/bert")
AWAY_ONCE = """\
#!/bin/sh
[ -z "$SLURM_JOB_ID" ] || [ -e $0.failed ] || {{
    touch $0.failed
    echo "{name}: Unable to create step for job $SLURM_JOB_ID: Unable to contact slurm controller" >&2
    exit 1
}}
exec /usr/bin/{name} "$@"
"""


@pytest.fixture(scope="module")
def trained(three, finished, tmp_path_factory):
    """One training twice: in one process, and in four on two nodes; without dropout, which differs by process.

    The second one finds the controller away at each of its commands, once.
    """
    workspace = ClusterWorkspace(copy(finished.folder, tmp_path_factory.mktemp("nodes") / "ranktrial").folder, three)
    path = workspace.folder / "weights/tiny/config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {name: 0.0 for name in config if name.endswith("dropout_prob")}))
    config = experiment()
    hard = config["recipes"].pop("hard") | {"epochs": 8, "learning_rate": 0.001, "checkpoint_steps": 5}
    config["recipes"] = {"alone": hard, "pair": hard | {"gpus": 2, "nodes": 2}}
    config["systems"] |= {name: {"model": "bert", "recipe": name} for name in config["recipes"]}
    del config["systems"]["hard"]
    config["comparisons"] = {"nodes": {"control": "alone", "treatment": "pair"}}
    workspace.write_config(config)
    commands = tmp_path_factory.mktemp("commands")
    for name in ("squeue", "scontrol", "srun"):
        (commands / name).write_text(AWAY_ONCE.format(name=name))
        (commands / name).chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
        workspace.finish(workspace.start(*(str(MODELS / name / "seed-1") for name in config["recipes"])))
    assert len([*commands.glob("*.failed")]) == 3
    yield workspace
    workspace.end()


def apart(workspace: ClusterWorkspace) -> float:
    """The largest difference of the weights of both trainings."""
    alone, shared = (
        load_file(workspace.folder / MODELS / name / "seed-1/model.safetensors") for name in ("alone", "pair")
    )
    return max(float(np.abs(alone[name] - shared[name]).max()) for name in alone if not name.endswith(OF_NO_EFFECT))


def log(workspace: ClusterWorkspace) -> str:
    path = workspace.folder / "results/tiny/logs/fine_tune/bert/pair/seed-1.log"
    return path.read_text() if path.exists() else ""


def test_two_nodes_train_the_weights_of_one_process(trained):
    assert apart(trained) < TOLERANCE
    timing = json.loads((trained.folder / MODELS / "pair/seed-1.timing.json").read_text())
    assert (timing["gpus"], timing["nodes"], timing["resumed_at_step"]) == (2, 2, 0)
    assert not (trained.folder / MODELS / "pair/seed-1.resume").exists()
    assert not [line for line in log(trained).splitlines() if "error" in line]
    assert log(trained).count("warning: Slurm does not answer") == 1


def test_the_job_has_its_gpus_on_each_of_its_nodes(trained):
    records = {one["Comment"].split("_")[-2]: one for one in trained.records("fine_tune")}
    alone, shared = records["alone"], records["pair"]
    assert (alone["NumNodes"], alone["TresPerJob"]) == ("1", "gres:gpu:a100:1")
    assert (shared["NumNodes"], shared["TresPerNode"], shared["JOB_GRES"]) == ("2", "gres:gpu:a100:2", "gpu:a100:4")
    assert "TresPerJob" not in shared


def processes_of_step(workspace: ClusterWorkspace) -> list[int]:
    """The processes that srun has started on the second node for a training of this workspace."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            command, folder = (process / "cmdline").read_bytes(), (process / "cwd").resolve()
            of_step = b"\0from ranktrial.training.nodes import take_place" in command and not command.startswith(
                b"srun"
            )
            if of_step and folder == workspace.folder.resolve():
                found.append(int(process.name))
    return found


def test_a_process_that_dies_on_the_second_node_ends_the_training_which_then_goes_on(trained, tmp_path):
    again = ClusterWorkspace(copy(trained.folder, tmp_path / "ranktrial").folder, trained.slurm)
    for path in (again.folder / MODELS / "pair").iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    target = str(MODELS / "pair/seed-1")
    resume = again.folder / f"{target}.resume"
    try:
        process = again.start(target, "--retries", "0")
        wait(lambda: list(resume.glob("checkpoint-*/complete.json")) or process.poll() is not None, 300, "a checkpoint")
        there = processes_of_step(again)
        assert len(there) == 2, again.said()[-3000:]
        # The signal that Slurm sends before the time limit: the first process writes a checkpoint.
        subprocess.run(["scancel", "--batch", "--signal=URG", again.records("fine_tune")[-1]["JobId"]], check=True)
        wait(lambda: "the time limit is near: checkpoint at step" in log(again), 60, "the checkpoint")
        os.kill(there[0], signal.SIGKILL)
        assert process.wait() != 0
        assert again.states("fine_tune") == ["FAILED"]
        lines = [line for line in again.said().splitlines() if line.startswith("error: ")]
        assert len(lines) == 1 and lines[0].startswith(
            "error: a process on another node of the training has ended (Killed)"
        )
        assert "Traceback" not in again.said() and not (again.folder / target).exists()
        wait(lambda: not processes_of_step(again), 30, "the end of the other process there")
        again.finish(again.start(target))
    finally:
        again.end()
    assert json.loads((again.folder / f"{target}.timing.json").read_text())["resumed_at_step"] > 0
    assert apart(again) < TOLERANCE
