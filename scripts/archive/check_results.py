"""Check that the files under results/ are what their jobs wrote, of one experiment or of all.

Reads the ledger and every file that it lists. Prints each file that is missing, changed or not written by its folder's
job, then one line with the counts; the exit code is 1 if there is any. Files that no job entered are counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ranktrial.common import ledger
from ranktrial.common.command_line import run
from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError
from ranktrial.configuration.reading import NAME as CONFIGURATION
from ranktrial.configuration.reading import read_yaml
from ranktrial.engine.job_records import STATE
from scripts.archive.front import configuration

# Records of jobs in an experiment's folder, which no job reads.
NOT_OUTPUTS = ("logs", "benchmarks", CONFIGURATION)
DAMAGED = "is not a list of SHA-256 sums, so the files that it listed cannot be checked"


def experiments(results: Path) -> list[str]:
    """The experiments that have results, and `downloads`, which they share."""
    return sorted(folder.name for folder in results.iterdir() if folder.is_dir() and folder.name != STATE)


def listed(folders: list[str]) -> tuple[dict[str, str], set[str], list[str]]:
    """For folders of results/: file -> SHA-256 by the ledger; the folders recorded as a whole; damaged entries."""
    digests: dict[str, str] = {}
    whole, damaged = set(), []
    for folder in folders:
        for entry in ledger.entries(ledger.LEDGER / ledger.RESULTS / folder):
            name = entry.relative_to(ledger.LEDGER).as_posix()
            sums = ledger.read_entry(entry)
            if sums is None:
                damaged.append(f"{entry}: {DAMAGED}")
                continue
            digests |= sums
            if name not in sums:
                whole.add(name)
    return digests, whole, damaged


def outputs(folder: Path) -> Iterator[str]:
    """The files in a folder of results/ that are outputs of jobs."""
    for inside in files_below(folder):
        name = f"{folder.as_posix()}/{inside}"
        hidden = any(part.startswith(".") for part in inside.split("/"))
        if not hidden and inside.split("/")[0] not in NOT_OUTPUTS and ledger.name_of(Path(name)):
            yield name


def findings(results: Path, folders: list[str]) -> tuple[list[str], int, int]:
    """(`file: problem` for each wrong file, the number of files with a known SHA-256, the number of other files)."""
    expected, whole, problems = listed(folders)
    present = {name for folder in folders for name in outputs(results / folder)}
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        verdicts = pool.map(lambda name: ledger.verdict(Path(name), expected[name]), expected)
    problems += [f"{name}: {problem}" for name, problem in zip(expected, verdicts, strict=True) if problem]
    added = {name for name in present - set(expected) if any(name.startswith(f"{folder}/") for folder in whole)}
    problems += [f"{name}: {ledger.ALIEN}" for name in added]
    return sorted(problems), len(expected), len(present - set(expected) - added)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", help="its name; without it and --config all experiments are checked")
    parser.add_argument("--config", type=Path)
    arguments = parser.parse_args()
    started, results = time.monotonic(), Path(ledger.RESULTS)
    folders = experiments(results) if results.is_dir() else []
    if arguments.config or arguments.experiment:
        name = arguments.experiment or str(read_yaml(arguments.config).get("experiment"))
        if name not in folders and arguments.experiment:
            configuration(name, Path("config"))  # its UserError lists the experiments
        if name not in folders:
            raise UserError(f"results/{name}: no such folder: the experiment has no results yet")
        folders = [folder for folder in folders if folder in (name, "downloads")]
    elif not folders:
        raise UserError(f"{results}: no results in it")
    problems, checked, unrecorded = findings(results, folders)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    seconds = time.monotonic() - started
    print(
        f"{', '.join(folders)}: {checked} files checked in {seconds:.1f} s, "
        f"{len(problems)} are not what their jobs wrote; {unrecorded} not recorded"
    )
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    run(main)
