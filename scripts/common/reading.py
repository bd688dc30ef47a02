"""Opening files from outside: regular files only; gzip and zstd, by their first bytes, are unpacked up to a limit.

A pipe, a device or a socket would hang the reader or never end. A small packed file can unpack to more than a disk
holds.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

from scripts.common.errors import UserError
from scripts.common.zstd import BEGINS, BUFFER, ZstdError, ZstdReader

RATIO = 200  # text and JSON shrink to a tenth, rarely to a fiftieth; a bomb shrinks to a thousandth
ALWAYS_FREE = 100_000_000  # bytes that any file may unpack to
GZIP = b"\x1f\x8b"
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, ZstdError, lzma.LZMAError, UnicodeDecodeError)
UTF_8 = "utf-8"
ENCODINGS = (
    UTF_8,
    "latin-1",
    "cp1252",
    "iso-8859-2",
    "cp1251",
    "koi8-r",
    "euc-jp",
    "shift_jis",
    "euc-kr",
    "gb18030",
    "big5",
)
_FAMILIES = ("ascii", "iso8859-", "cp125", "cp932", "cp949", "cp950", "koi8-", "euc_", "shift_jis", "gb", "big5")
_KINDS = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}


def unpacks_to_at_most(packed: int) -> int:
    """The most bytes to which a file of `packed` bytes may unpack; more is taken for a decompression bomb."""
    return max(ALWAYS_FREE, RATIO * packed)


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading bytes. Raises UserError if it is missing or not a regular file."""
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
        kind = next((name for is_kind, name in _KINDS.items() if is_kind(mode)), "a device")
    raise UserError(f"{path}: {kind}; expected a regular file")


def _too_much(path: Path, limit: int) -> UserError:
    return UserError(f"{path}: refused, it unpacks to more than {limit:,} bytes, more than data does")


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that raises UserError when it unpacks to more than `unpacks_to_at_most` allows."""

    def __init__(self, path: Path, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self.path, self.packed, self.unpacked = path, packed, 0
        self.limit = unpacks_to_at_most(os.fstat(packed.fileno()).st_size)

    def _counted(self, data: bytes) -> bytes:
        self.unpacked += len(data)
        if self.unpacked > self.limit:
            raise _too_much(self.path, self.limit)
        return data

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            size = self.limit + 1 - self.unpacked  # one byte more than allowed, so that the excess is noticed
        return self._counted(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def close(self) -> None:
        super().close()
        self.packed.close()


class _BoundedZstd(ZstdReader):
    """A zstd file with the same limit."""

    def readinto(self, buffer) -> int:
        size = super().readinto(buffer)
        limit = unpacks_to_at_most(os.fstat(self.packed.fileno()).st_size)
        if self.place > limit:
            raise _too_much(self.path, limit)
        return size


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a regular file, unpacked if it is gzip or zstd. Reading a damaged file raises one of DAMAGE."""
    file = open_regular(path)
    start = file.read(4)
    file.seek(0)
    if start.startswith(GZIP):
        return _BoundedGzip(path, file)
    return io.BufferedReader(_BoundedZstd(path, file), BUFFER) if start.startswith(BEGINS) else file


def why_no_encoding(name: str) -> str | None:
    """Why a text cannot be the name of an encoding of files that are read line by line; None if it can.

    Known are those of Python's in which the byte of a line end means nothing else.
    """
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError):
        found = ""
    if found == UTF_8 or found.startswith(_FAMILIES):
        return None
    return f"{name!r} is no encoding of texts that is known here; expected is one such as {', '.join(ENCODINGS)}"


def open_text(path: Path, newline: str = "\n", encoding: str = UTF_8) -> io.TextIOWrapper:
    """The text of a regular file, plain or packed, without byte order mark. Reading it may raise one of DAMAGE."""
    of_file = "utf-8-sig" if encoding == UTF_8 else encoding
    return io.TextIOWrapper(open_bytes(path), encoding=of_file, newline=newline)


def read_text(path: Path) -> str:
    """The text of a regular file in UTF-8, plain, gzip or zstd. Raises UserError if it is damaged or not text."""
    try:
        with open_text(path) as file:
            return file.read()
    except DAMAGE as error:
        raise damaged(path, error) from None


def damaged(path: Path, error: Exception, number: int = 0, encoding: str = UTF_8) -> UserError:
    """The error for a file whose reading raised one of DAMAGE. Its line is `number`; of bad text it is searched."""
    if not isinstance(error, UnicodeDecodeError):
        place = f"{path}:{number}" if number else f"{path}"
        kind = "zstd" if isinstance(error, ZstdError) else "gzip"
        return UserError(f"{place}: damaged {kind} file ({error})")
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                return UserError(f"{path}:1: UTF-16 text; expected UTF-8")
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                break
    return UserError(f"{path}:{number}: not {encoding.upper() if encoding == UTF_8 else encoding} text")
