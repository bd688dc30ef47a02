"""The manifest: the SHA-256 of every file in an archive, and of those that were left out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ranktrial.archive.crate.layout import FORMAT, MANIFEST, SEAL, kind_of
from ranktrial.archive.crate.shapes import MANIFEST as SHAPE
from ranktrial.archive.crate.shapes import check_shape
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.experiment.results_paths import HEAVY


def manifest(
    files: Mapping[str, bytes | Path], absent: dict[str, dict], rewritten: dict[str, str], experiment: str
) -> dict:
    """The content of manifest.json; it does not list itself and its seal.

    From `rewritten` files, folders or secrets were removed; these also state the SHA-256 of what their job wrote.
    """
    listed = {name: _entry(files[name], name, experiment) for name in sorted({*files} - {MANIFEST, SEAL})}
    for name, written in rewritten.items():
        listed[name]["written"] = written
    return {
        "format": FORMAT,
        "experiment": experiment,
        "files": listed,
        "rewritten": sorted(rewritten),
        "absent": {name: absent[name] for name in sorted(absent)},
    }


def shaped(manifest: dict, where: str) -> dict:
    """The manifest itself, checked. Raises UserError if it does not have a manifest's shape or contradicts itself."""
    check_shape(manifest, SHAPE, where)
    for section in ("files", "absent"):
        for name, entry in manifest[section].items():
            kind = kind_of(name, manifest["experiment"])
            if entry["kind"] != kind:
                raise UserError(f"{where}: {section}: {name!r} is called {entry['kind']!r}; its path says {kind!r}")
            if section == "absent" and kind not in HEAVY:
                raise UserError(f"{where}: absent: {name!r} is left out, but no archive leaves out the kind {kind!r}")
    if in_both := manifest["files"].keys() & manifest["absent"].keys():
        raise UserError(f"{where}: {min(in_both)!r} is among the files and among those that were left out")
    return manifest


def _entry(content: bytes | Path, name: str, experiment: str) -> dict:
    if isinstance(content, Path):
        digest, size = sha256(content), content.stat().st_size
    else:
        digest, size = hashlib.sha256(content).hexdigest(), len(content)
    return {"sha256": digest, "bytes": size, "kind": kind_of(name, experiment)}


def seal(content: bytes) -> str:
    """The content of manifest.sha256, in the format of sha256sum."""
    return f"{hashlib.sha256(content).hexdigest()}  {MANIFEST}\n"
