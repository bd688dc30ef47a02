"""Limits for archives: the sizes and names that a zip states are checked before anything is unpacked.

A hostile zip can state sizes beyond any disk, name a file twice, or let its members overlap. The archives that are
written here hold their members one after the other, stored or deflated, with nothing between them.
"""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.zip_and_tar import Unpacking, check_zip

MEMBERS = 250_000
DIRECTORY = 256 << 20  # bytes of the zip's directory, which is read at once
RATIO = 250  # unpacked size by packed size; results of experiments stay far below it
SMALL = 64 << 20  # bytes that a file may unpack to at any ratio
TOTAL = 512 << 20  # bytes that all files may unpack to at any ratio
RECORD = 512 << 20  # bytes of a record, which is read at once
VALUES = 4_000_000  # values in a record
BLOCK = 1 << 20

_END, _LOCATOR, _END64 = b"PK\5\6", b"PK\6\7", b"PK\6\6"
_END_SIZE = 22
_FARTHEST = _END_SIZE + (1 << 16)  # the end record and the longest comment


def ends(path: Path) -> tuple[int, int, int]:
    """The offset of a zip's directory, its length in bytes, and its number of members, as the zip states them.

    Raises UserError if the file has no end record of a zip, or if the record exceeds the limits.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        file.seek(max(0, size - _FARTHEST))
        tail = file.read()
        place = tail.rfind(_END)
        if place < 0 or len(tail) - place < _END_SIZE:
            raise UserError(f"{path}: not an archive: not a readable zip file (it has no end record)")
        count, length, start = struct.unpack("<HLL", tail[place + 10 : place + 20])
        if count == 0xFFFF or 0xFFFFFFFF in (length, start):
            where = size - len(tail) + place - 20
            file.seek(max(0, where))
            locator = file.read(20)
            if locator[:4] != _LOCATOR:
                raise UserError(f"{path}: damaged archive: it states no size of its directory")
            file.seek(min(struct.unpack("<Q", locator[8:16])[0], size))
            record = file.read(56)
            if record[:4] != _END64 or len(record) < 56:
                raise UserError(f"{path}: damaged archive: it states no size of its directory")
            count, length, start = struct.unpack("<QQQ", record[32:56])
    if count > MEMBERS or length > DIRECTORY:
        raise UserError(f"{path}: refused, the archive states {count} files; at most {MEMBERS} are read")
    return start, length, count


def why_too_big(unpacked: int, packed: int, small: int = SMALL) -> str | None:
    """Why a file may not be unpacked, by its stated sizes in bytes; None if it may."""
    if unpacked > small and unpacked > RATIO * packed:
        return f"unpacks to {unpacked} bytes, more than {RATIO} times its size"
    return None


def check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise UserError for a zip beyond the limits, one that no job could unpack, or one that is not as archives are."""
    members = archive.infolist()
    if problem := why_too_big(sum(member.file_size for member in members), path.stat().st_size, TOTAL):
        raise UserError(f"{path}: refused, the archive {problem}")
    to = Unpacking(path, path.parent)
    try:
        check_zip(archive, to)
    except struct.error as error:
        raise to.damaged(error) from None
    seen: dict[str, str] = {}
    for member in members:
        first = seen.setdefault(member.filename.casefold(), member.filename)
        problem = _odd(member) or why_too_big(member.file_size, member.compress_size)
        if first != member.filename:
            problem = f"differs from {first!r} in upper and lower case only"
        if problem:
            raise to.refused(f"the archive's {member.filename!r} {problem}")


def _odd(member: zipfile.ZipInfo) -> str | None:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is compressed by a method ({member.compress_type}) that archives do not use"
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        return "is stored, and states two sizes"
    return "is a folder" if member.is_dir() else None


def why_no_gzip(path: Path) -> str | None:
    """Why a gzip file cannot be unpacked within the limits; None if it can. It is read block by block."""
    packed, unpacked = path.stat().st_size, 0
    try:
        with gzip.open(path) as file:
            while block := file.read(BLOCK):
                unpacked += len(block)
                if reason := why_too_big(unpacked, packed):
                    return reason
    except (OSError, EOFError, zlib.error) as error:
        return f"is a damaged gzip file ({error})"
    return None


def check_values(text: bytes, where: str) -> None:
    """Raise UserError for a record with more values than the records of a large experiment have."""
    if sum(map(text.count, (b",", b"[", b"{"))) > VALUES:
        raise UserError(f"{where}: refused, it contains more than {VALUES} values")
