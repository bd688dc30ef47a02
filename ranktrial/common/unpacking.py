"""Unpacking of archives (zip, wheel, tar; recognised by their first bytes) into a temporary folder.

Strict unpacking of zip and tar files: they are read to the end, and each member must be a plain file in its place.

Links and devices, names outside the folder, duplicate names, names of both a file and a folder, wrong sizes, and too
many bytes or members are refused. So is a damaged or truncated tar, at which the standard library's reader stops
silently.
"""

from __future__ import annotations

import bz2
import lzma
import os
import shutil
import stat
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ranktrial.common.errors import UserError
from ranktrial.common.paths import why_not_below
from ranktrial.common.reading import DAMAGE, GZIP, ZSTD, open_bytes, open_regular, unpacks_to_at_most

MOST_MEMBERS = 2_000_000
LONGEST_PATH = 1000  # bytes of a member's full name
BZIP2, XZ = b"BZh", b"\xfd7zXZ\0"
UNPACKED = (GZIP, BZIP2, XZ, *ZSTD)  # the first bytes of a compressed tar
TAR_MAGIC = b"\0ustar"
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
_ENCRYPTED = 1  # a member's flag
_DESCRIBED = 8  # the flag of a member whose size was not known in advance: a data descriptor follows it
_DESCRIPTOR = 24  # bytes: the longest data descriptor
_BLOCK = 512
_CHUNK = 1 << 20
_LONGEST_HEADER = 1 << 24  # bytes: a tar's extended headers are read into memory
_UNREADABLE = (*DAMAGE, zipfile.BadZipFile, tarfile.TarError, ValueError, OverflowError, MemoryError, struct.error,
               IndexError, KeyError, NotImplementedError)  # fmt: skip


class Unpacking:
    """The unpacking of one archive into one fresh folder; checks names and sizes."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.folder = source, folder
        self.limit = unpacks_to_at_most(source.stat().st_size)
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.bytes = self.members = 0

    def refused(self, why: str) -> UserError:
        return UserError(f"{self.source}: refused, {why}")

    def damaged(self, why: object) -> UserError:
        reason = " ".join(str(why).split()) or type(why).__name__
        return UserError(f"{self.source}: damaged archive ({reason})")

    def sized(self, size: int) -> None:
        """Count bytes to be unpacked. Raises UserError if they exceed the limit or the free space of the disk."""
        self.bytes += size
        if self.bytes > self.limit:
            raise self.refused(f"it unpacks to more than {self.limit:,} bytes, far more than data does")
        free = shutil.disk_usage(self.folder).free if size > _CHUNK else size
        if size > free:
            raise UserError(f"{self.source}: unpacks to {size:,} bytes, but {self.folder.parent} has {free:,} free")

    def member(self, name: str, is_folder: bool) -> Path | None:
        """The path for a member; None for the archive's top folder. Raises UserError for a name that is refused."""
        self.members += 1
        if self.members > MOST_MEMBERS:
            raise self.refused(f"it has more than {MOST_MEMBERS:,} members")
        short = name.removeprefix("./")
        short = short.removesuffix("/") if is_folder else short
        if is_folder and name and short in ("", "."):
            return None
        if reason := why_not_below(short):
            if reason in ("is absolute", "leads out of its folder"):
                reason = "would leave the archive's folder"
            raise self.refused(f"{name!r} {reason}")
        if len(short.encode(errors="surrogateescape")) > LONGEST_PATH:
            raise self.refused(f"{name[:60]!r}… is a path of more than {LONGEST_PATH} bytes")
        if short in self.files and not is_folder:
            raise self.refused(f"duplicate member {name!r}")
        parts = short.split("/") if is_folder else short.split("/")[:-1]
        folders = {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
        if folders & self.files or (not is_folder and short in self.folders):
            raise self.refused(f"{name!r} is a file and a folder at once")
        self.folders |= folders
        if not is_folder:
            self.files.add(short)
        return self.folder / short

    def write(self, path: Path, content: BinaryIO, size: int) -> None:
        """Write a member of `size` bytes. Raises UserError if it has more or fewer."""
        path.parent.mkdir(parents=True, exist_ok=True)
        left = size
        with open(path, "xb") as file:
            while chunk := content.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    break
                file.write(chunk)
        if left:
            raise self.damaged(f"{str(path.relative_to(self.folder))!r} does not have the stated {size:,} bytes")


def unpack_zip(source: Path, folder: Path) -> None:
    """Unpack a zip into an empty folder. Raises UserError if it is damaged or refused."""
    to = Unpacking(source, folder)
    try:
        with open_regular(source) as file, zipfile.ZipFile(file) as archive:
            places = check_zip(archive, to)
            to.sized(sum(member.file_size for member in archive.infolist()))
            for member, path in zip(archive.infolist(), places, strict=True):
                if _is_folder(member):
                    (path or folder).mkdir(parents=True, exist_ok=True)
                    continue
                with archive.open(member) as content:
                    to.write(path, content, member.file_size)
    except _UNREADABLE as error:
        raise to.damaged(error) from None
    except OSError as error:
        raise _os_error(error, to) from None


def check_zip(archive: zipfile.ZipFile, to: Unpacking) -> list[Path | None]:
    """The path of each member of a zip. Raises UserError for a refused or misplaced member."""
    for member in archive.infolist():
        _check_kind(member, to)
    _check_places(archive, to)
    return [to.member(member.orig_filename, _is_folder(member)) for member in archive.infolist()]


def _is_folder(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith("/")  # ZipInfo.is_dir() fails for an empty name


def _check_kind(member: zipfile.ZipInfo, to: Unpacking) -> None:
    """Raise UserError for a member that is not a plain file or cannot be read."""
    name, mode = member.orig_filename, stat.S_IFMT(member.external_attr >> 16)
    if not name:
        raise to.refused("'' names no file")
    if stat.S_ISLNK(mode):
        raise to.refused(f"{name!r} is a link; unpack it yourself and name the folder")
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise to.refused(f"{name!r} is not a regular file")
    if member.flag_bits & _ENCRYPTED:
        raise to.refused(f"{name!r} is encrypted")
    if member.compress_type not in METHODS:
        raise to.refused(f"{name!r} is compressed by method {member.compress_type}, which cannot be read")
    if _is_folder(member) and member.file_size:
        raise to.damaged(f"{name!r} is a folder with content")


def _check_places(archive: zipfile.ZipFile, to: Unpacking) -> None:
    """Raise UserError unless the members follow each other from the zip's first byte to its directory.

    A damaged or forged directory would hide some of them.
    """
    free = slack = 0
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    for place, member in [*((member.header_offset, member) for member in members), (archive.start_dir, None)]:
        if place < free:
            raise to.damaged("its members overlap with one another or with the directory")
        if place > free + slack:
            raise to.damaged(f"{place - free:,} bytes belong to no member of its directory")
        if member:
            archive.fp.seek(place + 26)
            free = place + 30 + sum(struct.unpack("<HH", archive.fp.read(4))) + member.compress_size
            slack = _DESCRIPTOR if member.flag_bits & _DESCRIBED else 0


def _stream(source: Path) -> BinaryIO:
    """The bytes of a tar, decompressed by the method that its first bytes indicate."""
    with open_regular(source) as file:
        start = file.read(len(XZ))
    if start.startswith(BZIP2):
        return bz2.BZ2File(open_regular(source))
    return lzma.LZMAFile(open_regular(source)) if start.startswith(XZ) else open_bytes(source)


def holds_tar(source: Path) -> bool:
    """Whether a file begins like a tar, plain or compressed by gzip, bzip2, xz or zstd."""
    try:
        with _stream(source) as stream:
            start = stream.read(_BLOCK)
            return start == bytes(_BLOCK) or bool(tarfile.TarInfo.frombuf(start, "utf-8", "surrogateescape"))
    except (*_UNREADABLE, OSError):
        return False


class _Headers:
    """The stream of a tar with a limit on headers, which Python's reader would read at any stated length."""

    def __init__(self, stream: BinaryIO, to: Unpacking) -> None:
        self.stream, self.to = stream, to
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LONGEST_HEADER:
            raise self.to.damaged(f"a header of {size:,} bytes")
        return self.stream.read(size)


def unpack_tar(source: Path, folder: Path) -> None:
    """Unpack a tar, plain or compressed, into an empty folder. Raises UserError if it is damaged or refused."""
    to = Unpacking(source, folder)
    try:
        with _stream(source) as stream, tarfile.open(fileobj=_Headers(stream, to), mode="r:") as archive:
            begin = 0
            while (member := archive.next()) is not None:
                to.sized(member.offset_data - begin + member.size)
                begin = member.offset_data + member.size
                _unpack_member(archive, member, to)
                archive.members.clear()  # the reader keeps all of them in memory
            _check_end(stream, archive.offset, to)
    except _UNREADABLE as error:
        raise to.damaged(error) from None
    except OSError as error:
        raise _os_error(error, to) from None


def _unpack_member(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Unpacking) -> None:
    if member.issym() or member.islnk():
        raise to.refused(f"{member.name!r} is a link; unpack it yourself and name the folder")
    if not member.isdir() and not member.isreg():
        raise to.refused(f"{member.name!r} is not a regular file")
    if member.issparse():
        raise to.refused(f"{member.name!r} is a sparse file; pack it without --sparse")
    path = to.member(member.name, member.isdir())
    if member.isdir():
        (path or to.folder).mkdir(parents=True, exist_ok=True)
    else:
        with archive.extractfile(member) as content:
            to.write(path, content, member.size)


def _check_end(stream: BinaryIO, place: int, to: Unpacking) -> None:
    """Raise UserError unless a tar ends with zeros: Python's reader stops silently at a header that it cannot read."""
    stream.seek(place)
    block = stream.read(_BLOCK)
    if block != bytes(_BLOCK):
        why = "it is cut off, its end mark is missing" if len(block) < _BLOCK else "a header cannot be read"
        raise to.damaged(f"{why}, after {to.members} members")
    while chunk := stream.read(_CHUNK):
        to.sized(len(chunk))
        if chunk.count(0) != len(chunk):
            raise to.damaged("there are bytes after its end")


def _os_error(error: OSError, to: Unpacking) -> UserError | OSError:
    """The exception to raise for an OSError. One without a number is from bzip2, for damaged data.

    An existing file means that two members have the same name on this file system.
    """
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
        return to.refused(f"duplicate member {os.path.basename(error.filename)!r} on this file system")
    return error if error.errno else to.damaged(error)


PACKINGS = ("", ".gz", ".zst")  # suffixes of files that are read plain or compressed
_ZIP = (b"PK\3\4", b"PK\5\6")


@contextmanager
def opened(source: Path, plain: bool = False) -> Iterator[Path]:
    """The folder `source` itself, or a temporary folder with the content of the archive `source`.

    With `plain`, a file that is not an archive is yielded as it is. Raises UserError if `source` is neither a folder
    nor an archive, is damaged, unpacks to too many bytes, or has a member that is not a plain file below it.
    """
    if source.is_dir():
        yield source
        return
    with open_regular(source) as file:
        start = file.read(512)
    if start.startswith(_ZIP):
        unpack = unpack_zip
    elif holds_tar(source):
        unpack = unpack_tar
    elif TAR_MAGIC in start or (start.startswith(UNPACKED) and not plain):
        raise UserError(f"{source}: damaged archive, or a single compressed file instead of an archive")
    elif plain:
        yield source
        return
    else:
        raise UserError(f"{source}: neither a folder nor a zip or tar archive")
    with tempfile.TemporaryDirectory(prefix="ranktrial-") as temporary:
        unpack(source, Path(temporary))
        yield Path(temporary)


def only_folder_with(root: Path, name: str, packings: tuple[str, ...] = ("",)) -> Path:
    """The folder with the file `name`, with one of these suffixes: `root` or the one folder nearest to it.

    Raises UserError if no folder has the file, or several at the same depth.
    """
    found = (path for ending in packings for path in root.rglob(name + ending))
    paths = sorted(found, key=lambda path: (len(path.parts), path))
    if not paths:
        raise UserError(f"no {name} in it")
    first, *others = dict.fromkeys(path.parent for path in paths if len(path.parts) == len(paths[0].parts))
    if others:
        several = ", ".join(str(folder.relative_to(root)) for folder in (first, *others[:3]))
        raise UserError(f"{name} lies in several folders: {several}; give the one that is meant as the location")
    return first


def packed_or_plain(path: Path) -> Path:
    """The file of this name, or with .gz or .zst appended. Raises UserError if several of them exist.

    If none exists, the name is returned as it is, and opening it reports the error.
    """
    found = [file for ending in PACKINGS if (file := path.with_name(path.name + ending)).exists()]
    if len(found) > 1:
        raise UserError(f"{path.parent}: {' and '.join(file.name for file in found)} are both there; expected one")
    return found[0] if found else path
