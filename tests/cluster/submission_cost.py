"""What many short jobs cost a scheduler, submitted one by one, as job arrays and as groups: the table of docs/cluster.md.

Run by hand, as root on Debian: PYTHONPATH=. .venv/bin/python tests/cluster/submission_cost.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.cluster.conftest import ClusterWorkspace, experiment
from tests.cluster.loopback import Loopback, install, obstacle
from tests.workflow.conftest import REPOSITORY, copy, write_collection

SYSTEMS = 12  # of BM25: as many searches and as many scorings
RULES = ("search", "score")
WAYS = {
    "one by one": [],
    "arrays": ["--slurm-array-jobs", ",".join(RULES)],
    "groups of 6": ["--groups", *(f"{r}={r}" for r in RULES), "--group-components", *(f"{r}=6" for r in RULES)],
}


def measure(slurm: Loopback, folder: Path, options: list[str]) -> tuple[int, int, float, float]:
    """Submissions, jobs that Slurm scheduled, core-seconds that it gave them, and seconds from start to end."""
    workspace = ClusterWorkspace(copy(REPOSITORY, folder).folder, slurm)
    write_collection(workspace.folder / "data" / "weather", seed=1)
    config = experiment()
    del config["models"], config["recipes"]
    config["systems"] = {f"b{n}": {"type": "bm25", "k1": 0.4 + n / 10, "b": 0.4} for n in range(SYSTEMS)}
    config["comparisons"] = {"last": {"control": "b0", "treatment": f"b{SYSTEMS - 1}"}}
    workspace.write_config(config)
    start = time.monotonic()
    workspace.finish(workspace.start(*options))
    wall = time.monotonic() - start
    records = slurm.jobs(workspace.folder)
    cores = sum(int(one["NumCPUs"]) * seconds(one["RunTime"]) for one in records)
    return len({one.get("ArrayJobId", one["JobId"]) for one in records}), len(records), cores, wall


def seconds(clock: str) -> int:
    hours, minutes, rest = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(rest)


def main() -> None:
    why = obstacle()
    if why:
        sys.exit(f"error: no Slurm: {why}")
    install()
    with tempfile.TemporaryDirectory() as folder:
        print_table(Path(folder))


def print_table(folder: Path) -> None:
    """Start a Slurm in `folder`, measure each way and print a row for it."""
    slurm = Loopback(folder / "slurm")
    try:
        slurm.start()
        print("| way | submissions | jobs | core-seconds | wall seconds |\n|---|---|---|---|---|")
        for number, (way, options) in enumerate(WAYS.items()):
            submissions, jobs, cores, wall = measure(slurm, folder / str(number), options)
            print(f"| {way} | {submissions} | {jobs} | {cores:.0f} | {wall:.0f} |", flush=True)
    finally:
        slurm.stop()


if __name__ == "__main__":
    main()
