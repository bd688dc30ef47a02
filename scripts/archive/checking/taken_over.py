"""What of an archive may go into a clone: its results, Snakemake's records of them, and its configuration.

Nothing else is written, nothing through a link, and nothing with a time, type or path that no run of the workflow has.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from scripts.archive.checking.expected import configuration
from scripts.archive.crate import layout
from scripts.archive.crate.shapes import RECORD_OF_SNAKEMAKE, read_record
from scripts.archive.provenance.records import write_record
from scripts.common.errors import UserError
from scripts.common.files import sha256
from scripts.common.ledger import read_entry, write_entry
from scripts.common.paths import below, why_not_below
from scripts.engine.job_records import DIRECTORY_STAMP


class Clone:
    """The folder that is written into. `links` says that results/ may be a link, which is then followed."""

    def __init__(self, folder: Path, links: bool = False) -> None:
        self.folder, self.results = folder, folder / "results"
        if self.results.is_symlink():
            if not links:
                raise UserError(
                    f"results: is a link to {os.readlink(self.results)}; give LINKS=1 (--follow-links) to write there"
                )
            self.results = self.results.resolve()

    def result(self, name: str, experiment: str) -> Path:
        """Where a result goes. Raises UserError for what is no result, or lies behind a link."""
        inside = layout.result_path(name, experiment, "the archive").removeprefix("results/")
        return below(self.results, inside, "results")

    def state(self, name: str) -> Path:
        """Where a file of the state goes (records and the ledger)."""
        return below(self.results, f"state/{name}", "results")


def checked_state(folder: Path, manifest: dict) -> dict:
    """The state of an unpacked archive, of which every path and time is one that a run has. Raises UserError."""
    state, experiment = read_record(folder, layout.STATE), manifest["experiment"]
    known = {*manifest["files"], *manifest["absent"]}
    folders = {str(parent) for name in known for parent in Path(name).parents}
    for name, record in state["records"].items():
        where = f"{layout.STATE}: records"
        layout.result_path(name, experiment, where)
        if name not in known | folders:
            raise UserError(f"{where}: {name!r} is no file of the archive")
        if unknown := record.keys() - RECORD_OF_SNAKEMAKE.of.keys():
            raise UserError(f"{where}: {name!r}: unknown key {min(unknown)!r}")
        if record["starttime"] > record["endtime"] + 60:  # clocks of two machines may differ
            raise UserError(f"{where}: {name!r} ended before it started")
        for log in record["log"] or []:
            if why_not_below(log) or not log.startswith(layout.LOGS.format(experiment)):
                raise UserError(f"{where}: refused, the log {log!r} is in no folder of logs")
    return state


def at_home(record: dict) -> dict:
    """A record whose paths in a home folder (~/…) lie in this user's, where the data has to be for the job to run."""
    inputs = [_at_home(path) for path in record["input"] or []]
    checksums = {_at_home(path): found for path, found in (record["input_checksums"] or {}).items()}
    return record | {"input": inputs, "input_checksums": checksums}


def _at_home(path: str) -> str:
    """Only this user's own home is meant; `~other` is a name like any other."""
    inside = path.removeprefix("~/")
    return os.path.join(os.path.expanduser("~"), inside) if inside != path and not why_not_below(inside) else path


def write_state(clone: Clone, state: dict, manifest: dict, files: dict[str, Path]) -> None:
    """Write the records and the ledger, and give the `files` (name -> place), which are the archive's, their times."""
    experiment, ended = manifest["experiment"], {}
    entries = {**manifest["absent"], **manifest["files"]}
    metadata = clone.state("metadata/x").parent
    for name, record in state["records"].items():
        write_record(metadata, name, at_home(record))
        lines = {
            one: entry["sha256"]
            for one, entry in entries.items()
            if (one == name or one.startswith(f"{name}/")) and one in files and not one.endswith(f"/{DIRECTORY_STAMP}")
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
        for one in (stamp, folder):
            if one.exists() and not one.is_symlink():
                _date(one, ended[folder])


def _date(place: Path, ended: float) -> None:
    """Set a file's date back to when its job ended; never forward."""
    if place.stat(follow_symlinks=False).st_mtime > ended:
        os.utime(place, (ended, ended), follow_symlinks=False)


def enter(entry: Path, lines: dict[str, str]) -> None:
    """Enter files; where their folder was entered as a whole, as by a job that made it again, in its entry."""
    if above := next((one for one in entry.parents if one.is_file()), None):
        entry, lines = above, (read_entry(above) or {}) | lines
    elif entry.is_dir():
        shutil.rmtree(entry)
    write_entry(entry, lines)


def take_configuration(clone: Clone, folder: Path, state: dict, experiment: str) -> tuple[Path, Path]:
    """The archived configuration, and where it goes: config/NAME.yaml, or another name where that is taken.

    Raises UserError where it is none that this clone's schema allows.
    """
    configuration(folder, state["config_files"], experiment)
    archived = below(folder, layout.configuration_name(state["config_files"][-1]), layout.STATE)
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", archived.stem)
    for name in (f"config/{stem}.yaml", f"config/{stem}.{experiment}.yaml", f"config/{stem}.archive.yaml"):
        place = below(clone.folder, name, "the archive's configuration")
        if name == "config/schema.yaml":
            continue
        if not place.exists() or (place.is_file() and sha256(place) == sha256(archived)):
            return archived, place
    raise UserError(f"{place}: is here already and differs from the archive's configuration; move it away")
