"""Downloads: the names under which all experiments of a clone share them, and when one is fetched anew.

What is fetched (a location, its SHA-256, files or revision) decides the name and whether it is fetched again; how (from
which mirror, as whom, by which code) never does. So an experiment leaves finished what another one made of the same
file, and two that want different files at one place have each its own.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.locations import is_remote, key
from scripts.engine.job_records import FETCHING

FOLDER = "results/downloads"
HOW = "RANKTRIAL_FETCH"  # the environment variable by which a job of fetching is told mirrors and addresses
LONGEST = 200  # bytes; the name of a log and of the temporary folder are longer


def sources(datasets: dict[str, dict], models: dict[str, dict], source: str) -> dict[tuple[str, str | None], dict]:
    """(Location, a model's revision or None) -> what is fetched, for each that does not lie in a path here.

    Raises UserError, which begins with `source`, where two want different files at one location.
    """
    found: dict[tuple[str, str | None], dict] = {}
    for name, dataset in datasets.items():
        location = dataset["location"]
        if is_remote(location) or not Path(location).exists():
            wanted = {"location": key(location)} | {k: dataset[k] for k in ("sha256", "files") if k in dataset}
            if found.setdefault((location, None), wanted) != wanted:
                raise UserError(f"{source}: datasets.{name}.sha256: another than for the same location above")
    for model in models.values():
        location, revision = model["weights"], model["revision"]
        if is_remote(location):
            found.setdefault((location, None), {"location": key(location)})
        elif not Path(location).exists():
            found[location, revision] = {"location": location, "revision": revision}
    return found


def plain_name(location: str) -> str:
    """The name of the download of a location (its key), unless another file has it already."""
    name = re.sub(r"[^A-Za-z0-9._=-]+", "-", location)
    return name if 0 < len(name) <= LONGEST and name not in (".", "..") else f"{name[:150]}-{digest(location)}"


def digest(wanted) -> str:
    return sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:12]


def wanted_by(record: dict) -> dict | None:
    """What the record of a download says was fetched; None for the record of anything else."""
    try:
        (params,) = record["params"]
        found = json.loads(ast.literal_eval(params))
        ours = record["rule"] in FETCHING
        return {name: value for name, value in found.items() if name != "mirrors"} if ours else None
    except (KeyError, TypeError, ValueError, SyntaxError, AttributeError):
        return None


def _records(metadata: Path) -> Iterator[tuple[Path, str, dict]]:
    """Each record of a download: its file, the download's name and what it says. What is no record is passed over."""
    start = base64.urlsafe_b64encode(f"{FOLDER}/".encode()).decode()  # of whole groups of three bytes, so a prefix
    for path in sorted([*metadata.glob(f"{start}*"), *metadata.glob(f"@{start}*/**/*")]):
        try:
            encoded = "".join(part.removeprefix("@") for part in path.relative_to(metadata).parts)
            name, record = base64.urlsafe_b64decode(encoded).decode(), json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if isinstance(record, dict):
            yield path, name.removeprefix(f"{FOLDER}/"), record


def fetched(metadata: Path) -> dict[str, dict]:
    """Name -> what was fetched, of the downloads that Snakemake has records of."""
    found = {name: wanted_by(record) for _, name, record in _records(metadata)}
    return {name: wanted for name, wanted in found.items() if wanted is not None}


def names(wanted: Iterable[dict], before: dict[str, dict]) -> list[str]:
    """The download of each of the distinct things that are wanted; `before` has what was fetched under which name.

    It is the location's plain name, or where that holds another file one with a digest of what is wanted.
    """
    taken, found = dict(before), []
    for one in wanted:
        plain = plain_name(one["location"])
        other = f"{plain}-{digest(one)}"
        found.append(other if before.get(other) == one or taken.get(plain, one) != one else plain)
        taken[found[-1]] = one
    return found


def forget_how(metadata: Path) -> None:
    """Leave in the records of downloads what was fetched alone, so that nothing else has one fetched again.

    Raises UserError where a record cannot be written.
    """
    for path, _, record in _records(metadata):
        if (wanted := wanted_by(record)) is not None:
            params = [repr(json.dumps(wanted, sort_keys=True, ensure_ascii=False))]
            kept = record | {"params": params, "input": [], "input_checksums": {}, "code": None}
            kept |= {"software_stack_hash": None}
            if kept != record:
                temporary = path.with_name(f".{digest(path.name)}.partial")
                try:
                    temporary.write_text(json.dumps(kept))
                    os.replace(temporary, path)
                except OSError as error:
                    raise UserError(f"{path}: cannot be written: {error.strerror}") from None
