"""The differences between two archives apart from their numbers: configuration, data, models, sources, packages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ranktrial.archive.checking.expected import read_configuration
from ranktrial.archive.crate import layout
from ranktrial.archive.crate.shapes import read_record
from ranktrial.common.errors import UserError
from ranktrial.common.strict_json import read_json

NONE = "none"
MOST = 200_000  # values of a record, with aliases expanded


@dataclass(frozen=True)
class Difference:
    """One value that differs, in A and in B (NONE if it does not exist there)."""

    section: str
    what: str
    a: str
    b: str


def flattened(value) -> dict[str, str]:
    """Nested mappings as one, with keys joined by dots; other values as JSON. Raises UserError above MOST values."""
    values: dict[str, str] = {}
    waiting = [("", value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict) and part:
            waiting += [(f"{key}.{name}" if key else str(name), inner) for name, inner in reversed(part.items())]
        else:
            values[key] = part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=str)
        if len(values) + len(waiting) > MOST:
            raise UserError(f"{key.partition('.')[0]}: contains more than {MOST} values")
    return values


def differing(section: str, a: dict[str, str], b: dict[str, str]) -> list[Difference]:
    """The keys whose values differ between `a` and `b`."""
    keys = [*a, *(key for key in b if key not in a)]
    return [Difference(section, key, a.get(key, NONE), b.get(key, NONE)) for key in keys if a.get(key) != b.get(key)]


def differences(a: Path, b: Path) -> list[Difference]:
    """All differences between two unpacked archives. Raises UserError for records that cannot be read."""
    result = differing("configuration", *(flattened(read_configuration(folder, layout.RESOLVED)) for folder in (a, b)))
    result += differing("data and models", *(flattened(read_record(folder, layout.IDENTITIES)) for folder in (a, b)))
    result += differing("sources", *(_sources(folder) for folder in (a, b)))
    result += differing("packages", *(_packages(folder) for folder in (a, b)))
    return result + differing("machine", *(_machines(folder) for folder in (a, b)))


def _sources(folder: Path) -> dict[str, str]:
    files = read_json(folder / layout.MANIFEST)["files"]
    commit = {"commit": read_record(folder, layout.ORIGIN)["commit"] or NONE}
    listed = {name: entry["sha256"][:12] for name, entry in files.items() if name.startswith(layout.WORKFLOW)}
    return commit | listed


def _packages(folder: Path) -> dict[str, str]:
    environments = read_record(folder, layout.PACKAGES)
    return {
        f"{name}: {key}": value
        for name, environment in environments.items()
        for key, value in flattened(environment).items()
    }


def _machines(folder: Path) -> dict[str, str]:
    """`rule: driver`, `rule: device` and `rule: processor` -> the values of all jobs of the rule."""
    machines: dict[str, set[str]] = {}
    for job in read_record(folder, layout.JOBS):
        machine = job["machine"] or {}
        for key, value in {"driver": job["driver"], **{k: machine.get(k) for k in ("device", "processor")}}.items():
            if value:
                machines.setdefault(f"{job['rule']}: {key}", set()).add(str(value))
    return {key: ", ".join(sorted(values)) for key, values in machines.items()}
