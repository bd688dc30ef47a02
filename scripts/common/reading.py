"""Files from outside, opened: regular files only, gzip told by its first bytes and unpacked within a bound.

A pipe, a device or a socket would hang the reader or never end; a small gzip can unpack to more than any machine holds.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

from scripts.common.errors import UserError

RATIO = 200  # text and JSON pack to a tenth, seldom to a fiftieth; gzip can do a thousandth
ALWAYS_FREE = 100_000_000  # bytes that any file may unpack to
GZIP = b"\x1f\x8b"
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, UnicodeDecodeError)
_KINDS = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}


def unpacks_to_at_most(packed: int) -> int:
    """The bytes to which so many packed bytes may unpack; beyond is no data but a bomb."""
    return max(ALWAYS_FREE, RATIO * packed)


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading bytes. Raises UserError where there is none or something else."""
    kind = "a socket"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{path}: no such file") from None
    except ValueError:
        raise UserError(f"{str(path)!r}: no such file, its name holds a NUL") from None
    except OSError as error:
        if not path.is_socket():
            raise UserError(f"{path}: {error.strerror}") from None
    else:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return os.fdopen(descriptor, "rb")
        os.close(descriptor)
        kind = next((name for is_it, name in _KINDS.items() if is_it(mode)), "a device")
    raise UserError(f"{path}: {kind}; wanted is a regular file")


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that stops with a UserError where it unpacks to more than any data does."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self.path, self.packed, self.unpacked = path, packed, 0
        self.limit = unpacks_to_at_most(os.fstat(packed.fileno()).st_size)

    def _counted(self, data: bytes) -> bytes:
        self.unpacked += len(data)
        if self.unpacked > self.limit:
            raise UserError(f"{self.path}: refused, it unpacks to more than {self.limit:,} bytes, more than data does")
        return data

    def read(self, size: int | None = -1) -> bytes:
        whole = size is None or size < 0
        return self._counted(super().read(self.limit + 1 - self.unpacked if whole else size))

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def close(self) -> None:
        super().close()
        self.packed.close()


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a regular file, unpacked if it is gzip. What is damaged in it raises one of DAMAGE when read."""
    file = open_regular(path)
    packed = file.read(2) == GZIP
    file.seek(0)
    return _BoundedGzip(path, file) if packed else file


def open_text(path: Path, newline: str = "\n") -> io.TextIOWrapper:
    """The text of a regular file in UTF-8, plain or gzip, without its byte order mark. Reading it may raise DAMAGE."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline=newline)


def read_text(path: Path) -> str:
    """The whole text of a regular file in UTF-8, plain or gzip. Raises UserError where it is damaged or no text."""
    try:
        with open_text(path) as file:
            return file.read()
    except DAMAGE as error:
        raise damaged(path, error) from None


def damaged(path: Path, error: Exception, number: int = 0) -> UserError:
    """What to tell of a file that raised one of DAMAGE, with the line: `number`, but bad UTF-8 is looked for."""
    if not isinstance(error, UnicodeDecodeError):
        place = f"{path}:{number}" if number else f"{path}"
        return UserError(f"{place}: damaged gzip file ({error})")
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                return UserError(f"{path}:1: UTF-16 text; wanted is UTF-8")
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return UserError(f"{path}:{number}: not UTF-8 text")
