"""The sides of a row in turn, A B A B, each time in a process of its own, and what they took."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from tests.benchmark.row import Result, Row, sides

REPOSITORY = Path(__file__).parents[2]


class Measured(NamedTuple):
    """What a side took: medians over its runs, the seconds of each run, and how far it is from the plain way."""

    seconds: float
    processor_seconds: float
    peak_rss_bytes: float
    runs: list[float]
    agreement: str


def take(name: str, side: str, folder: Path) -> dict[str, float]:
    """Run one side once. Raises RuntimeError with what it said where it fails."""
    command = [sys.executable, "-m", "tests.benchmark.side", name, side, str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name}, {side}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def result(folder: Path, side: str) -> Result:
    """What a side's last run gave."""
    with np.load(folder / f"{side}.npz", allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def compare(name: str, row: Row, folder: Path, repeats: int) -> dict[str, Measured]:
    """Run all sides in turn, `repeats` times (but see ONCE). Raises AssertionError where results do not agree."""
    taken: dict[str, list[dict[str, float]]] = {side: [] for side in sides(row)}
    for _ in range(1 if getattr(row, "ONCE", False) else repeats):
        for side in taken:
            taken[side].append(take(name, side, folder))
    first = next(iter(row.SIDES))
    plain = result(folder, first)
    return {
        side: Measured(
            *(median(run[key] for run in runs) for key in ("seconds", "processor_seconds", "peak_rss_bytes")),
            [run["seconds"] for run in runs],
            "" if side == first else row.agree(side, plain, result(folder, side)),
        )
        for side, runs in taken.items()
    }
