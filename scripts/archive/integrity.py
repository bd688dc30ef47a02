"""Whether every byte of an archive, zipped or unpacked, is as it was written. Needs the standard library only.

Every file is listed with its SHA-256 in manifest.json, and that in manifest.sha256; of a zip, the comment at its end is
the SHA-256 of all bytes before. Whoever changes a file on purpose can renew all three: against that, compare the
archive's own SHA-256, which `make archive` prints and writes beside it, with the one that its author published.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from scripts.archive.layout import FORMAT, MANIFEST, SEAL
from scripts.archive.manifest import seal
from scripts.archive.zipping import damages
from scripts.common.errors import UserError
from scripts.common.files import sha256


@dataclass
class Checked:
    """What was found: the manifest, the archive's own SHA-256 (of a zip), and each damage in words that name a file."""

    manifest: dict
    sha256: str | None
    damages: list[str] = field(default_factory=list)


class Reader:
    """The files of an archive by name. `broken` names what of the zip itself is not as it was written."""

    def __init__(self, path: Path) -> None:
        self.path, self.broken = path, []
        self.zip = zipfile.ZipFile(path) if path.is_file() else None
        if self.zip:
            names = self.zip.namelist()
            self.broken = [
                f"{name}: stands twice in the zip" for name in sorted({n for n in names if names.count(n) > 1})
            ]
            self.names = sorted(set(names))
        else:
            found = [one for one in path.rglob("*") if one.is_symlink() or not one.is_dir()]
            self.names = sorted(one.relative_to(path).as_posix() for one in found)

    def read(self, name: str) -> bytes:
        """A file's content. Raises KeyError where it is missing, ValueError (with the reason) where it is damaged."""
        if self.zip is None:
            path = self.path / name
            if path.is_symlink():
                raise ValueError("is a link, which no archive holds")
            if not path.is_file():
                raise KeyError(name)
            return path.read_bytes()
        try:
            return self.zip.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise ValueError(f"cannot be unpacked: {error}") from None


def opened(path: Path) -> Reader:
    """Raises UserError for what is no archive."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    try:
        return Reader(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise UserError(f"{path}: not an archive: no zip file that can be read ({error})") from None


def check(path: Path) -> Checked:
    """Check all of an archive. Raises UserError where it is none, or one of another version."""
    reader = opened(path)
    manifest, found = _manifest(reader)
    checked = Checked(manifest, sha256(path) if reader.zip else None, [*reader.broken, *found])
    if manifest:
        _files(reader, manifest["files"], checked.damages)
    if reader.zip:
        damages(path, reader.zip, checked.damages.append)
        beside = path.with_name(path.name + ".sha256")
        if beside.is_file() and beside.read_text(errors="replace").split()[:1] != [checked.sha256]:
            checked.damages.append(f"{beside.name}: it says another SHA-256 than the archive has ({checked.sha256})")
    return checked


def _manifest(reader: Reader) -> tuple[dict, list[str]]:
    if MANIFEST not in reader.names and SEAL not in reader.names:
        raise UserError(f"{reader.path}: not an archive of ranktrial: it has no {MANIFEST}")
    read, said = {}, []
    for name in (MANIFEST, SEAL):
        try:
            read[name] = reader.read(name)
        except KeyError:
            said.append(f"{name}: missing")
        except ValueError as error:
            said.append(f"{name}: {error}")
    try:
        manifest = json.loads(read[MANIFEST])
    except (KeyError, ValueError):
        return {}, said or [f"{MANIFEST}: changed, it is no JSON any more"]
    if not said and read[SEAL] != seal(read[MANIFEST]).encode():
        said.append(f"{MANIFEST} or {SEAL}: changed, the second does not state the SHA-256 of the first")
    if manifest.get("format") != FORMAT and not said:
        raise UserError(
            f"{reader.path}: format {manifest.get('format')!r}; this version reads {FORMAT!r}: use its own verify.py"
        )
    return manifest, said


def _files(reader: Reader, files: dict[str, dict], said: list[str]) -> None:
    listed = {*files, MANIFEST, SEAL}
    said += [f"{name}: not in the manifest" for name in reader.names if name not in listed]
    for name, entry in files.items():
        try:
            content = reader.read(name)
        except KeyError:
            said.append(f"{name}: missing")
        except ValueError as error:
            said.append(f"{name}: {error}")
        else:
            if hashlib.sha256(content).hexdigest() != entry["sha256"]:
                said.append(f"{name}: changed, SHA-256 differs from the manifest's")
