"""Copies an archive's files into a fresh folder, whether it is zipped or unpacked; no path leaves the folder."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from ranktrial.archive.checking.integrity import opened
from ranktrial.archive.crate.layout import MANIFEST, SEAL
from ranktrial.common.errors import UserError
from ranktrial.common.paths import below


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
