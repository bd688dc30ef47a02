"""See that what lies under results/ is what its jobs wrote, of one experiment or of all.

Reads the ledger and every file that it lists; of files without an entry, the checksums that Snakemake's records keep of
what later jobs read. Prints each file that is missing, changed or not of its folder's job, then one line in sum; ends
with 1 if there is any. Files of which nothing was recorded (made by an older version) are counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.archive.front import configuration
from scripts.common import ledger
from scripts.common.command_line import run
from scripts.common.digests import files_below
from scripts.common.errors import UserError
from scripts.engine.job_records import PARTS, STATE, records
from scripts.experiment.reading import read_yaml
from scripts.experiment.resolved_file import NAME as CONFIGURATION

NOT_OUTPUTS = (
    "logs",
    "benchmarks",
    CONFIGURATION,
)  # in an experiment's folder, what tells of its jobs; nothing reads it
DAMAGED = "is no list of SHA-256 sums, so nothing is known of what it was of"


def experiments(results: Path) -> list[str]:
    """The experiments that there are results of, and the downloads that they share."""
    return sorted(one.name for one in results.iterdir() if one.is_dir() and one.name != STATE)


def listed(folders: list[str]) -> tuple[dict[str, str], set[str], list[str]]:
    """Of these folders of results/: file -> SHA-256 by the ledger, the folders recorded as a whole, damaged entries."""
    known: dict[str, str] = {}
    whole, damaged = set(), []
    for folder in folders:
        for entry in ledger.entries(ledger.LEDGER / ledger.RESULTS / folder):
            name = entry.relative_to(ledger.LEDGER).as_posix()
            found = ledger.read_entry(entry)
            if found is None:
                damaged.append(f"{entry}: {DAMAGED}")
                continue
            known |= found
            if name not in found:
                whole.add(name)
    return known, whole, damaged


def read_by_later_jobs(results: Path) -> dict[str, str]:
    """File -> SHA-256 of what the last job read that took it as input, by Snakemake's records."""
    found: dict[str, tuple[float, str]] = {}
    for _, record in records(results / STATE / PARTS[0]):
        read = record.get("input_checksums") if isinstance(record, dict) else None
        ended = (record.get("endtime") or 0) if read else 0
        for path, checksum in (read or {}).items():
            if ended >= found.get(path, (0, ""))[0] and str(checksum).startswith("sha256:"):
                found[path] = (ended, checksum.removeprefix("sha256:"))
    return {path: checksum for path, (_, checksum) in found.items()}


def outputs(folder: Path) -> Iterator[str]:
    """The files that lie in a folder of results/ as jobs' outputs."""
    for inside in files_below(folder):
        name = f"{folder.as_posix()}/{inside}"
        hidden = any(part.startswith(".") for part in inside.split("/"))
        if not hidden and inside.split("/")[0] not in NOT_OUTPUTS and ledger.name_of(Path(name)):
            yield name


def findings(results: Path, folders: list[str]) -> tuple[list[str], int, int]:
    """What is wrong, file by file; how many files are known by their SHA-256; and how many are not."""
    known, whole, found = listed(folders)
    there = {name for folder in folders for name in outputs(results / folder)}
    later = read_by_later_jobs(results)
    wanted = known | {name: later[name] for name in there - set(known) if name in later}
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        said = pool.map(lambda name: ledger.verdict(Path(name), wanted[name]), wanted)
    found += [f"{name}: {one}" for name, one in zip(wanted, said, strict=True) if one]
    alien = {name for name in there - set(wanted) if any(name.startswith(f"{folder}/") for folder in whole)}
    found += [f"{name}: {ledger.ALIEN}" for name in alien]
    return sorted(found), len(wanted), len(there - set(wanted) - alien)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", help="its name; without it and --config all experiments are checked")
    parser.add_argument("--config", type=Path)
    arguments = parser.parse_args()
    started, results = time.monotonic(), Path(ledger.RESULTS)
    there = experiments(results) if results.is_dir() else []
    if arguments.config or arguments.experiment:
        name = arguments.experiment or str(read_yaml(arguments.config).get("experiment"))
        if name not in there and arguments.experiment:
            configuration(name, Path("config"))  # says what experiments there are
        if name not in there:
            raise UserError(f"results/{name}: no such folder: the experiment has no results yet")
        there = [one for one in there if one in (name, "downloads")]
    elif not there:
        raise UserError(f"{results}: no results in it")
    found, known, unknown = findings(results, there)
    for said in found:
        print(f"error: {said}", file=sys.stderr)
    seconds = time.monotonic() - started
    print(f"{', '.join(there)}: {known} files looked at in {seconds:.1f} s, {len(found)} are not what their jobs wrote;"
          f" {unknown} not recorded")  # fmt: skip
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    run(main)
