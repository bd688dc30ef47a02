"""Zip files whose bytes depend only on their content, sealed so that a change of any byte is noticed.

Entries are sorted and have one fixed date. The zip's comment is the SHA-256 of all bytes before it.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from ranktrial.common.files import atomic_path

DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold
MARK = b"sha256:"
COMMENT = len(MARK) + 64  # bytes
PACKED = (".gz", ".png", ".pdf", ".zip", ".whl")  # already compressed


def write_zip(path: Path, entries: Mapping[str, bytes | Path]) -> str:
    """Write name -> content (or the file that holds it) as a sealed zip, atomically; returns the zip's SHA-256."""
    with atomic_path(path) as temporary:
        with zipfile.ZipFile(temporary, "w") as archive:
            for name in sorted(entries):
                info = zipfile.ZipInfo(name, DATE)
                info.create_system, info.external_attr = 3, 0o100644 << 16
                info.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
                content = entries[name]
                if isinstance(content, Path):
                    info.file_size = content.stat().st_size
                    with open(content, "rb") as source, archive.open(info, "w") as target:
                        while block := source.read(1 << 20):
                            target.write(block)
                else:
                    archive.writestr(info, content)
            archive.comment = b"-" * COMMENT
        with open(temporary, "r+b") as file:
            sealed = _hash(file, temporary.stat().st_size - COMMENT)
            file.write(MARK + sealed.encode())
        with open(temporary, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _hash(file, length: int) -> str:
    """The SHA-256 of the first `length` bytes of an open file; the file's position is then after them."""
    file.seek(0)
    digest = hashlib.sha256()
    while length and (block := file.read(min(length, 1 << 20))):
        digest.update(block)
        length -= len(block)
    return digest.hexdigest()


def _as_written(file, info: zipfile.ZipInfo) -> bool:
    """Whether an entry's header is the one that the zip's directory describes."""
    if max(info.file_size, info.compress_size) > zipfile.ZIP64_LIMIT:
        return info.date_time == DATE  # large entries have another header, which only the seal covers
    try:
        header = info.FileHeader(False)
        file.seek(info.header_offset)
    except (OSError, ValueError, struct.error):
        return False
    return info.date_time == DATE and file.read(len(header)) == header


def damages(path: Path, archive: zipfile.ZipFile, report: Callable[[str], None]) -> None:
    """Call `report` with each header or seal of the zip that is not as `write_zip` wrote it."""
    with open(path, "rb") as file:
        for info in archive.infolist():
            if not _as_written(file, info):
                report(f"zip header of {info.filename}")
        file.seek(0, 2)
        sealed = MARK + _hash(file, file.tell() - COMMENT).encode()
        if file.read() != sealed:
            report(
                "bytes of the zip as a whole: its seal (the SHA-256 of all bytes, in the zip's comment) does not match"
            )
