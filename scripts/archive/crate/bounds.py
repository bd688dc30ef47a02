"""How much an archive may ask for: what a zip states of itself is held against limits before anything is unpacked.

A zip that a stranger made can state sizes that no disk holds, name a file twice, or let its members overlap. The
archives that are written here hold their members one after the other, stored or deflated, and nothing between them.
"""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from pathlib import Path

from scripts.common.errors import UserError

MEMBERS = 250_000
DIRECTORY = 256 << 20  # bytes of the zip's directory, which is read at once
RATIO = 250  # what unpacks to more than this many times its size is no result of an experiment
SMALL = 64 << 20  # bytes that a file may unpack to at any ratio
TOTAL = 512 << 20  # bytes that all files may unpack to at any ratio
RECORD = 512 << 20  # bytes of a record, which is read at once
VALUES = 4_000_000  # values in a record
BLOCK = 1 << 20

_END, _LOCATOR, _END64 = b"PK\5\6", b"PK\6\7", b"PK\6\6"
_END_SIZE = 22
_FARTHEST = _END_SIZE + (1 << 16)  # the end record and the longest comment


def ends(path: Path) -> tuple[int, int, int]:
    """Where a zip's directory begins, its bytes, and its count of members, as the zip states them.

    Raises UserError where there is no end record of a zip, or it states more than the limits.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        file.seek(max(0, size - _FARTHEST))
        tail = file.read()
        place = tail.rfind(_END)
        if place < 0 or len(tail) - place < _END_SIZE:
            raise UserError(f"{path}: not an archive: no zip file that can be read (it has no end record)")
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
    """Why a file may not be unpacked, by the sizes that are stated; None where it may."""
    if unpacked > small and unpacked > RATIO * packed:
        return f"unpacks to {unpacked} bytes, more than {RATIO} times its size"
    return None


def check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise UserError for a zip that asks for too much, or whose members do not stand side by side in it."""
    start, _, _ = ends(path)
    members = archive.infolist()
    if said := why_too_big(sum(one.file_size for one in members), path.stat().st_size, TOTAL):
        raise UserError(f"{path}: refused, the archive {said}")
    seen: dict[str, str] = {}
    for one in members:
        said = _odd(one) or why_too_big(one.file_size, one.compress_size)
        if said:
            raise UserError(f"{path}: refused, the archive's {one.filename!r} {said}")
        other = seen.setdefault(one.filename.casefold(), one.filename)
        if other is not one.filename:
            same = "stands twice" if other == one.filename else f"differs from {other!r} in upper and lower case only"
            raise UserError(f"{path}: refused, the archive's {one.filename!r} {same}")
    for name in list(seen):
        folder = name.rpartition("/")[0]
        while folder:
            if folder in seen:
                raise UserError(f"{path}: refused, the archive's {seen[folder]!r} is a file and a folder")
            folder = folder.rpartition("/")[0]
    _check_places(path, members, start)


def _odd(member: zipfile.ZipInfo) -> str | None:
    if member.flag_bits & 0x1:
        return "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is packed by a method ({member.compress_type}) that no archive has"
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        return "is stored, and states two sizes"
    kind = member.external_attr >> 28
    return "is no plain file" if kind not in (0, 0o10) or member.is_dir() else None


def _check_places(path: Path, members: list[zipfile.ZipInfo], directory: int) -> None:
    """Members follow each other without a gap or an overlap, from the first byte to the zip's directory."""
    end = 0
    with open(path, "rb") as file:
        for one in sorted(members, key=lambda member: member.header_offset):
            file.seek(one.header_offset if one.header_offset >= 0 else 0)
            header = file.read(30)
            if one.header_offset != end or len(header) < 30:
                said = "overlaps with another file" if one.header_offset < end else "does not follow the file before it"
                raise UserError(f"{path}: refused, the archive's {one.filename!r} {said}")
            end += 30 + sum(struct.unpack("<HH", header[26:30])) + one.compress_size
    if end != directory:
        raise UserError(f"{path}: refused, the archive holds bytes that belong to no file")


def why_no_gzip(path: Path) -> str | None:
    """Why a gzip file cannot be unpacked within the limits; None where it can. It is read block by block."""
    packed, unpacked = path.stat().st_size, 0
    try:
        with gzip.open(path) as file:
            while block := file.read(BLOCK):
                unpacked += len(block)
                if said := why_too_big(unpacked, packed):
                    return said
    except (OSError, EOFError, zlib.error) as error:
        return f"is a damaged gzip file ({error})"
    return None


def check_values(text: bytes, where: str) -> None:
    """Raise UserError for a record with more values than the records of a large experiment have."""
    if sum(map(text.count, (b",", b"[", b"{"))) > VALUES:
        raise UserError(f"{where}: refused, it holds more than {VALUES} values")
