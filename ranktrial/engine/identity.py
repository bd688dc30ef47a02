"""What a job gets is part of its identity: its inputs in their order and by their names, and the user's own bytes.

Snakemake compares the inputs of a job as a set, and leaves parameters that depend on them out of its comparison. So two
systems of a comparison that change places, or tasks in another order, look like no change; and of files of the user's
own it compares dates first. Here each job of this repository's rules has one more recorded parameter, the digest of its
inputs in their order and by their names; and its settings contain, by path, the SHA-256 of each file or folder of the
user's own among its inputs (`sha256_of`), which the job itself checks too (see ranktrial/common/input_digests.py). It
is done for all rules at once, after the last is read, so that no rule can leave it out. Reads the user's own data
through own_data.py, writes nothing.

`expand_params` is not documented for this use: tests/engine/test_snakemake_inside.py fails if a new version changes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ranktrial.engine.job_settings import settings

SETTINGS, OWN = "settings", "sha256_of"


class OwnPlaces:
    """The SHA-256 of the user's own files among inputs of jobs; a file in a declared folder counts as the folder."""

    def __init__(self, declared: Iterable[str], sha256: Callable[[str], str | None], ours: tuple[str, ...]) -> None:
        """`ours` are the folders whose files are not the user's own: results/ and the workflow's code."""
        self.declared, self.sha256, self.ours = frozenset(declared), sha256, ours
        self.known: dict[str, str | None] = {}  # path of an input -> its place; None if it is not the user's own

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Place -> SHA-256, for the places of the user's own that these inputs are or lie in."""
        places = dict.fromkeys(filter(None, map(self._place, paths)))
        return {place: sha256 for place in places if (sha256 := self.sha256(place))}

    def _place(self, path: str) -> str | None:
        if path not in self.known:
            around = (path, *map(str, Path(path).parents))
            declared = next((place for place in around if place in self.declared), path)
            self.known[path] = None if path.startswith(self.ours) else declared
        return self.known[path]


def identify(rules: Iterable[Any], repository: Path, places: OwnPlaces) -> None:
    """Let the jobs of this repository's rules be known by their ordered inputs and by the user's own data."""
    for rule in rules:
        if Path(rule.snakefile).resolve().is_relative_to(repository):
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
