"""What a job gets is part of its identity: its inputs in their order and by their names, and the user's own bytes.

Snakemake compares the inputs of a job as a set, and leaves parameters that depend on them out of its comparison. So two
systems of a comparison that change places, or tasks in another order, look like no change; and of files of the user's
own it compares dates first. Here each job of this repository's rules has one more recorded parameter, the digest of its
inputs in their order and by their names; and its settings contain, by path, the SHA-256 of each file or folder of the
user's own among its inputs (`sha256_of`), which the job itself checks too (see ranktrial/common/digests.py). It
is done for all rules at once, after the last is read, so that no rule can leave it out.

The SHA-256 of own data is kept in results/state/own-data/ as long as size, date and inode of each file stay the same.
So a change makes jobs run again whatever the dates, also if it was made during a run. When a cluster's job plans again,
it takes the values with which the run began, which are stored there as well.

`expand_params` is not documented for this use: tests/engine/test_snakemake_inside.py fails if a new version changes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ranktrial.common.digests import content_sha256, files_below
from ranktrial.common.ledger import write_whole
from ranktrial.common.strict_json import plain_json
from ranktrial.engine.rule_helpers import settings

SETTINGS, OWN = "settings", "sha256_of"
SETTLED = 2 * 10**9  # nanoseconds: a file changed more recently may change again unnoticed
LARGE = 10**9  # bytes above which reading takes long enough to be reported


class OwnPlaces:
    """The SHA-256 of the user's own files among inputs of jobs; a file in a declared folder counts as the folder.

    `results` is the folder of this experiment: what else is below results/, other than downloads, is the user's own.
    """

    def __init__(self, declared: Iterable[str], sha256: Callable[[str], str | None], results: str) -> None:
        self.declared, self.sha256 = frozenset(declared), sha256
        self.made = ("results/downloads/", f"{results}/")
        self.known: dict[str, str | None] = {}  # path of an input -> its place; None if it is not the user's own

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Place -> SHA-256, for the places of the user's own that these inputs are or lie in."""
        places = dict.fromkeys(filter(None, map(self._place, paths)))
        return {place: sha256 for place in places if (sha256 := self.sha256(place))}

    def _place(self, path: str) -> str | None:
        if path not in self.known:
            around = (path, *map(str, Path(path).parents))
            declared = next((place for place in around if place in self.declared), path)
            self.known[path] = None if path.startswith(self.made) else declared
        return self.known[path]


def identify(rules: Iterable[Any], places: OwnPlaces) -> None:
    """Let the jobs of these rules be known by their ordered inputs and by the user's own data."""
    for rule in rules:
        rule.expand_params = _identified(rule.expand_params, places)


def _identified(expand: Callable[..., tuple[Any, list]], places: OwnPlaces) -> Callable[..., tuple[Any, list]]:
    def expand_params(wildcards: Any, input: Any, *arguments: Any, **keywords: Any) -> tuple[Any, list]:
        params, compared = expand(wildcards, input, *arguments, **keywords)
        if own := places.digests(map(str, input)):
            before = params.get(SETTINGS, "{}")
            after = settings(**json.loads(before), **{OWN: own})
            if SETTINGS in params._names:
                _replace(params, after)
            compared = [after if value is before or value == before else value for value in compared]
        return params, [*compared, in_order(input)] if len(input) else compared

    return expand_params


def _replace(params: Any, after: str) -> None:
    """Give the settings among a job's parameters another text, by position and by name."""
    position, _ = params._names[SETTINGS]
    params[position] = after
    params._set_name(SETTINGS, position)


def in_order(inputs: Any) -> str:
    """The digest of a job's inputs in their order and by their names."""
    text = json.dumps(list(_named(inputs)), ensure_ascii=False)
    return f"inputs in order: {hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()}"


def _named(inputs: Any) -> Iterator[tuple[str, list[str]]]:
    yield "", list(map(str, inputs))
    for name, files in inputs.items():
        yield name, [str(files)] if isinstance(files, str) else list(map(str, files))


class OwnData:
    """The SHA-256 of files and folders. `folder` stores them; `job` is the run's name if this is one of its jobs."""

    def __init__(self, folder: Path, run: str, job: bool = False) -> None:
        self.known_file, self.run_file = folder / "known.json", folder / f"{run}.run.json"
        self.known = _read(self.known_file)
        begun = _read(self.run_file) if job else {}
        self.digests = {path: sha256 for path, sha256 in begun.items() if isinstance(sha256, str)}

    def sha256(self, path: str) -> str | None:
        """The SHA-256 of the content at `path`; None if it cannot be read, which the job will report."""
        if path not in self.digests:
            try:
                self.digests[path] = self._now(path)
            except OSError:
                return None
        return self.digests[path]

    def begin_run(self, paths: Iterable[str]) -> None:
        """Store the values with which the run begins, for its jobs on any node."""
        for path in paths:
            self.sha256(path)
        try:
            _write(self.run_file, self.digests)
        except OSError as error:
            sys.exit(f"error: {self.run_file}: cannot be written: {error.strerror}")

    def _now(self, path: str) -> str:
        files = files_below(Path(path))
        states = {name: os.stat(file) for name, file in files.items()}
        signature = _signature(states)
        known = self.known.get(path)
        if isinstance(known, dict) and known.get("seen") == signature and isinstance(known.get("sha256"), str):
            return known["sha256"]
        size = sum(state.st_size for state in states.values())
        if size > LARGE:
            print(f"{path}: {size / 1e9:.1f} GB are read once for their SHA-256", file=sys.stderr, flush=True)
        started = time.time_ns()
        sha256 = content_sha256(Path(path))
        if all(state.st_ctime_ns < started - SETTLED for state in states.values()):
            self.known[path] = {"seen": signature, "sha256": sha256}
            with suppress(OSError):  # then it is read again
                _write(self.known_file, self.known)
        return sha256


def _signature(states: dict[str, os.stat_result]) -> str:
    """A signature that changes when a file is written to, since its ctime cannot be set back."""
    lines = [f"{s.st_size} {s.st_mtime_ns} {s.st_ctime_ns} {s.st_ino} {name}\n" for name, s in states.items()]
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def _read(path: Path) -> dict:
    try:
        content = plain_json(path.read_text())
    except (OSError, ValueError):
        return {}  # only a shortcut is lost
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict) -> None:
    write_whole(path, json.dumps(content, indent=1, sort_keys=True).encode())
