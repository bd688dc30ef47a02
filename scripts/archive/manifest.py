"""The manifest: the SHA-256 of every file in an archive, and of those that were left out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from scripts.archive.layout import FORMAT, MANIFEST, SEAL, kind_of
from scripts.common.files import sha256


def manifest(files: Mapping[str, bytes | Path], absent: dict[str, dict], rewritten: set[str], experiment: str) -> dict:
    """The content of manifest.json; it does not list itself and its seal. `rewritten` files had folders taken out."""
    listed = {name: _entry(files[name], name, experiment) for name in sorted({*files} - {MANIFEST, SEAL})}
    return {
        "format": FORMAT,
        "experiment": experiment,
        "files": listed,
        "rewritten": sorted(rewritten),
        "absent": {name: absent[name] for name in sorted(absent)},
    }


def _entry(content: bytes | Path, name: str, experiment: str) -> dict:
    if isinstance(content, Path):
        found, size = sha256(content), content.stat().st_size
    else:
        found, size = hashlib.sha256(content).hexdigest(), len(content)
    return {"sha256": found, "bytes": size, "kind": kind_of(name, experiment)}


def seal(content: bytes) -> str:
    """The content of manifest.sha256, in the format of sha256sum."""
    return f"{hashlib.sha256(content).hexdigest()}  {MANIFEST}\n"
