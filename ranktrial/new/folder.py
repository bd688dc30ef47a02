"""A folder of the user's data: its files, by names that a configuration can contain; writes nothing."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import get_args

from ranktrial.common.errors import UserError
from ranktrial.common.keys import FilePath, Rule
from ranktrial.common.locations import is_remote
from ranktrial.common.paths import why_not_below

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
        return Path(self.place).name

    def path(self, name: str) -> Path:
        return Path(self.place) / name

    def location(self, name: str) -> str:
        """Return a file or folder below it, as named in a configuration."""
        return str(self.path(name))


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
    if place == ".":
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
