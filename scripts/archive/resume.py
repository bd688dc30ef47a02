"""Take an archive's results over into this clone, so that the experiment goes on from there.

Reads the archive. Writes results/, Snakemake's records and, if it is not there, the configuration; with the time stamps
that the files had. Existing files that differ are left alone, and nothing is written, unless --overwrite is given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from scripts.archive import layout
from scripts.archive.integrity import check
from scripts.archive.records import METADATA, write_record
from scripts.archive.unpack import unpack
from scripts.archive.verify import differing_sources
from scripts.common import ledger
from scripts.common.checks import UNTRAINED
from scripts.common.errors import UserError, run
from scripts.common.files import sha256, whole_text
from scripts.common.state import restore_times


def at_home(record: dict) -> dict:
    """A record whose paths in a home folder (~/…) lie in this user's, where the data has to be for the job to run."""
    inputs = [os.path.expanduser(path) for path in record["input"] or []]
    checksums = {os.path.expanduser(path): found for path, found in (record["input_checksums"] or {}).items()}
    return record | {"input": inputs, "input_checksums": checksums}


def plan(folder: Path, into: Path, manifest: dict) -> dict[Path, Path]:
    """Archived file -> where it goes, of results and, where there is none yet, the configuration."""
    state = json.loads((folder / layout.STATE).read_text())
    goes = {
        folder / name: into / name
        for name, entry in manifest["files"].items()
        if name.startswith("results/") and entry["kind"] != "origin of a run"
    }
    for path in state["config_files"]:
        if not os.path.isabs(path) and not path.startswith(("..", "~")) and not (into / path).exists():
            goes[folder / layout.configuration_name(path)] = into / path
    return goes


def resume(folder: Path, into: Path, manifest: dict, overwrite: bool) -> int:
    """Copy what is not there yet; returns how many files were written. Raises UserError where existing files differ."""
    goes = plan(folder, into, manifest)
    wanted = {source: target for source, target in goes.items() if not _same(source, target)}
    differing = [target for target in wanted.values() if target.exists()]
    if differing and not overwrite:
        first = ", ".join(str(path.relative_to(into)) for path in differing[:3])
        raise UserError(
            f"{len(differing)} files are here already and differ from the archive's ({first}, …); nothing was written: "
            "move them away, or give OVERWRITE=1"
        )
    for source, target in wanted.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.partial")
        shutil.copyfile(source, temporary)
        os.replace(temporary, target)
        ledger.record(target)
    with whole_text(into / "results" / manifest["experiment"] / layout.LEFT_OUT) as file:
        json.dump(manifest["absent"], file, indent=1)
    restore_records(folder)
    return len(wanted)


def restore_records(folder: Path) -> None:
    """Write Snakemake's records of the archive, and give the files here the times that they state."""
    for name, record in json.loads((folder / layout.STATE).read_text())["records"].items():
        write_record(METADATA, name, at_home(record))
    restore_times(METADATA)


def fill(folder: Path, manifest: dict, config: str) -> None:
    """Make downloads, texts and untrained weights again, which the archive left out, exactly as they were.

    Afterwards a change reruns only what depends on it. Raises UserError where one comes out different.
    """
    records = json.loads((folder / layout.STATE).read_text())["records"]
    absent = {name: entry for name, entry in manifest["absent"].items() if entry["kind"] in ("download", "text")}
    absent |= {name: entry for name, entry in manifest["absent"].items() if f"/{UNTRAINED}/" in name}
    targets = sorted(
        {next(path for path in (name, *map(str, Path(name).parents)) if path in records) for name in absent}
    )
    missing = [path for path in targets if not Path(path).exists()]
    if (
        missing
        and subprocess.run([sys.executable, "-m", "snakemake", "--configfile", config, "--", *missing]).returncode
    ):
        raise UserError(f"{config}: what the archive left out could not be made again, see above")
    for name, entry in absent.items():
        if not Path(name).is_file() or sha256(Path(name)) != entry["sha256"]:
            raise UserError(
                f"{name}: made again, it is not what the archive's experiment had (SHA-256 {entry['sha256']})"
            )
    restore_records(folder)
    print(f"{len(absent)} files that the archive left out were made again, with the same SHA-256")


def _same(source: Path, target: Path) -> bool:
    return target.is_file() and target.read_bytes() == source.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--overwrite", action="store_true", help="replace files that are here and differ")
    parser.add_argument("--fill", action="store_true", help="also make data and untrained weights again")
    arguments = parser.parse_args()
    into = Path.cwd()
    if not (into / "Snakefile").is_file():
        raise UserError(f"{into}: not a clone of ranktrial: no Snakefile here")
    checked = check(arguments.archive)
    if checked.damages:
        raise UserError(f"{arguments.archive}: damaged, nothing was taken over: {checked.damages[0]}")
    with tempfile.TemporaryDirectory(prefix="ranktrial-resume-", dir=into) as temporary:
        folder = Path(temporary)
        unpack(arguments.archive, folder)
        written = resume(folder, into, checked.manifest, arguments.overwrite)
        others = differing_sources(folder, into)
        config = json.loads((folder / layout.STATE).read_text())["config_files"][-1]
        if arguments.fill:
            fill(folder, checked.manifest, config)
    print(f"{written} files taken over; go on with: snakemake --configfile {config}")
    if checked.manifest["absent"] and not arguments.fill:
        kinds = Counter(entry["kind"] for entry in checked.manifest["absent"].values())
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        print(
            f"not in the archive: {listed}. What needs one of them makes it again, with all that depends on it;"
            " FILL=1 makes data and untrained weights again beforehand"
        )
    if others:
        print(
            f"{len(others)} scripts differ from the archive's, such as {others[0]}: jobs that use them run again",
            file=sys.stderr,
        )


if __name__ == "__main__":
    run(main)
