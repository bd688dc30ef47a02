"""Two hundred short jobs on three nodes while jobs are cancelled, nodes drained and Slurm's commands fail, at random."""

import os
import random
import time
from collections import Counter

import pytest

from tests.cluster.conftest import ClusterWorkspace, experiment
from tests.cluster.daemons import wait
from tests.cluster.wrappers import MODES, Wrappers, lock_jobs, read
from tests.support import warm
from tests.workflow.conftest import Workspace, copy

pytestmark = [pytest.mark.cluster, pytest.mark.long]

ASIDE, TIMES = {"logs", "benchmarks"}, {"costs", "inference-times"}
SYSTEMS = 98  # of BM25: as many searches and as many scorings, and four other jobs
CANCELLED_AT_MOST = 2  # times one job, which has four attempts
LIMIT = 3600  # seconds


def many() -> dict:
    config = experiment()
    del config["models"], config["recipes"]
    config["systems"] = {f"b{n}": {"type": "bm25", "k1": round(0.4 + n / 50, 2), "b": 0.4} for n in range(SYSTEMS)}
    config["comparisons"] = {"last": {"control": "b0", "treatment": f"b{SYSTEMS - 1}"}}
    return config


@pytest.fixture(scope="module")
def undisturbed(prepared, tmp_path_factory) -> Workspace:
    """The same experiment by processes of this machine, without Slurm."""
    workspace = Workspace(copy(prepared.folder, tmp_path_factory.mktemp("undisturbed") / "ranktrial").folder)
    workspace.write_config(many())
    workspace.python = str(warm.start(tmp_path_factory.mktemp("warm")))
    done = workspace.snakemake()
    assert done.returncode == 0, done.stderr[-3000:]
    return workspace


def results(workspace: Workspace) -> dict[str, bytes]:
    """The content of all runs, values and tables, except those of times."""
    folder = workspace.folder / "results" / "tiny"
    files = [path for path in folder.rglob("*") if path.name.endswith((".trec.gz", ".tsv")) and path.stem not in TIMES]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if ASIDE.isdisjoint(path.parts)}


class Disturbances:
    """What a seed does to a Slurm, one thing at a time; `done` counts them."""

    def __init__(self, workspace: ClusterWorkspace, wrappers: Wrappers, seed: int) -> None:
        self.workspace, self.slurm, self.wrappers = workspace, workspace.slurm, wrappers
        self.random = random.Random(seed)
        self.cancelled: Counter[str] = Counter()
        self.done: Counter[str] = Counter()

    def next(self) -> None:
        """One disturbance, from its beginning to its end, after a while without any."""
        time.sleep(self.random.uniform(3, 12))
        kinds = [self.cancel, self.cancel, self.drain, self.restart, self.command, self.command, self.command]
        self.random.choice(kinds)()

    def cancel(self) -> None:
        jobs = [one for one in self.slurm.jobs(self.workspace.folder) if one["JobState"] in ("RUNNING", "PENDING")]
        jobs = [one for one in jobs if self.cancelled[one["Comment"]] < CANCELLED_AT_MOST]
        for one in self.random.sample(jobs, min(len(jobs), 3)):
            self.cancelled[one["Comment"]] += 1
            self.slurm.ask("scancel", one["JobId"])
            self.done["cancel"] += 1

    def drain(self) -> None:
        node = self.random.choice([self.slurm.host, *self.slurm.shape.nodes])
        self.slurm.ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
        time.sleep(self.random.uniform(5, 20))
        self.slurm.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        self.done["drain"] += 1

    def restart(self) -> None:
        self.slurm.stop_controller()
        time.sleep(self.random.uniform(0, 15))
        self.slurm.start_controller()
        self.done["restart"] += 1

    def command(self) -> None:
        command = self.random.choice(list(MODES))
        word = self.random.choice(MODES[command])
        self.wrappers.mode(command, word)
        time.sleep(self.random.uniform(5, 20))
        self.wrappers.mode(command, "as it is")
        self.done[f"{command}: {word}"] += 1


@pytest.mark.parametrize("seed", [1, 2])
def test_results_of_a_disturbed_run_are_those_of_an_undisturbed_one(
    seed, three, prepared, undisturbed, tmp_path, monkeypatch
):
    workspace = ClusterWorkspace(copy(prepared.folder, tmp_path / "ranktrial").folder, three)
    workspace.write_config(many())
    wrappers, locks = Wrappers(tmp_path / "bin"), tmp_path / "locks"
    lock_jobs(workspace.folder, locks)
    monkeypatch.setenv("PATH", f"{wrappers.folder}:{os.environ['PATH']}")
    disturbances = Disturbances(workspace, wrappers, seed)
    try:
        process = workspace.start(seconds=LIMIT)
        while process.poll() is None:
            disturbances.next()
        print(f"seed {seed}: {dict(disturbances.done)}, {len(wrappers.taken)} taken without an id")
        workspace.finish(process)
        wait(lambda: three.ask("/usr/bin/squeue", "--noheader") == "", 60, "an empty queue")
    finally:
        workspace.end()
    assert read(locks / "broken") == []
    assert len(set(read(locks / "begun"))) >= 2 * SYSTEMS
    assert len(disturbances.done) >= 4, disturbances.done
    ours, theirs = results(workspace), results(undisturbed)
    assert len(theirs) > 2 * SYSTEMS and ours.keys() == theirs.keys()
    assert [name for name, content in theirs.items() if ours[name] != content] == []
