"""Files that are written whole or not at all, read with their encoding's quirks, and checked by SHA-256."""

from __future__ import annotations

import errno
import gzip
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

from scripts.common import held, ledger
from scripts.common.digests import sha256
from scripts.common.errors import UserError
from scripts.common.reading import DAMAGE, damaged, open_text

LONGEST_LINE = 100_000_000  # characters; a document is a line, and has to fit in memory several times
FULL = [os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT)]


@contextmanager
def full_disk_reported(folder: Path) -> Iterator[None]:
    """Turn what libraries raise in words of their own when the disk of `folder` is full into one UserError."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.strerror in FULL:  # of a write: it does not say where
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
    """A temporary path beside `path` (same suffix) that takes its name when the block ends well and goes otherwise.

    Below results/ the SHA-256 of what was written enters the ledger. While the name changes hands nothing is claimed of
    it, so that an end in between never makes a good file look bad.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.parent / f".{path.name}.partial"
    shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
    folder.mkdir()
    try:
        with full_disk_reported(path.parent):
            yield folder / path.name
        if not any(part.startswith(".") and part.endswith(".partial") for part in path.parts):  # the outermost alone
            held.check()
        sums = ledger.hashes(folder / path.name) if ledger.name_of(path) else {}
        ledger.forget(path)
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(folder / path.name, path)
        ledger.record(path, sums)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text file written whole; `.gz` is compressed without a time stamp, so equal content is equal bytes."""
    with atomic_path(path) as temporary:
        if str(path).endswith(".gz"):
            with (
                open(temporary, "wb") as raw,
                gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
            ):
                yield text
        else:
            with open(temporary, "w", encoding="utf-8", newline="\n") as text:
                yield text


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under its name only when the block ends well."""
    with atomic_path(path) as temporary:
        temporary.mkdir()
        yield temporary


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end) of a UTF-8 text file, plain or gzip; blank lines are left out.

    A byte order mark and CRLF ends are taken off. Raises UserError where the file is missing, is no regular file, is
    damaged or not UTF-8, or holds a NUL or a line that no text has.
    """
    number = 0
    try:
        with open_text(path) as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), ""), 1):
                if "\0" in line:
                    raise UserError(f"{path}:{number}: a NUL character: no text, or not in UTF-8")
                if len(line) == LONGEST_LINE:
                    raise UserError(f"{path}:{number}: a line of more than {LONGEST_LINE:,} characters")
                line = line.rstrip("\r\n")
                if line and not line.isspace():
                    yield number, line
    except DAMAGE as error:
        raise damaged(path, error, number + 1) from None


def is_number(text: str) -> bool:
    """Whether a field of a text file, or a value that YAML took for text, reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_sha256(path: Path, expected: str, name: str) -> None:
    """Raise UserError unless the file at `path` (called `name` in the message) has the `expected` SHA-256."""
    found = sha256(path)
    if found != expected.lower():
        raise UserError(f"{name}: SHA-256 is {found}, but the configuration says {expected}; nothing was kept")
