"""Atomic writing of files and folders, reading of text files line by line, and checks by SHA-256."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from ranktrial.common import digests, ledger
from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.reading import DAMAGE, UTF_8, damaged, open_text

LONGEST_LINE = 100_000_000  # characters; a line is a document, of which several copies are in memory
FULL = [os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT)]


@contextmanager
def full_disk_reported(folder: Path) -> Iterator[None]:
    """Raise one UserError when the disk of `folder` is full, whichever exception a library raises for it."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.strerror in FULL:  # a failed write does not name its file
            raise UserError(f"{folder}: {error.strerror}") from None
        raise
    except UserError:
        raise
    except Exception as error:
        if any(words in str(error) for words in FULL) or shutil.disk_usage(folder).free < 1 << 16:
            raise UserError(f"{folder}: {FULL[0]}") from None
        raise


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, with the same suffix. It replaces `path` if the block succeeds, else is deleted.

    Below results/, the SHA-256 of the output is entered in the ledger. The old entry is removed before the
    replacement, so that a process killed between the two steps leaves no entry instead of a wrong one.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.parent / f".{path.name}.partial"
    shutil.rmtree(folder, ignore_errors=True)  # left behind by a killed process
    folder.mkdir()
    try:
        with full_disk_reported(path.parent):
            yield folder / path.name
        nested = any(part.startswith(".") and part.endswith(".partial") for part in path.parts)
        if not nested:  # inside another atomic path, which checks
            digests.check()
        _permit(folder / path.name)
        sums = ledger.hashes(folder / path.name) if ledger.name_of(path) else {}
        ledger.forget(path)
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(folder / path.name, path)
        ledger.record(path, sums)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _permit(path: Path) -> None:
    """Give files that a library made for their owner alone (safetensors) the permissions of all other files."""
    os.umask(mask := os.umask(0o077))
    for file in path.rglob("*") if path.is_dir() else [path]:
        if not file.is_symlink() and file.is_file() and file.stat().st_mode & 0o777 == 0o600:
            file.chmod(0o666 & ~mask)


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text file, written atomically. `.gz` is compressed without a time stamp: equal content, equal bytes.

    For runs, zlib's level 4 makes files 2% larger than the default level does, in less than half the time.
    """
    with atomic_path(path) as temporary:
        if str(path).endswith(".gz"):
            with (
                open(temporary, "wb") as raw,
                gzip.GzipFile("", "wb", compresslevel=4, fileobj=raw, mtime=0) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
            ):
                yield text
        else:
            with open(temporary, "w", encoding="utf-8", newline="\n") as text:
                yield text


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic_text(path) as file:
        file.write(text)


def write_json(path: Path, value: object, **layout: Any) -> None:
    """Write a value as JSON; `layout` are arguments of `json.dumps`."""
    write_text(path, json.dumps(value, **layout) + "\n")


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder, written atomically: it appears under its name only if the block succeeds."""
    with atomic_path(path) as temporary:
        temporary.mkdir()
        yield temporary


def lines(path: Path, encoding: str = UTF_8) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end) of a text file, plain or packed; blank lines are skipped.

    A byte order mark and CRLF ends are removed. Raises UserError if the file is missing, not a regular file, damaged or
    not of this encoding, or if it contains a NUL character or a line longer than LONGEST_LINE.
    """
    number = 0
    try:
        with open_text(path, encoding=encoding) as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), ""), 1):
                if "\0" in line:
                    raise UserError(f"{path}:{number}: a NUL character: not a text file, or not in UTF-8")
                if len(line) == LONGEST_LINE:
                    raise UserError(f"{path}:{number}: a line of more than {LONGEST_LINE:,} characters")
                line = line.rstrip("\r\n")
                if line and not line.isspace():
                    yield number, line
    except DAMAGE as error:
        raise damaged(path, error, number + 1, encoding) from None


def is_number(text: str) -> bool:
    """Whether a text, such as a field of a file or a YAML string, can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_sha256(expected: str, name: str, *paths: Path) -> None:
    """Raise UserError unless the SHA-256 of the files together is `expected`; `name` is their name in the message."""
    actual = sha256(*paths)
    if actual != expected.lower():
        raise UserError(f"{name}: SHA-256 is {actual}, but the configuration says {expected}; nothing was kept")
