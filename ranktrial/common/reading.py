"""Opening files from outside: regular files only; gzip and zstd, by their first bytes, are unpacked up to a limit.

A pipe, a device or a socket would hang the reader or never end. A small packed file can unpack to more than the disk
can store.

Reading ahead: another thread makes the next item while the current one is processed outside of Python.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, TypeVar

from ranktrial.common.errors import UserError


class ZstdDamage(Exception):
    """A zstd file with a damaged frame, or with other data after its frames."""


RATIO = 200  # text and JSON compress to a tenth, rarely to a fiftieth; a decompression bomb to a thousandth
ALWAYS_FREE = 100_000_000  # bytes to which any file may unpack
BUFFER = 1 << 17  # bytes
GZIP = b"\x1f\x8b"
# A zstd frame, or a skippable frame, with which pzstd begins.
ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60)))
_REFUSED = {  # libzstd's message -> what to do
    "too much memory": "needs a window of more than 128 MB; pack it again without --long",
    "Dictionary mismatch": "was packed with a dictionary; pack it again without",
}
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, ZstdDamage, lzma.LZMAError, UnicodeDecodeError)
UTF_8 = "utf-8"
WESTERN = "cp1252"
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
    """The most bytes to which a file of `packed` bytes may unpack; more is treated as a decompression bomb."""
    return max(ALWAYS_FREE, RATIO * packed)


class _Named(io.FileIO):
    """The bytes of a file; an error of the system while they are read names it."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "rb")
        self.path = path

    def readinto(self, buffer) -> int | None:
        with naming(self.path):
            return super().readinto(buffer)

    def readall(self) -> bytes | None:
        with naming(self.path):
            return super().readall()


class naming:
    """A context in which an error of the system without a file's name gets this one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(self.path)


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading bytes. Raises UserError if it is missing or not a regular file."""
    kind = "a socket"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{path}: no such file") from None
    except ValueError:
        raise UserError(f"{str(path)!r}: no such file, its name contains a NUL") from None
    except OSError as error:
        if not path.is_socket():
            raise UserError(f"{path}: {error.strerror}") from None
    else:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return io.BufferedReader(_Named(descriptor, path), BUFFER)
        os.close(descriptor)
        kind = next((name for is_kind, name in _KINDS.items() if is_kind(mode)), "a device")
    raise UserError(f"{path}: {kind}; expected a regular file")


class _Unpacked(io.RawIOBase):
    """The bytes of a packed file, which is closed together with it. Raises UserError beyond `unpacks_to_at_most`.

    `stream` unpacks it, and raises `of_zstd` if a zstd frame is damaged.
    """

    def __init__(self, path: Path, packed: BinaryIO, stream: BinaryIO, *of_zstd: type[Exception]) -> None:
        self.path, self.packed, self.stream, self.of_zstd = path, packed, stream, of_zstd
        self.limit = unpacks_to_at_most(os.fstat(packed.fileno()).st_size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            size = self.stream.readinto(buffer)
        except self.of_zstd as error:
            if why := next((why for words, why in _REFUSED.items() if words in str(error)), None):
                raise UserError(f"{self.path}: refused, it {why}") from None
            raise ZstdDamage(str(error).rpartition(": ")[2]) from None
        self._check()
        return size

    def tell(self) -> int:
        return self.stream.tell()

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("a packed file has no known end")
        place += self.tell() if whence == io.SEEK_CUR else 0
        self.stream.seek(min(place, self.limit + 1))
        self._check()
        return self.tell()

    def _check(self) -> None:
        if self.tell() > self.limit:
            raise UserError(f"{self.path}: refused, it unpacks to more than {self.limit:,} bytes, more than data does")

    def close(self) -> None:
        super().close()
        self.stream.close()
        self.packed.close()


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a regular file, unpacked if it is gzip or zstd. Reading a damaged file raises one of DAMAGE."""
    file = open_regular(path)
    start = file.read(4)
    file.seek(0)
    if start.startswith(GZIP):
        return io.BufferedReader(_Unpacked(path, file, gzip.GzipFile(fileobj=file, mode="rb")), BUFFER)
    if start.startswith(ZSTD):
        from backports.zstd import ZstdError, ZstdFile  # archives are checked with the standard library alone

        return io.BufferedReader(_Unpacked(path, file, ZstdFile(file), ZstdError), BUFFER)
    return file


def why_no_encoding(name: str) -> str | None:
    """Why a text is not the name of an encoding for files that are read line by line; None if it is.

    The encodings are those of Python in which the byte of a line end has no other meaning.
    """
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError):
        found = ""
    if found == UTF_8 or found.startswith(_FAMILIES):
        return None
    return f"{name!r} is not a known text encoding; expected one such as {', '.join(ENCODINGS)}"


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


class WrongEncoding(UserError):
    """The error for text in another encoding; `remedy` follows it where the encoding of a file is a key."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def _likely(error: UnicodeDecodeError) -> tuple[str, str]:
    """What the first byte that is not UTF-8 would be in Western Europe's encoding, and the remedy."""
    byte = error.object[error.start : error.start + 1]
    letter = byte.decode(WESTERN, errors="ignore")
    remedy = "; state it by the key encoding ({})"
    if not letter.isalpha():
        return "", remedy.format("such as latin-1")
    return f" (byte 0x{byte.hex()}, {letter!r} in {WESTERN})", remedy.format(WESTERN)


def damaged(path: Path, error: Exception, number: int = 0, encoding: str = UTF_8) -> UserError:
    """The error for a file whose reading raised one of DAMAGE, with its line: `number`, or that of invalid text."""
    if not isinstance(error, UnicodeDecodeError):
        place = f"{path}:{number}" if number else f"{path}"
        with open_regular(path) as file:
            kind = "gzip" if file.read(2) == GZIP else "zstd"
        return UserError(f"{place}: damaged {kind} file ({error})")
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                return UserError(f"{path}:1: UTF-16 text; expected UTF-8")
            try:
                line.decode(encoding)
            except UnicodeDecodeError as wrong:
                error = wrong
                break
    what, remedy = _likely(error) if encoding == UTF_8 else ("", "")
    return WrongEncoding(f"{path}:{number}: not {UTF_8.upper() if encoding == UTF_8 else encoding} text{what}", remedy)


Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items in order, with one beyond the current in memory. Exceptions of `items` are raised here."""
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, iterator, end)
        while (item := waiting.result()) is not end:
            waiting = reader.submit(next, iterator, end)
            yield item  # type: ignore[misc]  # no end
