"""Which files a run made again without a reason, by Snakemake's records and the content of all files."""

import os
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.digests import sha256
from ranktrial.engine.job_records import records

READ = ("data", "results/small", "results/downloads")


class Made(NamedTuple):
    """How a file was made."""

    began: float
    settings: list[str]  # parameters of its job, with the digests of its code and of its ordered inputs
    inputs: list[str]


class State(NamedTuple):
    """The files of a workspace with their SHA-256, and how each output was made."""

    files: dict[str, str]
    made: dict[str, Made]

    def at(self, path: str) -> dict[str, str]:
        """A file, or the files of a folder."""
        return {name: content for name, content in self.files.items() if name == path or name.startswith(f"{path}/")}


def state(folder: Path) -> State:
    """What is in the folder now."""
    paths = [path for root in READ for path in (folder / root).rglob("*") if path.is_file() and path.name[0] != "."]
    made = {
        name: Made(record["starttime"], sorted(record["params"]), sorted(record["input"]))
        for name, record in records(folder / "results/state/metadata")
    }
    return State({os.path.relpath(path, folder): sha256(path) for path in paths}, made)


def needless(before: State, after: State) -> list[str]:
    """The outputs of jobs that ran although settings and inputs are what they were and no job before them ran."""
    ran = {name for name, one in after.made.items() if name in before.made and before.made[name].began != one.began}
    return sorted(name for name in ran if not _reason(name, ran, before, after))


def _reason(name: str, ran: set[str], before: State, after: State) -> bool:
    was, now = before.made[name], after.made[name]
    new = not before.at(name) or was[1:] != now[1:]
    return new or any(path in ran or before.at(path) != after.at(path) for path in now.inputs)
