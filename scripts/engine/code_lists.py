"""The modules behind a job's script as one input in place of some thirty: a list with the SHA-256 of each.

Snakemake expands and looks up each input of each job. A list lies at results/state/code/{SHA-256}/modules.sha256;
its lines are those of `sha256sum`, which `sha256sum -c` checks in the repository's root. The name follows from what the
modules hold, whatever their dates, so an edited module gives its jobs another input. A list is written while the
Snakefile is read, in dry runs and on the nodes of a cluster too, where it is missing, and is never changed. Each has a
folder of its own, as Snakemake does not look again into a folder that it has listed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from scripts.common.digests import sha256
from scripts.common.errors import UserError
from scripts.engine.imports import ROOT
from scripts.engine.job_records import noted, read_record

FOLDER = "results/state/code"
PLACE = re.compile(rf"{FOLDER}/([0-9a-f]{{64}})/modules\.sha256")
LINE = re.compile(r"([0-9a-f]{64})  (scripts/[\w/]+\.py)")
OF_A_SCRIPT = 2  # times that a record has the name of a script in quotes: among the inputs and the checksums
SCRIPT = re.compile(r"(.*)scripts/\w+/[\w/]+\.py", re.DOTALL)


def listed(modules: Iterable[str]) -> str:
    """The path of the list of these modules as they are now, which is written if it is not there.

    Raises UserError where that cannot be done.
    """
    try:
        return _kept({module: _sha256(module) for module in modules})
    except OSError as error:
        raise UserError(f"{error.filename or FOLDER}: {error.strerror}") from None


def read_list(path: str) -> dict[str, str] | None:
    """Module -> SHA-256; None where the path is that of no list, or the list is missing or damaged."""
    named = PLACE.fullmatch(path)
    try:
        content = Path(path).read_bytes() if named else b""
    except OSError:
        return None
    if not named or hashlib.sha256(content).hexdigest() != named[1]:
        return None
    lines = [LINE.fullmatch(line) for line in content.decode().splitlines()]
    return {line[2]: line[1] for line in lines if line}


def with_modules(record: dict) -> dict:
    """Snakemake's record of a job with the modules, and the SHA-256 of each, in the place of their list.

    A list that cannot be read stays, so that it is missed as any other file that a job read.
    """
    for path in record["input"] or []:
        if (modules := read_list(path)) is not None:
            checksums = {name: f"sha256:{digest}" for name, digest in modules.items()}
            return _exchanged(record, {path}, list(modules), checksums)
    return record


def with_list(record: dict) -> dict | None:
    """A record that names each module, as those of archives and of older versions do, with the list in their place.

    So their results stay as they are. None for any other record. The list is written. Raises OSError.
    """
    script = _script(record)
    if script is None or any(PLACE.fullmatch(path) for path in record["input"]):
        return None
    before = f"{script[1]}scripts/"  # that of a clone, as a module of another workflow is named
    named = {path for path in record["input"] if path.startswith(before) and path.endswith(".py")} - {script[0]}
    digests = {path: record["input_checksums"].get(path, "").removeprefix("sha256:") for path in named}
    modules = {path.removeprefix(script[1]): digest for path, digest in digests.items()}
    if not all(LINE.fullmatch(f"{digest}  {module}") for module, digest in modules.items()):
        return None
    place = _kept(modules)
    return _exchanged(record, named, [place], {place: f"sha256:{PLACE.fullmatch(place)[1]}"})  # type: ignore[index]


def fold_modules(metadata: Path) -> None:
    """Give every record in a folder that names each module the list in their place.

    Raises UserError where a record cannot be written.
    """
    for _, path in noted(metadata):
        try:
            record = read_record(path) if path.read_bytes().count(b'.py"') > OF_A_SCRIPT else None
            if record and (folded := with_list(record)):
                write_whole(path, json.dumps(folded).encode())
        except OSError as error:
            raise UserError(f"{error.filename or path}: cannot be written: {error.strerror}") from None


def _script(record: dict) -> re.Match[str] | None:
    """The script that a job ran, where it is among its inputs; group 1 is what comes before scripts/."""
    try:
        words = shlex.split(record["shellcmd"] or "")
    except ValueError:
        return None
    script = words[1] if len(words) > 1 and words[0] == "python" else ""
    return SCRIPT.fullmatch(script) if script in record["input"] else None


def _exchanged(record: dict, gone: set[str], paths: list[str], checksums: dict[str, str]) -> dict:
    kept = {path: checksum for path, checksum in (record["input_checksums"] or {}).items() if path not in gone}
    inputs = sorted([*(path for path in record["input"] if path not in gone), *paths])
    return record | {"input": inputs, "input_checksums": kept | checksums}


def _kept(digests: Mapping[str, str]) -> str:
    """The path of a list, which is written if it is not there."""
    content = "".join(f"{digest}  {module}\n" for module, digest in sorted(digests.items())).encode()
    path = f"{FOLDER}/{hashlib.sha256(content).hexdigest()}/modules.sha256"
    if not _holds(path, content):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_whole(Path(path), content)
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step, beside which no other process sees half of it."""
    temporary = path.with_name(f".{hashlib.sha256(path.name.encode()).hexdigest()[:12]}.{os.getpid()}.partial")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _holds(path: str, content: bytes) -> bool:
    try:
        return Path(path).read_bytes() == content
    except FileNotFoundError:
        return False


@cache
def _sha256(module: str) -> str:
    return sha256(ROOT / module)
