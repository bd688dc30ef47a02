"""SHA-256 of files and of folders."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(path: Path) -> dict[str, Path]:
    """The file itself under the name "", or all files of a folder by their path in it, in the order of these.

    Links are followed, as those who read the files do; a folder that contains itself by a link is entered once.
    """
    if not path.is_dir():
        return {"": path} if path.is_file() else {}
    found: dict[str, Path] = {}
    entered = set()
    for place, folders, names in os.walk(path, followlinks=True):
        status = os.stat(place)
        if (status.st_dev, status.st_ino) in entered:
            folders.clear()
            continue
        entered.add((status.st_dev, status.st_ino))
        for file in (Path(place, name) for name in names):
            if file.is_file():
                found[file.relative_to(path).as_posix()] = file
    return dict(sorted(found.items()))


def content_sha256(path: Path) -> str:
    """The SHA-256 of a file; of a folder, that of the lines `SHA-256  path inside` of its files.

    Raises OSError where there is neither (a pipe has no content of its own).
    """
    if not path.is_dir():
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return sha256(path)
    lines = "".join(f"{sha256(file)}  {name}\n" for name, file in files_below(path).items())
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()
