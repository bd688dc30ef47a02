"""Zip and tar, unpacked strictly: read to the very end, and every member a plain file that lands where its name says.

Refused are links and devices, names that lead out, stand twice or stand for a file and a folder at once, sizes that the
archive does not keep to, and more bytes or members than data has. What the standard library's readers pass over in
silence, a tar that is damaged or cut off in the middle, is refused as well.
"""

from __future__ import annotations

import bz2
import lzma
import os
import shutil
import stat
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import BinaryIO

from scripts.common.errors import UserError
from scripts.common.paths import why_not_below
from scripts.common.reading import DAMAGE, GZIP, open_bytes, open_regular, unpacks_to_at_most

MOST_MEMBERS = 2_000_000
LONGEST_PATH = 1000  # bytes of a member's whole name
BZIP2, XZ = b"BZh", b"\xfd7zXZ\0"
UNPACKED = (GZIP, BZIP2, XZ)  # how a compressed tar begins
TAR_MAGIC = b"\0ustar"
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
_DESCRIPTOR = 24  # bytes at most that follow a member whose size was not known beforehand
_BLOCK = 512
_CHUNK = 1 << 20
_LONGEST_HEADER = 1 << 24  # bytes: a tar's extended headers are read into memory
_UNREADABLE = (*DAMAGE, zipfile.BadZipFile, tarfile.TarError, ValueError, OverflowError, MemoryError, struct.error,
               IndexError, KeyError, NotImplementedError)  # fmt: skip


class Unpacking:
    """One archive on its way into one fresh folder: keeps to the names and sizes that are allowed."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.folder = source, folder
        self.limit = unpacks_to_at_most(source.stat().st_size)
        self.files: set[str] = set()
        self.folders: set[str] = set()
        self.bytes = self.members = 0

    def refused(self, why: str) -> UserError:
        return UserError(f"{self.source}: refused, {why}")

    def damaged(self, why: object) -> UserError:
        said = " ".join(str(why).split()) or type(why).__name__
        return UserError(f"{self.source}: damaged archive ({said})")

    def sized(self, size: int) -> None:
        """Count bytes that are to be unpacked. UserError where they are too many for any data, or for the disk."""
        self.bytes += size
        if self.bytes > self.limit:
            raise self.refused(f"it unpacks to more than {self.limit:,} bytes, far more than packed data does")
        free = shutil.disk_usage(self.folder).free if size > _CHUNK else size
        if size > free:
            raise UserError(f"{self.source}: unpacks to {size:,} bytes, but {self.folder.parent} has {free:,} free")

    def member(self, name: str, is_folder: bool) -> Path | None:
        """Where a member goes; None for the archive's own folder. UserError for a name that is not allowed."""
        self.members += 1
        if self.members > MOST_MEMBERS:
            raise self.refused(f"it has more than {MOST_MEMBERS:,} members")
        short = name.removeprefix("./")
        short = short.removesuffix("/") if is_folder else short
        if is_folder and name and short in ("", "."):
            return None
        if reason := why_not_below(short):
            leaves = reason in ("is absolute", "leads out of its folder")
            raise self.refused(f"{name!r} " + ("would leave the archive's folder" if leaves else reason))
        if len(short.encode(errors="surrogateescape")) > LONGEST_PATH:
            raise self.refused(f"{name[:60]!r}… is a path of more than {LONGEST_PATH} bytes")
        if short in self.files and not is_folder:
            raise self.refused(f"{name!r} stands twice in it")
        parts = short.split("/")
        above = {"/".join(parts[:end]) for end in range(1, len(parts) + is_folder)}
        if above & self.files or (not is_folder and short in self.folders):
            raise self.refused(f"{name!r} is a file and a folder at once")
        self.folders |= above
        if not is_folder:
            self.files.add(short)
        return self.folder / short

    def write(self, path: Path, content: BinaryIO, size: int) -> None:
        """Write a member's bytes, as many as the archive states and no more."""
        path.parent.mkdir(parents=True, exist_ok=True)
        left = size
        with open(path, "xb") as file:
            while chunk := content.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    break
                file.write(chunk)
        if left:
            raise self.damaged(f"{str(path.relative_to(self.folder))!r} has not the {size:,} bytes that are stated")


def unpack_zip(source: Path, folder: Path) -> None:
    """Unpack a zip into an empty folder. Raises UserError for what is damaged or refused."""
    to = Unpacking(source, folder)
    try:
        with open_regular(source) as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            for member in members:
                _check_kind(member, to)
            _check_places(members, file, archive.start_dir, to)
            places = {member.header_offset: to.member(member.orig_filename, _is_folder(member)) for member in members}
            to.sized(sum(member.file_size for member in members))
            for member in members:
                path = places[member.header_offset]
                if _is_folder(member):
                    (path or folder).mkdir(parents=True, exist_ok=True)
                    continue
                with archive.open(member) as content:
                    to.write(path, content, member.file_size)
    except _UNREADABLE as error:
        raise to.damaged(error) from None
    except OSError as error:
        raise _told(error, to) from None


def _is_folder(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith("/")  # its own is_dir() fails for an empty name


def _check_kind(member: zipfile.ZipInfo, to: Unpacking) -> None:
    """UserError for a member that is no plain file, or that cannot be read."""
    name, mode = member.orig_filename, stat.S_IFMT(member.external_attr >> 16)
    if not name:
        raise to.refused("'' names no file")
    if stat.S_ISLNK(mode):
        raise to.refused(f"{name!r} is a link; unpack it yourself and name the folder")
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise to.refused(f"{name!r} is no regular file")
    if member.flag_bits & 1:
        raise to.refused(f"{name!r} is encrypted")
    if member.compress_type not in METHODS:
        raise to.refused(f"{name!r} is packed by method {member.compress_type}, which cannot be read")
    if _is_folder(member) and member.file_size:
        raise to.damaged(f"{name!r} is a folder with content")


def _check_places(members: list[zipfile.ZipInfo], file: BinaryIO, end: int, to: Unpacking) -> None:
    """UserError unless the members lie one after another from the zip's first byte to its directory (at `end`).

    A directory that is damaged, or that is another than the one behind its members, would hide some of them.
    """
    free = 0
    places = [(member.header_offset, member.compress_size) for member in members]
    for place, size in [*sorted(places), (end, 0)]:
        if place < free:
            raise to.damaged("its members overlap with one another or with the directory")
        if place > free + (_DESCRIPTOR if free else 0):
            raise to.damaged(f"{place - free:,} bytes belong to no member of its directory")
        file.seek(place + 26)
        name_and_extra = struct.unpack("<HH", file.read(4)) if place < end else ()
        free = place + 30 + sum(name_and_extra) + size


def _stream(source: Path) -> BinaryIO:
    """The bytes of a tar, unpacked by what it begins with."""
    with open_regular(source) as file:
        start = file.read(len(XZ))
    if start.startswith(BZIP2):
        return bz2.BZ2File(open_regular(source))
    return lzma.LZMAFile(open_regular(source)) if start.startswith(XZ) else open_bytes(source)


def holds_tar(source: Path) -> bool:
    """Whether a file begins as a tar does, also under gzip, bzip2 or xz."""
    try:
        with _stream(source) as stream:
            start = stream.read(_BLOCK)
            return start == bytes(_BLOCK) or bool(tarfile.TarInfo.frombuf(start, "utf-8", "surrogateescape"))
    except (*_UNREADABLE, OSError):
        return False


class _Headers:
    """The stream of a tar for Python's reader, which takes headers as long as they say they are."""

    def __init__(self, stream: BinaryIO, to: Unpacking) -> None:
        self.stream, self.to = stream, to
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LONGEST_HEADER:
            raise self.to.damaged(f"a header of {size:,} bytes")
        return self.stream.read(size)


def unpack_tar(source: Path, folder: Path) -> None:
    """Unpack a tar, plain or compressed, into an empty folder. Raises UserError for what is damaged or refused."""
    to = Unpacking(source, folder)
    try:
        with _stream(source) as stream, tarfile.open(fileobj=_Headers(stream, to), mode="r:") as archive:
            begin = 0
            while (member := archive.next()) is not None:
                to.sized(member.offset_data - begin + member.size)
                begin = member.offset_data + member.size
                _unpack_member(archive, member, to)
                archive.members.clear()  # it would keep them all
            _check_end(stream, archive.offset, to)
    except _UNREADABLE as error:
        raise to.damaged(error) from None
    except OSError as error:
        raise _told(error, to) from None


def _unpack_member(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Unpacking) -> None:
    if member.issym() or member.islnk():
        raise to.refused(f"{member.name!r} is a link; unpack it yourself and name the folder")
    if not member.isdir() and not member.isreg():
        raise to.refused(f"{member.name!r} is no regular file")
    if member.issparse():
        raise to.refused(f"{member.name!r} is a sparse file; pack it without --sparse")
    path = to.member(member.name, member.isdir())
    if member.isdir():
        (path or to.folder).mkdir(parents=True, exist_ok=True)
    else:
        with archive.extractfile(member) as content:
            to.write(path, content, member.size)


def _check_end(stream: BinaryIO, place: int, to: Unpacking) -> None:
    """UserError unless a tar ends with zeros: its reader stops, silently, at a header that it cannot read."""
    stream.seek(place)
    found = stream.read(_BLOCK)
    if found != bytes(_BLOCK):
        why = "it is cut off, the mark of its end is missing" if len(found) < _BLOCK else "a header cannot be read"
        raise to.damaged(f"{why}, after {to.members} members")
    while found := stream.read(_CHUNK):
        to.sized(len(found))
        if found.count(0) != len(found):
            raise to.damaged("there is more behind its end")


def _told(error: OSError, to: Unpacking) -> UserError | OSError:
    """The operating system's own errors stay; bzip2's of damaged data have no number, and an existing file is told."""
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
        return to.refused(f"{os.path.basename(error.filename)!r} stands twice in it on this file system")
    return error if error.errno else to.damaged(error)
