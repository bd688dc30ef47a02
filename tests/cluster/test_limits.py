"""What sites set: limits, accounts and QOS on a real Slurm with accounting, met by editing the profile's block alone."""

import os
import subprocess
import sys

import pytest

from tests.cluster.accounting import sacctmgr
from tests.cluster.conftest import ClusterWorkspace, experiment
from tests.cluster.loopback import CLUSTER
from tests.cluster.test_faults import QUICK_OUTPUT
from tests.workflow.conftest import copy

pytestmark = [pytest.mark.cluster, pytest.mark.long]

VECTORS = "results/tiny/embeddings/weather/bert/hard/seed-1.vectors"


@pytest.fixture
def workspace(three, finished, tmp_path):
    workspace = ClusterWorkspace(copy(finished.folder, tmp_path / "ranktrial").folder, three)
    yield workspace
    workspace.end()


def test_submissions_above_a_limit_wait_for_room_and_use_up_no_attempt(workspace, three):
    """The run takes the limit for its own; one of its two places is another job's of the user."""
    config = experiment()
    del config["models"], config["recipes"]
    config["systems"] = {f"b{n}": {"type": "bm25", "k1": 0.4 + n / 10, "b": 0.4} for n in range(3)}
    config["comparisons"] = {"last": {"control": "b0", "treatment": "b2"}}
    workspace.write_config(config)
    runs = [f"results/tiny/runs/weather/b{n}/seed-0.trec.gz" for n in range(3)]
    sacctmgr("modify", "qos", "normal", "set", "MaxSubmitJobsPerUser=2")
    other = three.ask("sbatch", "--parsable", "--output=/dev/null", "--wrap", "sleep 600").strip()
    try:
        workspace.finish(workspace.start(*runs, "--retries", "0"))
    finally:
        three.ask("scancel", other)
        sacctmgr("modify", "qos", "normal", "set", "MaxSubmitJobsPerUser=-1")
    assert workspace.lines("at most 2 jobs in the queue at a time: the limit of QOS normal")
    (warning,) = workspace.lines("warning: Slurm takes no more jobs for now")
    assert "QOSMaxSubmitJobPerUserLimit" in warning
    assert workspace.states("search") == ["COMPLETED"] * 3 and not workspace.lines("failed: ")


@pytest.fixture
def reservation(three):
    """A reservation of the first node, which gets a feature; both end with the test, since others need the node."""
    node = f"NodeName={three.shape.nodes[0]}"
    three.ask("scontrol", "update", node, "AvailableFeatures=avx512")
    words = ["ReservationName=review", "StartTime=now", "Duration=60", "Users=root", f"Nodes={three.shape.nodes[0]}"]
    assert "review" in three.ask("scontrol", "create", "reservation", *words)
    yield "review"
    three.ask("scontrol", "delete", "ReservationName=review")
    three.ask("scontrol", "update", node, "AvailableFeatures=")


def check(workspace: ClusterWorkspace) -> subprocess.CompletedProcess:
    command = [sys.executable, "scripts/engine/check_cluster.py"]
    environment = os.environ | {"PYTHONPATH": "."}
    return subprocess.run(command, cwd=workspace.folder, env=environment, capture_output=True, text=True)


def test_the_block_alone_meets_a_site_with_accounts_qos_features_and_reservations(reservation, workspace):
    for name in ("lab", "gpus"):
        sacctmgr("add", "account", name, f"cluster={CLUSTER}")
        sacctmgr("add", "user", "root", f"account={name}", f"cluster={CLUSTER}")
    sacctmgr("add", "qos", "paper")
    sacctmgr("modify", "user", "root", "set", "qos+=paper")
    block = {
        "account": '"lab"', "gpu_account": '"gpus"', "gpus_by": "gres", "cpus_per_gpu": "2", "longest": "5",
        "longest_gpu": "7", "largest": "900", "qos": "paper", "constraint": "avx512", "extra": f"--reservation={reservation}",
    }  # fmt: skip
    for name, value in block.items():
        workspace.edit(rf'^  {name}: (?:""|\S+)', f"  {name}: {value}")
    done = check(workspace)
    assert done.returncode == 0, done.stdout
    for path in (QUICK_OUTPUT, f"{VECTORS}.timing.json"):
        (workspace.folder / path).unlink(missing_ok=True)
    workspace.finish(workspace.start(QUICK_OUTPUT, VECTORS, "--forcerun", "encode", "--retries", "0"))
    (search,), (encode,) = workspace.records("search"), workspace.records("encode")
    assert (search["Account"], search["TimeLimit"]) == ("lab", "00:05:00")
    assert (encode["Account"], encode["TimeLimit"], encode["TresPerNode"]) == ("gpus", "00:07:00", "gres:gpu:a100:1")
    for record in (search, encode):
        asked = [record[name] for name in ("QOS", "Features", "Reservation", "MinMemoryNode")]
        assert asked == ["paper", "avx512", "review", "900M"]
    workspace.edit("^  account: .*", '  account: "nosuch"')
    done = check(workspace)
    assert done.returncode == 1 and "Invalid account" in done.stdout
