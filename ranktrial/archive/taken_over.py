"""Writes the parts of an archive that may go into a clone: results, Snakemake's records of them, the configuration.

Nothing is written through a link, and nothing with a time, type or path that no run of the workflow has.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ranktrial.archive import layout
from ranktrial.archive.expected import configuration
from ranktrial.archive.jobs import write_record
from ranktrial.archive.layout import RECORD_OF_SNAKEMAKE, read_record
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.common.ledger import read_entry, write_entry
from ranktrial.common.paths import below, why_not_below
from ranktrial.engine.job_records import DIRECTORY_STAMP


class Clone:
    """The clone that is written to. With `links`, results/ may be a link, which is followed. Else raises UserError."""

    def __init__(self, folder: Path, links: bool = False) -> None:
        self.folder, self.results = folder, folder / "results"
        if self.results.is_symlink():
            if not links:
                raise UserError(
                    f"results: is a link to {os.readlink(self.results)}; give LINKS=1 (--follow-links) to write there"
                )
            self.results = self.results.resolve()

    def result(self, name: str, experiment: str) -> Path:
        """The path of a result in the clone. Raises UserError if it is not a result or lies behind a link."""
        inside = layout.result_path(name, experiment, "the archive").removeprefix("results/")
        return below(self.results, inside, "results")

    def state(self, name: str) -> Path:
        """The path of a file of results/state (records and the ledger) in the clone."""
        return below(self.results, f"state/{name}", "results")


def checked_state(folder: Path, manifest: dict) -> dict:
    """The state of an unpacked archive. Raises UserError for a path or time that no run of the workflow has."""
    state, experiment = read_record(folder, layout.STATE), manifest["experiment"]
    known = {*manifest["files"], *manifest["absent"]}
    folders = {str(parent) for name in known for parent in Path(name).parents}
    for name, record in state["records"].items():
        where = f"{layout.STATE}: records"
        layout.result_path(name, experiment, where)
        if name not in known | folders:
            raise UserError(f"{where}: {name!r} is not a file of the archive")
        if unknown := record.keys() - RECORD_OF_SNAKEMAKE.of.keys():
            raise UserError(f"{where}: {name!r}: unknown key {min(unknown)!r}")
        if record["starttime"] > record["endtime"] + 60:  # clocks of two machines may differ
            raise UserError(f"{where}: {name!r} ended before it started")
        for log in record["log"] or []:
            if why_not_below(log) or not log.startswith(layout.LOGS.format(experiment)):
                raise UserError(f"{where}: refused, the log {log!r} is not in a folder of logs")
    return state


def at_home(record: dict) -> dict:
    """A record whose paths in a home folder (~/…) are in this user's, where the job looks for its data."""
    inputs = [_at_home(path) for path in record["input"] or []]
    checksums = {_at_home(path): checksum for path, checksum in (record["input_checksums"] or {}).items()}
    return record | {"input": inputs, "input_checksums": checksums}


def _at_home(path: str) -> str:
    """A path with ~/ replaced by this user's home; `~name` is a name like any other."""
    inside = path.removeprefix("~/")
    return os.path.join(os.path.expanduser("~"), inside) if inside != path and not why_not_below(inside) else path


def write_state(clone: Clone, state: dict, manifest: dict, files: dict[str, Path]) -> None:
    """Write the records and the ledger, and set the times of the archive's `files` (name -> place)."""
    experiment, ended = manifest["experiment"], {}
    entries = {**manifest["absent"], **manifest["files"]}
    metadata = clone.state("metadata/x").parent
    for name, record in state["records"].items():
        write_record(metadata, name, at_home(record))
        of_record = [file for file in entries if file == name or file.startswith(f"{name}/")]
        lines = {
            file: entries[file]["sha256"]
            for file in of_record
            if file in files and not file.endswith(f"/{DIRECTORY_STAMP}")
        }
        if lines:
            enter(clone.state(f"sha256/{name}"), lines)
        ended[clone.result(name, experiment)] = record["endtime"]
    for place in files.values():
        if place in ended:
            _date(place, ended[place])
    written = {parent for place in files.values() for parent in place.parents}
    for folder in ended.keys() & written:
        stamp = folder / DIRECTORY_STAMP
        for file in (stamp, folder):
            if file.exists() and not file.is_symlink():
                _date(file, ended[folder])


def _date(place: Path, ended: float) -> None:
    """Set a file's time back to the end of its job; never forward."""
    if place.stat(follow_symlinks=False).st_mtime > ended:
        os.utime(place, (ended, ended), follow_symlinks=False)


def enter(entry: Path, lines: dict[str, str]) -> None:
    """Enter files in the ledger. If a folder above has an entry, as after a job made it again, they are added to it."""
    folder_entry = next((parent for parent in entry.parents if parent.is_file()), None)
    if folder_entry:
        entry, lines = folder_entry, (read_entry(folder_entry) or {}) | lines
    elif entry.is_dir():
        shutil.rmtree(entry)
    write_entry(entry, lines)


def take_configuration(clone: Clone, folder: Path, state: dict, experiment: str) -> tuple[Path, Path]:
    """The archived configuration and its path in the clone: config/NAME.yaml, or another name if that is taken.

    Raises UserError if this clone's schema does not allow it, or if all names are taken.
    """
    configuration(folder, state["config_files"], experiment)
    archived = below(folder, layout.configuration_name(state["config_files"][-1]), layout.STATE)
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", archived.stem)
    for name in (f"config/{stem}.yaml", f"config/{stem}.{experiment}.yaml", f"config/{stem}.archive.yaml"):
        place = below(clone.folder, name, "the archive's configuration")
        if not place.exists() or (place.is_file() and sha256(place) == sha256(archived)):
            return archived, place
    raise UserError(f"{place}: already exists and differs from the archive's configuration; move it away")
