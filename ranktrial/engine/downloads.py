"""The names of downloads, which all experiments of a clone share.

The name, and whether something is fetched again, depend on what is fetched (a location, its SHA-256, files or
revision), not on where from or by which script. So two experiments with the same file share its download, and two that
expect different files at one location each have their own.
"""

from __future__ import annotations

import ast
import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from ranktrial.common.errors import UserError
from ranktrial.common.keys import plain
from ranktrial.common.urls import HUB, is_remote, key

FOLDER = "results/downloads"
FETCHING = ("fetch", "fetch_folder")  # the rules that download
HOW = "RANKTRIAL_FETCH"  # the environment variable that passes mirrors and addresses to a download job
LONGEST = 200  # bytes; the name of a log and of the temporary folder are longer


class Data(Protocol):
    """What is fetched for a dataset."""

    @property
    def location(self) -> str | None: ...
    @property
    def sha256(self) -> str | None: ...
    @property
    def files(self) -> Mapping[str, str | None] | None: ...


class Weights(Protocol):
    """What is fetched for a model."""

    @property
    def weights(self) -> str: ...
    @property
    def revision(self) -> str: ...


def sources(
    datasets: Mapping[str, Data], models: Mapping[str, Weights], source: str
) -> dict[tuple[str, str | None], dict]:
    """(Location, revision, parts as text or None) -> what is fetched, for each location that is not an existing path.

    Raises UserError, which begins with `source`, if two entries expect different files at one location.
    """
    fetches: dict[tuple[str, str | None], dict] = {}
    for name, dataset in datasets.items():
        location, parts = place_of(dataset)
        if is_remote(location) or not Path(location).exists():
            sums = {"sha256": dataset.sha256, "files": dataset.files}
            fetch = {"location": key(location)} | {name: value for name, value in sums.items() if value}
            fetch |= _parts(dataset)
            if fetches.setdefault((location, parts), fetch) != fetch:
                raise UserError(f"{source}: datasets.{name}.sha256: another than for the same location above")
    for model in models.values():
        location, revision = model.weights, model.revision
        if is_remote(location):
            fetches.setdefault((location, None), {"location": key(location)})
        elif not Path(location).exists():
            fetches[location, revision] = {"location": location, "revision": revision}
    return fetches


def place_of(dataset: Data) -> tuple[str, str | None]:
    """A dataset's location and, if it is an id, the parts that are fetched, as text."""
    return str(dataset.location), json.dumps(_parts(dataset), sort_keys=True) if _parts(dataset) else None


def _parts(dataset: Data) -> dict:
    """The parts fetched for an id, by the keys of its format: the ids of splits, or the subset of a revision."""
    if ids := getattr(dataset, "ids", None):
        return {"ids": sorted(set(ids.values()))}
    if not str(dataset.location).startswith(HUB):
        return {}
    values = {name: plain(getattr(dataset, name, None)) for name in ("revision", "subset", "judgements")}
    return {name: value for name, value in values.items() if value is not None}


def plain_name(location: str) -> str:
    """The name of the download of a location (its key), unless another file has it already."""
    name = re.sub(r"[^A-Za-z0-9._=-]+", "-", location)
    return name if 0 < len(name) <= LONGEST and name not in (".", "..") else f"{name[:150]}-{digest(location)}"


def digest(value) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def wanted_by(record: dict) -> dict | None:
    """What was fetched, from the record of a download; None for the record of any other job."""
    try:
        (params,) = record["params"]
        return json.loads(ast.literal_eval(params)) if record["rule"] in FETCHING else None
    except (KeyError, TypeError, ValueError, SyntaxError):
        return None


def _records(metadata: Path) -> Iterator[tuple[str, dict]]:
    """Yield the records of downloads, each with the download's name. Other files are skipped."""
    start = base64.urlsafe_b64encode(f"{FOLDER}/".encode()).decode()  # whole groups of three bytes, so this is a prefix
    for path in sorted([*metadata.glob(f"{start}*"), *metadata.glob(f"@{start}*/**/*")]):
        try:
            encoded = "".join(part.removeprefix("@") for part in path.relative_to(metadata).parts)
            name, record = base64.urlsafe_b64decode(encoded).decode(), json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if isinstance(record, dict):
            yield name.removeprefix(f"{FOLDER}/"), record


def fetched(metadata: Path) -> dict[str, dict]:
    """Name -> what was fetched, for the downloads of which Snakemake has records."""
    downloads = {name: wanted_by(record) for name, record in _records(metadata)}
    return {name: fetch for name, fetch in downloads.items() if fetch is not None}


def names(fetches: Iterable[dict], before: dict[str, dict]) -> list[str]:
    """The name of the download of each of the distinct fetches; `before` maps the names of earlier downloads to theirs.

    It is the location's plain name. If that name has another file already, a digest of the fetch is added to it.
    """
    taken, chosen = dict(before), []
    for fetch in fetches:
        plain = plain_name(fetch["location"])
        with_digest = f"{plain}-{digest(fetch)}"
        is_taken = before.get(with_digest) == fetch or taken.get(plain, fetch) != fetch
        name = with_digest if is_taken else plain
        chosen.append(name)
        taken[name] = fetch
    return chosen
