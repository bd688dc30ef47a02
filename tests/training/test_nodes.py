"""A training on several nodes: what Slurm is asked and given. Trainings on two real ones are tests/cluster/test_nodes.py."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.processes import Patience, pauses
from ranktrial.common.timing import Seconds
from ranktrial.training import nodes, processes
from ranktrial.training.checkpoints import fingerprint
from ranktrial.training.nodes import Nodes
from ranktrial.training.other_processes import Others, why_ended
from ranktrial.training.training_settings import Settings
from scripts.training.fine_tune import seconds_of
from tests.support.tiny_task import SCHEDULE, command, train, without_dropout
from tests.training.test_processes import TOLERANCE, apart

PAIR = Nodes("10.0.0.1", ("b", "c"), "10.0.0.2")


@pytest.fixture
def job(monkeypatch, tmp_path):
    """A job of Slurm on the nodes a, b and c, of which this is a, as stand-ins of Slurm's commands say."""
    answers = {
        "squeue": 'case "$*" in *--jobs=7*) echo "n[a-c]";; *) exit 1;; esac',
        "scontrol": 'case "$*" in *hostnames*) printf "a\\nb\\nc\\n";; *) echo "NodeName=$4 Arch=x NodeAddr=at-$4 Port=1";; esac',
    }
    for name, script in answers.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURMD_NODENAME", "a")


def test_slurm_says_which_nodes_there_are_and_where(job):
    assert nodes.nodes_of_job(3) == Nodes("at-a", ("b", "c"), "at-b")
    assert nodes.nodes_of_job(2).others == ("b",)


def test_a_job_of_fewer_nodes_is_refused(job):
    with pytest.raises(UserError, match=r"^nodes: 4, but this job has 3 of them; ask for as many, or lower it$"):
        nodes.nodes_of_job(4)


AWAY = "Unable to contact slurm controller (connect failure)"
FIRST = "[ -e $0.called ] || { touch $0.called; echo"
STAND_INS = {
    "squeue": f"{FIRST} 'slurm_load_jobs error: {AWAY}' >&2; exit 1; }}; echo nodes",
    "scontrol": "case $2 in hostnames) printf 'a\\nb\\n';; *) echo NodeAddr=127.0.0.1;; esac",
    "srun": f"{FIRST} 'srun: error: Unable to create step for job 7: {AWAY}' >&2; exit 1; }}\n"
    'while [ "$1" != -- ]; do shift; done; shift; export SLURM_PROCID=0 SLURM_LOCALID=0; exec "$@"',
}


@pytest.mark.usefixtures("warm_processes")
def test_a_training_waits_for_a_controller_that_is_away_when_it_starts(task, tmp_path):
    """Two of Slurm's commands fail once, each of which is waited for; srun's step is a process of this machine."""
    undisturbed = without_dropout(task, tmp_path / "task")
    train(undisturbed, tmp_path / "alone")
    for name, script in STAND_INS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    given = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "a", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        command(undisturbed, tmp_path / "shared", nodes=2),
        env=os.environ | given | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "squeue.called").exists() and (tmp_path / "srun.called").exists()
    said = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert said == [
        f"warning: Slurm does not answer (squeue: slurm_load_jobs error: {AWAY}); it is asked again, for 10 minutes at most"
    ]
    assert apart(tmp_path / "alone", tmp_path / "shared") < TOLERANCE


@pytest.mark.parametrize("name", ["squeue", "scontrol"])
def test_waiting_for_slurm_ends(job, monkeypatch, tmp_path, name):
    (tmp_path / name).write_text(f"#!/bin/sh\necho >>$0.calls\necho '{AWAY}' >&2\nexit 1\n")
    monkeypatch.setattr(nodes, "_patience", Patience(pauses(0.01, 0.02, 0.2), lambda reason: None))
    with pytest.raises(UserError, match=f"^{name}: Unable to contact slurm controller"):
        nodes.nodes_of_job(2)
    assert len((tmp_path / f"{name}.calls").read_text()) > 2


@pytest.mark.parametrize(
    "said",
    [
        "srun: error: Unable to create step for job 7: Invalid job id specified",
        "srun: error: b: task 0: Exited with exit code 1",
        f"error: the model cannot be read\nsrun: error: {AWAY}",
    ],
)
def test_a_step_that_had_begun_or_is_refused_is_not_started_again(said):
    assert nodes.begins_after(said) is None


def test_what_slurm_cannot_tell_is_one_line(job, monkeypatch, tmp_path):
    (tmp_path / "squeue").write_text("#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id' >&2\nexit 1\n")
    with pytest.raises(UserError, match=r"^squeue: slurm_load_jobs error: Invalid job id$"):
        nodes.nodes_of_job(2)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"^squeue: no such command on this machine"):
        nodes.nodes_of_job(2)


@pytest.mark.usefixtures("warm_processes")
def test_without_slurm_the_training_ends_in_one_line_that_says_what_it_needs(task, tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    done = subprocess.run(
        command(task, tmp_path, nodes=2),
        env=environment | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: nodes: 2, but this is no job of Slurm; run with --profile slurm, or leave nodes out"
    ]
    assert not (tmp_path / "model").exists()


def test_a_step_has_as_many_processes_on_each_of_the_other_nodes_beside_the_one_that_runs():
    words = nodes.step(PAIR, 4, ["python", "-c", "a program; $(of) words"])
    assert words[0] == "srun" and {"--overlap", "--kill-on-bad-exit=1", "--mpi=none"} <= set(words)
    assert {"--nodelist=b,c", "--nodes=2", "--ntasks=8", "--ntasks-per-node=4"} <= set(words)
    assert words[words.index("--") + 1 :] == ["python", "-c", "a program; $(of) words"]


def test_the_step_is_given_nothing_of_the_one_that_runs_here(monkeypatch):
    for name in (
        "SLURM_JOB_ID",
        "SLURM_CONF",
        "SLURM_STEP_GPUS",
        "SLURM_NTASKS",
        "SRUN_CPUS_PER_TASK",
        "SLURMD_NODENAME",
    ):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    reported = nodes.environment_of_step()
    assert {"SLURM_JOB_ID", "SLURM_CONF", "SLURMD_NODENAME", "PATH"} <= reported.keys()
    assert not {"SLURM_STEP_GPUS", "SLURM_NTASKS", "SRUN_CPUS_PER_TASK", "CUDA_VISIBLE_DEVICES"} & reported.keys()


@pytest.mark.parametrize(
    ("given", "local", "device"),
    [("4,5", "1", "5"), ("GPU-a,GPU-b", "0", "GPU-a"), ("", "1", "1"), (None, "1", "1"), ("4,5", "2", "none")],
)
def test_a_process_of_a_step_takes_its_place_and_a_device_of_its_node(monkeypatch, given, local, device):
    reported = {nodes.FIRST_OF_OTHERS: "2", "SLURM_PROCID": "3", "SLURM_LOCALID": local}
    for name, value in reported.items():
        monkeypatch.setenv(name, value)
    for name in (nodes.RANK, "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    if given is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    nodes.take_place()
    nodes.take_place()  # as after a beginning anew, in UTF-8
    assert os.environ[nodes.RANK] == "5" and os.environ["CUDA_VISIBLE_DEVICES"] == device


@pytest.mark.parametrize(
    ("said", "why", "cause"),
    [
        ("error: no such file\nsrun: error: b: task 1: Exited with exit code 1\nsrun: error: b: task 0: Killed\n",
         "no such file", True),
        ("srun: error: b: task 0: Killed\n", "a process on another node of the training has ended (Killed)", True),
        ("slurmstepd: error: *** STEP 7.1 ON b CANCELLED ***\nsrun: error: b: tasks 0-1: Segmentation fault\n",
         "a process on another node of the training has ended (Segmentation fault)", True),
        ("Traceback\nRuntimeError: closed by peer\nsrun: error: b: task 0: Exited with exit code 1\n",
         "RuntimeError: closed by peer", False),
        ("srun: error: Unable to create step for job 7: Requested nodes are busy\n",
         "srun: Unable to create step for job 7: Requested nodes are busy", True),
        ("", "srun: no word from it", True),
    ],
)  # fmt: skip
def test_why_a_step_has_failed_is_one_line_without_the_nodes_name(said, why, cause):
    assert nodes.why_ended(said) == (why, cause)


def test_the_cause_is_reported_and_not_what_follows_from_it(tmp_path):
    others = Others(tmp_path)
    end = "import sys, time; time.sleep(float(sys.argv[1])); sys.exit(sys.argv[2])"
    for number, (seconds, words) in enumerate([("0", "RuntimeError: closed by peer"), ("1", "error: the cause")], 1):
        program = [sys.executable, "-c", end, seconds, words]
        others.start(program, dict(os.environ), lambda said, code, number=number: why_ended(number, said, code))
    try:
        assert others.failure(30) == "the cause"
    finally:
        others.end(0)


def test_what_is_started_ends_by_the_signal_that_it_heeds(tmp_path):
    others = Others(tmp_path)
    heeds = "trap 'echo heeded; exit 0' TERM; echo ready; while :; do sleep 0.1; done"
    others.start(["sh", "-c", heeds], dict(os.environ), lambda said, code: ("", True), signal.SIGTERM)
    while not (tmp_path / "1").read_text():
        pass
    others.end(0)
    assert (tmp_path / "1").read_text().split() == ["ready", "heeded"]


def test_the_interface_is_the_one_that_leads_there():
    assert nodes.interface_towards("127.0.0.1") == "lo"
    assert nodes.interface_towards("no.such.name.invalid") is None


def test_a_first_node_that_cannot_be_reached_is_reported_in_one_line(monkeypatch):
    monkeypatch.setattr(processes, "REACHED", timedelta(seconds=1))
    with pytest.raises(UserError, match=r"^nodes: the first node cannot be reached from another at 127.0.0.1, port 9$"):
        processes._meet("tcp://127.0.0.1:9", 2, None, "127.0.0.1")


def test_an_address_of_this_node_that_leads_nowhere_is_reported_in_one_line(monkeypatch):
    monkeypatch.setattr(processes, "REACHED", timedelta(seconds=1))
    with pytest.raises(
        UserError, match=r"^nodes: no.such.name.invalid, by which Slurm reaches this node, does not lead"
    ):
        processes._listen("no.such.name.invalid", 2)


def test_checkpoints_serve_any_number_of_nodes():
    marks = {
        fingerprint(Settings(**SCHEDULE, **many), [], "", "") for many in ({}, {"nodes": 2}, {"nodes": 3, "gpus": 4})
    }
    assert len(marks) == 1


def test_joules_of_other_nodes_are_not_known():
    measured = Seconds(2.0, {"gpu": 5.0, "processor": 3.0})
    left = [seconds_of(measured, *of).joules for of in ((1, 1), (4, 1), (1, 2))]
    assert left == [{"gpu": 5.0, "processor": 3.0}, {"processor": 3.0}, {}]
