"""The ledger: the SHA-256 of what jobs wrote below results/, by which later changes and damage are noticed.

The entry of an output is results/state/sha256/{its path}; a folder has one entry for all its files. Its lines have the
format of `sha256sum`, which `sha256sum -c` checks, with paths from the clone's root. Outputs without an entry are not
checked; `make check-results` counts them. The ledger is inside results/, so that it is copied and moved with them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ranktrial.common.digests import files_below, sha256
from ranktrial.common.errors import UserError

RESULTS = "results"
LEDGER = Path(RESULTS, "state", "sha256")
DIFFERS = "is not what its job wrote (SHA-256 differs)"
MISSING = "is missing, and its job wrote it"
ALIEN = "is in a folder whose job did not write it"
LINE = re.compile(r"(\\?)([0-9a-f]{64})  (.+)")


def name_of(path: Path) -> str | None:
    """A path's name in the ledger; None for paths outside results/ and for the temporary files of a running job."""
    name = os.path.relpath(os.path.abspath(path)).replace(os.sep, "/")
    first, *parts = name.split("/")
    if first != RESULTS or not parts or parts[0] == "state":
        return None
    temporary = any((part.startswith(".") and part.endswith(".partial")) or part.endswith(".resume") for part in parts)
    return None if temporary else name


def record(path: Path, sums: dict[str, str] | None = None) -> None:
    """Enter an output as it is now, or with the given `sums`: path inside ("" for a file) -> SHA-256."""
    if (name := name_of(path)) is None:
        return
    sums = hashes(path) if sums is None else sums
    lines = {f"{name}/{inside}".rstrip("/"): digest for inside, digest in sums.items()}
    above = _entry_above(name)
    if above:
        lines = {file: digest for file, digest in (read_entry(above) or {}).items() if not _within(file, name)} | lines
    entry = above or LEDGER / name
    if entry.is_dir():
        shutil.rmtree(entry)
    write_entry(entry, lines)


def hashes(path: Path) -> dict[str, str]:
    """The SHA-256 of a file (under ""), or of each file of a folder by its path inside. Hidden files are left out."""
    return {inside: sha256(file) for inside, file in files_below(path).items() if not _hidden(inside)}


def forget(path: Path) -> None:
    """Remove an output from the ledger, so that it is no longer checked."""
    if (name := name_of(path)) is None:
        return
    if above := _entry_above(name):
        entry = read_entry(above) or {}
        write_entry(above, {file: digest for file, digest in entry.items() if not _within(file, name)})
    elif (LEDGER / name).is_dir():
        shutil.rmtree(LEDGER / name)
    else:
        (LEDGER / name).unlink(missing_ok=True)


def recorded(path: Path) -> dict[str, str] | None:
    """Path -> SHA-256 as recorded, for a file, a folder or a part of one; None if nothing is recorded."""
    if (name := name_of(path)) is None:
        return None
    if above := _entry_above(name):
        return {file: digest for file, digest in (read_entry(above) or {}).items() if _within(file, name)} or None
    if (LEDGER / name).is_dir():
        sums = {}
        for entry in entries(LEDGER / name):
            sums |= read_entry(entry) or {}
        return sums or None
    return read_entry(LEDGER / name)


def changed(path: Path) -> list[str]:
    """`path: problem` for each file of an output that is missing, differs or was added since its job wrote it."""
    expected = recorded(path)
    if expected is None:
        return []
    problems = {name: problem for name, digest in expected.items() if (problem := verdict(Path(name), digest))}
    if (name := name_of(path)) and (LEDGER / name).is_file():
        present = {f"{name}/{inside}" for inside in files_below(path) if inside and not _hidden(inside)}
        problems |= dict.fromkeys(present - set(expected), ALIEN)
    return [f"{name}: {problems[name]}" for name in sorted(problems)]


def verdict(path: Path, expected: str) -> str | None:
    """What is wrong with a recorded file; None if it has the expected SHA-256."""
    if not path.is_file():
        return MISSING
    return DIFFERS if sha256(path) != expected else None


def check(paths: Iterable[Path]) -> None:
    """Raise UserError for the first of a job's inputs that differs from what the job that made it wrote."""
    for path in paths:
        if changes := changed(path):
            more = f" (and {len(changes) - 1} more files)" if len(changes) > 1 else ""
            target = "it" if changes[0].startswith(f"{name_of(path)}: ") else str(path)
            raise UserError(f"{changes[0]}{more}; delete {target} and run again, so that it is made anew")


def entries(folder: Path = LEDGER) -> Iterator[Path]:
    """The files of the ledger below a folder of it."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(".partial"))


def _within(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


def _hidden(inside: str) -> bool:
    return any(part.startswith(".") for part in inside.split("/"))


def _entry_above(name: str) -> Path | None:
    """The entry of the folder that contains a path, if the folder was recorded as a whole."""
    parts = name.split("/")
    return next((entry for n in range(2, len(parts)) if (entry := LEDGER.joinpath(*parts[:n])).is_file()), None)


def read_entry(entry: Path) -> dict[str, str] | None:
    """The content of an entry: path -> SHA-256; None if the entry is damaged or missing."""
    try:
        lines = entry.read_bytes().decode(errors="surrogateescape").split("\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    matches = [LINE.fullmatch(line) for line in lines[:-1]]
    if lines[-1] or not all(matches):
        return None
    fields = (match.groups() for match in matches)
    return {_unescaped(name) if escaped else name: digest for escaped, digest, name in fields}


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], name)


def write_entry(entry: Path, digests: dict[str, str]) -> None:
    """Write an entry atomically: path -> SHA-256. As in `sha256sum`, a leading backslash marks an escaped name."""
    lines = []
    for name, digest in sorted(digests.items()):
        escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
        mark = "" if escaped == name else "\\"
        lines.append(f"{mark}{digest}  {escaped}\n")
    write_whole(entry, "".join(lines).encode(errors="surrogateescape"))


# For small files that are not outputs of jobs, as are the entries; for those, see files.atomic_path.
@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, of this process alone. Once the block succeeds, it replaces `path`.

    Its name is short, since that of `path` may already have the maximum length of the file system.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    temporary = path.with_name(f".{name}.{os.getpid()}.partial")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, so that no other process sees half of it."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
