"""A folder of the user's data: its files, and names of datasets and systems derived from them; writes nothing."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import get_args

from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.keys import FilePath, Rule
from ranktrial.common.paths import why_not_below
from ranktrial.common.unpacking import PACKINGS
from ranktrial.common.urls import is_remote
from ranktrial.datasets.formats import qrels

LONGEST = 100
_ENDING = re.compile(r"(?<=.)\.[A-Za-z]{1,6}$")
_OF_QRELS = re.compile(r"(^|[-_.])(qrels?|judge?ments?|relevance|test)(?=[-_.]|$)", re.IGNORECASE)
_SAMPLES = re.compile(r"samples_(.+)_20\d\d-\d\d-\d\dT[0-9.-]+")  # of lm-evaluation-harness: the task
Naming = Callable[[str, str], str]  # file and its task -> the system's name in it, empty if none
Name = Callable[[str], str]


def as_name(text: str) -> str:
    """Return a text as a name in a configuration; empty if no character of it is allowed there."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("._-")[:LONGEST]
    return re.sub(r"\.resume$", "-resume", name)  # that ending is of unfinished jobs


def stem(file: str) -> str:
    """Return a file's name without folders and suffixes."""
    return task_of_samples(file) or _plain(file)


def task_of_samples(file: str) -> str:
    """Return the task that the name of a file of lm-evaluation-harness's samples has; empty for another file."""
    found = _SAMPLES.fullmatch(_plain(file))
    return found[1] if found else ""


def _plain(file: str) -> str:
    name = PurePosixPath(file).name
    for packing in PACKINGS[1:]:
        name = name.removesuffix(packing)
    return _ENDING.sub("", name)


def task_of_qrels(file: str, folder: str) -> str:
    """Return the task of a file of judgements: its name without words such as qrels, or else that of its folder."""
    own = _OF_QRELS.sub("", stem(file)).strip("._-")
    parents = [parent for parent in PurePosixPath(file).parent.parts if not _OF_QRELS.fullmatch(parent)]
    return own or (parents[-1] if parents else folder)


def systems_of(task_of: Mapping[str, str], where: str, named: Name = as_name) -> dict[str, str]:
    """Return file -> the system's name: the part of the path that distinguishes the files of a task, as `named` has it.

    `task_of` maps files to tasks. Raises UserError if no part distinguishes them.
    """
    namings: list[Naming] = [_by_file, _by_folder, _by_path]
    tried = [{file: named(naming(file, task)) for file, task in task_of.items()} for naming in namings]
    fitting = [names for names in tried if all(names.values()) and _are_unique(names, task_of)]
    if not fitting:
        raise UserError(f"{where}: the files of a task have the same name but for signs; rename them")
    return min(fitting, key=lambda names: len(set(names.values())))


def _are_unique(names: Mapping[str, str], task_of: Mapping[str, str]) -> bool:
    return len({(name, task_of[file]) for file, name in names.items()}) == len(names)


def _without(text: str, task: str) -> str:
    return re.sub(re.escape(task), "", text, flags=re.IGNORECASE).strip("._-")


def _by_file(file: str, task: str) -> str:
    return _without(stem(file), task)


def _by_folder(file: str, task: str) -> str:
    return _without(PurePosixPath(file).parent.name, task)


def _by_path(file: str, task: str) -> str:
    parts = [*PurePosixPath(file).parent.parts, stem(file)]
    return "-".join(filter(None, (_without(part, task) for part in parts)))


DEEPEST = 4  # levels of folders below the given one
MOST_ENTRIES = 100_000  # files and folders in all, hidden ones too
_FILE_PATH = next(rule for rule in get_args(FilePath) if isinstance(rule, Rule))


@dataclass(frozen=True)
class Folder:
    """A folder, as named in a configuration, and the names of the regular files below it, in order."""

    place: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        return Path(os.path.abspath(self.place)).name

    def path(self, name: str) -> Path:
        return Path(self.place) / name

    def location(self, name: str) -> str:
        """Return a file or folder below it, as named in a configuration."""
        return str(self.path(name))

    def judgements(self, name: str) -> dict[str, str]:
        """Return the entry of a dataset for a file of qrels below it."""
        return {"format": qrels.NAME, "location": self.location(name), "sha256": sha256(self.path(name))}


def read_folder(given: str) -> Folder:
    """Return the folder and its files, except hidden ones.

    Raises UserError if it is not a folder, or if it or a file has a name that a configuration cannot contain.
    """
    if not given:
        raise UserError("no folder is given; expected FOLDER=path")
    if reason := _why_no_place(given):
        raise UserError(f"{given!r}: the folder's path {reason}; rename it")
    if not Path(given).is_dir():
        raise UserError(f"{given}: {'no folder, but a file' if Path(given).exists() else 'no such folder'}")
    here = Path.cwd().resolve()
    full = Path(os.path.abspath(given))
    place = str(full.relative_to(here)) if full.is_relative_to(here) else str(full)
    if place == "." and (here / "Snakefile").is_file():
        raise UserError(f"{given}: the folder of ranktrial itself; expected one of data")
    names = sorted(_files(Path(place), Path(place), DEEPEST, count(1)))
    for name in names:
        if reason := why_not_below(name) or _why_no_place(name):
            raise UserError(f"{place}: the file {name!r} {reason}; rename it or move it elsewhere")
    return Folder(place, tuple(names))


def _why_no_place(path: str) -> str | None:
    """Return the reason why a configuration cannot contain a path; None if it can."""
    if not path.isprintable():
        return "contains a character that cannot be printed"
    if is_remote(path):
        return "begins as an address does"
    if len(path) > (_FILE_PATH.max_length or 0) or not re.search(_FILE_PATH.pattern or "", path):
        return f"is not {_FILE_PATH.title}"
    return None


def _files(root: Path, folder: Path, depth: int, seen: Iterator[int]) -> Iterator[str]:
    """Yield the names of regular files below `folder`, which is `depth` levels above the deepest; `seen` counts all."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if next(seen) > MOST_ENTRIES:
                raise UserError(
                    f"{root}: more than {MOST_ENTRIES:,} files and folders; expected the folder of a collection"
                )
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False) and depth > 0:
                yield from _files(root, Path(entry.path), depth - 1, seen)
            elif _is_regular(entry):
                yield str(Path(entry.path).relative_to(root))


def _is_regular(entry: os.DirEntry[str]) -> bool:
    """Whether it is a regular file or a link to one; broken links are not."""
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False
