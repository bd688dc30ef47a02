"""Checks that every byte of an archive, zipped or unpacked, is as it was written. Needs only the standard library.

manifest.json lists every file with its SHA-256, and manifest.sha256 holds the SHA-256 of manifest.json. The comment at
the end of a zip is the SHA-256 of all bytes before it. Whoever changes a file on purpose can renew all three. To notice
that, compare the archive's own SHA-256, which `make archive` prints and writes beside it, with the published one.

An archive is unpacked only into a fresh folder, which no path leaves.

The bytes of a zip depend only on its content: entries are sorted and have one fixed date.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ranktrial.archive.layout import (
    BLOCK,
    FORMAT,
    MANIFEST,
    RECORD,
    SEAL,
    WORKFLOW,
    check_members,
    check_values,
    ends,
    seal,
    shaped,
    why_no_member,
)
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_path, sha256
from ranktrial.common.paths import below
from ranktrial.common.strict_json import parse_json

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


DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


@dataclass
class Checked:
    """The result of a check: the manifest, the SHA-256 of a zip, and a message `file: damage` for each damage."""

    manifest: dict
    sha256: str | None
    damages: list[str] = field(default_factory=list)


class Reader:
    """The files of an archive by name, read block by block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_file():
            ends(path)
            self.zip = zipfile.ZipFile(path)
            check_members(path, self.zip)
            self.names = sorted(self.zip.namelist())
        else:
            self.zip = None
            entries = [entry for entry in path.rglob("*") if entry.is_symlink() or not entry.is_dir()]
            self.names = sorted(entry.relative_to(path).as_posix() for entry in entries)

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield a file's content. Raises KeyError if it is missing, ValueError (with the reason) if it is damaged."""
        if self.zip:
            member = self.zip.getinfo(name)
            try:
                with self.zip.open(member) as file:
                    while block := file.read(BLOCK):
                        yield block
            except DAMAGED as error:
                raise ValueError(f"cannot be unpacked: {error}") from None
            return
        path = self.path / name
        if path.is_symlink():
            raise ValueError("is a link, which no archive holds")
        if not path.exists():
            raise KeyError(name)
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError("is not a regular file")
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                yield block

    def read(self, name: str) -> bytes:
        """The content of a record. Raises as `blocks` does, and ValueError if it is too large for a record."""
        blocks, size = [], 0
        for block in self.blocks(name):
            blocks.append(block)
            size += len(block)
            if size > RECORD:
                raise ValueError(f"is larger than {RECORD} bytes, too much for a record")
        return b"".join(blocks)


def opened(path: Path) -> Reader:
    """A reader of an archive. Raises UserError if `path` is not an archive, or a zip beyond the limits."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    if not path.is_file() and not path.is_dir():
        raise UserError(f"{path}: not an archive: neither a file nor a folder")
    try:
        return Reader(path)
    except DAMAGED as error:
        raise UserError(f"{path}: not an archive: not a readable zip file ({error})") from None


def check(path: Path) -> Checked:
    """Check all of an archive. Raises UserError if it is not an archive, or has the format of another version."""
    reader = opened(path)
    manifest, damages_of_manifest = _manifest(reader)
    checked = Checked(manifest, sha256(path) if reader.zip else None, damages_of_manifest)
    if manifest:
        _files(reader, manifest, checked.damages)
    if reader.zip:
        damages(path, reader.zip, checked.damages.append)
        beside = path.with_name(path.name + ".sha256")
        if beside.is_file() and _first_word(beside) != checked.sha256:
            checked.damages.append(f"{beside.name}: contains a SHA-256 other than the archive's ({checked.sha256})")
    checked.damages.sort(key=lambda damage: not damage.endswith(": missing"))  # what is missing explains most others
    return checked


def _first_word(path: Path) -> str:
    with open(path, "rb") as file:
        return file.read(200).decode(errors="replace").partition(" ")[0].strip()


def _manifest(reader: Reader) -> tuple[dict, list[str]]:
    """The manifest (empty if it cannot be read) and its damages. Raises UserError as `check` does."""
    if MANIFEST not in reader.names and SEAL not in reader.names:
        raise UserError(f"{reader.path}: not an archive of ranktrial: it has no {MANIFEST}")
    read, problems = {}, []
    for name in (MANIFEST, SEAL):
        try:
            read[name] = reader.read(name)
        except KeyError:
            problems.append(f"{name}: missing")
        except ValueError as error:
            problems.append(f"{name}: {error}")
    if problems:
        return {}, problems
    if read[SEAL] != seal(read[MANIFEST]).encode():
        return {}, [f"{MANIFEST} or {SEAL}: changed, the second does not state the SHA-256 of the first"]
    try:
        check_values(read[MANIFEST], MANIFEST)
        manifest = parse_json(read[MANIFEST].decode(), MANIFEST)
    except (UserError, UnicodeDecodeError) as error:
        raise UserError(f"{reader.path}: not an archive that can be read: {error}") from None
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != FORMAT:
        raise UserError(
            f"{reader.path}: format {version!r}; this version reads {FORMAT!r}: use the ranktrial in its {WORKFLOW}"
        )
    return shaped(manifest, f"{reader.path}: {MANIFEST}"), problems


def _files(reader: Reader, manifest: dict, problems: list[str]) -> None:
    files, experiment = manifest["files"], manifest["experiment"]
    listed = {*files, MANIFEST, SEAL}
    problems += [f"{name}: not in the manifest" for name in reader.names if name not in listed]
    for name in [*files, *manifest["absent"]]:
        if reason := why_no_member(name, experiment):
            raise UserError(f"{reader.path}: {MANIFEST}: refused, the path {name!r} {reason}")
    for name, entry in files.items():
        digest, size = hashlib.sha256(), 0
        try:
            for block in reader.blocks(name):
                digest.update(block)
                size += len(block)
        except KeyError:
            problems.append(f"{name}: missing")
        except ValueError as error:
            problems.append(f"{name}: {error}")
        else:
            if digest.hexdigest() != entry["sha256"]:
                problems.append(f"{name}: changed, SHA-256 differs from the manifest's")
            elif size != entry["bytes"]:
                problems.append(f"{name}: has {size} bytes; the manifest says {entry['bytes']}")


def unpack(archive: Path, folder: Path, manifest: dict) -> None:
    """Copy the files of a checked archive into the empty folder `folder`.

    Raises UserError for a file that would land outside, or that no longer has the manifest's SHA-256.
    """
    reader = opened(archive)
    folder.mkdir(parents=True, exist_ok=True)
    stated_bytes = sum(entry["bytes"] for entry in manifest["files"].values())
    free = shutil.disk_usage(folder).free
    if stated_bytes > free:
        raise UserError(f"{archive}: refused, it unpacks to {stated_bytes} bytes; {folder} has {free} left")
    for name in [*manifest["files"], MANIFEST, SEAL]:
        target = below(folder, name, str(archive))
        digest = hashlib.sha256()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as file:
                for block in reader.blocks(name):
                    digest.update(block)
                    file.write(block)
        except (FileExistsError, NotADirectoryError):
            raise UserError(f"{archive}: refused, two of its files have the place of {name!r}") from None
        except (KeyError, ValueError) as error:
            raise UserError(f"{archive}: {name}: {error}") from None
        if name in manifest["files"] and digest.hexdigest() != manifest["files"][name]["sha256"]:
            raise UserError(f"{archive}: {name}: changed while it was read")
