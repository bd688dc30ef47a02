"""The ledger: the SHA-256 of what jobs wrote below results/, by which a later change or damage is noticed.

The entry of an output lies at results/state/sha256/{its path}, for a folder one entry with all its files: lines as
`sha256sum` writes them and `sha256sum -c` reads them, with paths from the clone's root. What has no entry (results that
are older than this ledger) is taken as it is. The ledger lies inside results/ and goes wherever they go.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.common.digests import files_below, sha256
from scripts.common.errors import UserError

RESULTS = "results"
LEDGER = Path(RESULTS, "state", "sha256")
DIFFERS = "is not what its job wrote (SHA-256 differs)"
MISSING = "is missing, and its job wrote it"
ALIEN = "is in a folder whose job did not write it"
LINE = re.compile(r"(\\?)([0-9a-f]{64})  (.+)")


def name_of(path: Path) -> str | None:
    """A path's name in the ledger; None for what lies outside results/ and for what a job keeps while it lasts."""
    name = os.path.relpath(os.path.abspath(path)).replace(os.sep, "/")
    first, *parts = name.split("/")
    passing = any((one.startswith(".") and one.endswith(".partial")) or one.endswith(".resume") for one in parts)
    return None if first != RESULTS or not parts or parts[0] == "state" or passing else name


def record(path: Path, sums: dict[str, str] | None = None) -> None:
    """Enter an output as it is now, or with the `sums` (path inside, "" for a file -> SHA-256) taken beforehand."""
    if (name := name_of(path)) is None:
        return
    sums = hashes(path) if sums is None else sums
    lines = {f"{name}/{inside}".rstrip("/"): found for inside, found in sums.items()}
    above = _entry_above(name)
    if above:
        lines = {one: found for one, found in (read_entry(above) or {}).items() if not _within(one, name)} | lines
    entry = above or LEDGER / name
    if entry.is_dir():
        shutil.rmtree(entry)
    write_entry(entry, lines)


def hashes(path: Path) -> dict[str, str]:
    """The SHA-256 of a file (under ""), or of each file of a folder by its path inside; hidden files are no output."""
    return {inside: sha256(file) for inside, file in files_below(path).items() if not _hidden(inside)}


def forget(path: Path) -> None:
    """Take an output out of the ledger: nothing is claimed of it any more."""
    if (name := name_of(path)) is None:
        return
    if above := _entry_above(name):
        write_entry(above, {one: found for one, found in (read_entry(above) or {}).items() if not _within(one, name)})
    elif (LEDGER / name).is_dir():
        shutil.rmtree(LEDGER / name)
    else:
        (LEDGER / name).unlink(missing_ok=True)


def recorded(path: Path) -> dict[str, str] | None:
    """File -> SHA-256 as its job wrote it, of a file, a folder or a part of one; None where nothing is recorded."""
    if (name := name_of(path)) is None:
        return None
    if above := _entry_above(name):
        return {one: found for one, found in (read_entry(above) or {}).items() if _within(one, name)} or None
    if (LEDGER / name).is_dir():
        found = {}
        for entry in entries(LEDGER / name):
            found |= read_entry(entry) or {}
        return found or None
    return read_entry(LEDGER / name)


def changed(path: Path) -> list[str]:
    """The files of an output that are missing, differ or were added since its job wrote it, each with what it is."""
    known = recorded(path)
    if known is None:
        return []
    found = {name: said for name, expected in known.items() if (said := verdict(Path(name), expected))}
    if (name := name_of(path)) and (LEDGER / name).is_file():
        there = {f"{name}/{inside}" for inside in files_below(path) if inside and not _hidden(inside)}
        found |= dict.fromkeys(there - set(known), ALIEN)
    return [f"{name}: {found[name]}" for name in sorted(found)]


def verdict(path: Path, expected: str) -> str | None:
    """What is wrong with a recorded file; None where it is as it was."""
    if not path.is_file():
        return MISSING
    return DIFFERS if sha256(path) != expected else None


def check(paths: Iterable[Path]) -> None:
    """Raise UserError for the first of a job's inputs that is not what its own job wrote."""
    for path in paths:
        if found := changed(path):
            more = f" (and {len(found) - 1} more files)" if len(found) > 1 else ""
            it = "it" if found[0].startswith(f"{name_of(path)}: ") else str(path)
            raise UserError(f"{found[0]}{more}; delete {it} and run again, so that it is made anew")


def entries(folder: Path = LEDGER) -> Iterator[Path]:
    """The files of the ledger below a folder of it."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(".partial"))


def _within(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


def _hidden(inside: str) -> bool:
    return any(part.startswith(".") for part in inside.split("/"))


def _entry_above(name: str) -> Path | None:
    """The entry of the folder that a path lies in, if the folder was recorded as a whole."""
    parts = name.split("/")
    return next((one for n in range(2, len(parts)) if (one := LEDGER.joinpath(*parts[:n])).is_file()), None)


def read_entry(entry: Path) -> dict[str, str] | None:
    """What a file of the ledger says: path -> SHA-256; None where it is damaged or not there."""
    try:
        lines = entry.read_bytes().decode(errors="surrogateescape").split("\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    found = [LINE.fullmatch(line) for line in lines[:-1]]
    if lines[-1] or not all(found):
        return None
    return {_plain(name) if escaped else name: digest for escaped, digest, name in (one.groups() for one in found)}


def _plain(name: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], name)


def write_entry(entry: Path, lines: dict[str, str]) -> None:
    """Write a file of the ledger, whole: path -> SHA-256."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    temporary = entry.with_name(f".{entry.name}.partial")
    said = []
    for name, found in sorted(lines.items()):
        escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
        said.append(f"{'' if escaped == name else chr(92)}{found}  {escaped}\n")
    temporary.write_bytes("".join(said).encode(errors="surrogateescape"))
    os.replace(temporary, entry)
