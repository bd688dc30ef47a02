"""What differs between two archives apart from their numbers: configuration, data and models, sources, packages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

from scripts.archive import layout

NONE = "none"


@dataclass(frozen=True)
class Difference:
    """One thing that differs, with its value in A and in B (NONE where it does not exist)."""

    section: str
    what: str
    a: str
    b: str


def flattened(value, key: str = "") -> dict[str, str]:
    """Nested mappings as one, with dots between the keys; anything else as JSON."""
    if isinstance(value, dict) and value:
        return {
            k: v
            for name, part in value.items()
            for k, v in flattened(part, f"{key}.{name}" if key else str(name)).items()
        }
    return {key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)}


def differing(section: str, a: dict[str, str], b: dict[str, str]) -> list[Difference]:
    """The keys whose values are not the same in both."""
    keys = [*a, *(key for key in b if key not in a)]
    return [Difference(section, key, a.get(key, NONE), b.get(key, NONE)) for key in keys if a.get(key) != b.get(key)]


def differences(a: Path, b: Path) -> list[Difference]:
    """Of two unpacked archives."""
    found = differing(
        "configuration", *(flattened(yaml.safe_load((one / layout.RESOLVED).read_text())) for one in (a, b))
    )
    found += differing("data and models", *(flattened(_read(one, layout.IDENTITIES)) for one in (a, b)))
    found += differing("sources", *(_sources(one) for one in (a, b)))
    found += differing("packages", *(_packages(one) for one in (a, b)))
    return found + differing("machine", *(_machines(one) for one in (a, b)))


def _read(folder: Path, name: str):
    return json.loads((folder / name).read_text())


def _sources(folder: Path) -> dict[str, str]:
    files = _read(folder, layout.MANIFEST)["files"]
    commit = {"commit": _read(folder, layout.ORIGIN).get("commit") or NONE}
    listed = {name: entry["sha256"][:12] for name, entry in files.items() if name.startswith(layout.WORKFLOW)}
    return commit | listed


def _packages(folder: Path) -> dict[str, str]:
    environments = _read(folder, layout.PACKAGES)
    return {f"{name}: {key}": value for name, one in environments.items() for key, value in flattened(one).items()}


def _machines(folder: Path) -> dict[str, str]:
    """Which devices, processors and drivers the jobs of each rule met."""
    met: dict[str, set[str]] = {}
    for job in _read(folder, layout.JOBS):
        machine = job["machine"] or {}
        for key, value in {"driver": job["driver"], **{k: machine.get(k) for k in ("device", "processor")}}.items():
            if value:
                met.setdefault(f"{job['rule']}: {key}", set()).add(str(value))
    return {key: ", ".join(sorted(values)) for key, values in met.items()}
