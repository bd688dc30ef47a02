"""Check that everything an experiment downloads is available, before any job runs.

For each dataset and model of the settings, checks in the order in which they are fetched: is it local, was it
downloaded, is it in a mirror, in the hub's cache, or does its server answer? ir_datasets is asked whether it can
provide a dataset. Nothing is downloaded or written. Prints a table (name, location, state); for each missing item one
line on standard error, with exit code 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from ranktrial.common import urls
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.urls import HUB, is_url, shown
from ranktrial.common.wording import hint
from ranktrial.datasets.fetching import pip_reason
from ranktrial.datasets.formats._ir_library import (
    HOME,
    SCHEME,
    document_parts,
    files_of,
    find,
    home_beside,
    one_line,
    open_library,
    query_text,
    version,
)
from ranktrial.datasets.from_hub import NO_HUB, OTHERWISE, TIMEOUT, dataset_state, first_line, in_hub_cache
from scripts.datasets.fetch import mirrored, session, why


def library_state(
    location: str,
    ids: list[str],
    download: Path,
    ask: Callable[[str], str],
    fields: list[str] | None = None,
    query_field: str | None = None,
) -> str:
    """The state of what a location and ids name: whether it is known, has the fields, and its files are available.

    `ask` requests a URL. Raises UserError for what the library does not know or its servers refuse.
    """
    name = location.removeprefix(SCHEME)
    home = home_beside(download)
    with tempfile.TemporaryDirectory() as empty:
        # Importing the library makes folders in its home.
        library = open_library(home if home.is_dir() else Path(empty), network=False)
        documents = find(library, name, "docs")
        with one_line(name):
            document_parts(documents.docs_cls(), fields, f"{SCHEME}{name}")
        files = dict.fromkeys(files_of(documents, "docs"))
        for subset in ids:
            dataset = find(library, subset, "queries")
            with one_line(subset):
                query_text(dataset.queries_cls(), query_field, f"{SCHEME}{subset}")
            files |= dict.fromkeys(files_of(dataset, "queries", "qrels"))
        missing = [file for file in files if file.path is None or not file.path.exists()]
    for file in missing:
        if file.instructions:
            raise UserError(f"{SCHEME}{name}: cannot be fetched: {file.instructions}")
    here = f"{version(library)} knows it"
    if os.environ.get(HOME) and not missing:
        return f"{here}, its files are here"
    for file in missing:
        if file.url and not file.asks_otherwise:
            ask(file.url)
    size = sum(file.size or 0 for file in missing)
    return f"{here}, {len(missing)} of {len(files)} files to be fetched, about {size / 1e6:.1f} MB"


AT_ONCE = 8  # concurrent requests to servers
NO_HEAD = (403, 405, 501)  # answers of servers that do not support HEAD


@dataclass(frozen=True)
class Source:
    """A dataset or model that the experiment needs, with everything that fetching it depends on."""

    name: Annotated[str, "its key in the configuration"]
    location: Annotated[str, "where it lies"]
    download: Annotated[str | None, "the path that it is fetched to; none for what lies here"] = None
    sha256: Annotated[str | None, "of its file"] = None
    files: Annotated[dict[str, str | None] | None, "below a URL: name -> SHA-256"] = None
    revision: Annotated[str | None, "of a hub id"] = None
    content: Annotated[str | None, "the SHA-256 of the user's own file in a mirror"] = None
    ids: Annotated[list[str] | None, "of ir_datasets: the splits' ids"] = None
    fields: Annotated[list[str] | None, "of its documents"] = None
    query_field: Annotated[str | None, "of its queries"] = None
    subset: Annotated[str | None, "of hub:ID: one of its collections"] = None
    judgements: Annotated[dict[str, str] | None, "of hub:ID: location and revision of its judgements"] = None
    named: Annotated[list[str] | None, "files below a folder that lies here, or patterns of them"] = None


class State(NamedTuple):
    """A dataset or model: its source, and whether it is available."""

    name: str
    location: str
    state: str
    missing: bool = False


def url_state(url: str) -> str:
    """The state of a URL that answers. Raises UserError if the server refuses."""
    import requests

    made = urls.parse(url)
    address, auth = made.resolved(os.environ)
    try:
        with session() as client:
            response = client.head(address, auth=auth, allow_redirects=True, timeout=TIMEOUT)
            if response.status_code in NO_HEAD:
                response = client.get(address, auth=auth, stream=True, timeout=TIMEOUT)
                response.close()
            response.raise_for_status()
    except requests.RequestException as error:
        secrets = tuple(os.environ[name] for name in urls.references(url))
        raise UserError(f"{made.shown}: {why(error, secrets)}") from None
    size = response.headers.get("content-length", "")
    return f"the server answers, {int(size) / 1e6:.1f} MB" if size.isdecimal() else "the server answers"


def pypi_state(requirement: str) -> str:
    """The state of a package in the user's index. Raises UserError if pip finds none."""
    name, _, version = requirement.partition("==")
    command = [sys.executable, "-m", "pip", "index", "versions", "--no-input", "--pre", "--disable-pip-version-check"]
    command += ["--", name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise UserError(f"pypi:{requirement}: {pip_reason(done.stderr)}")
    listed = [line for line in done.stdout.splitlines() if line.startswith("Available versions:")]
    versions = [name.strip() for line in listed for name in line.removeprefix("Available versions:").split(",")]
    if version not in versions:
        raise UserError(f"pypi:{requirement}: the index has no version {version}, but {', '.join(versions[:5])}")
    return "the package index has it"


def hub_state(model: str, revision: str) -> str:
    """The state of a model on the hub. Raises UserError if it does not exist or has no safetensors."""
    from huggingface_hub import HfApi

    if in_hub_cache(model, revision):
        return "in the hub's cache"
    try:
        info = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(model, revision=revision, timeout=TIMEOUT)
    except Exception as error:  # the hub's client raises many kinds, all of them about this one model
        raise UserError(f"{model} ({revision}): {NO_HUB}: {first_line(error)}; {OTHERWISE}") from None
    if not any(file.rfilename.endswith(".safetensors") for file in info.siblings or []):
        raise UserError(f"{model} ({revision}): on the hub, but it has no safetensors")
    return f"the hub has it, commit {info.sha}"


def questions(source: Source, mirrors: list[Path]) -> list[Callable[[], str]]:
    """The requests for the state of a source without a local file: a function for each file to be fetched."""
    location, revision = source.location, source.revision
    if revision is not None and location.startswith(HUB):
        apart = [(part["location"], part["revision"]) for part in [source.judgements] if part]
        return [lambda place=place: dataset_state(*place, mirrors) for place in [(location, revision), *apart]]
    if revision is not None:
        return [lambda: hub_state(location, revision)]
    if source.ids is not None:
        asked = {"fields": source.fields, "query_field": source.query_field}
        return [lambda: library_state(location, source.ids, Path(source.download), url_state, **asked)]
    files = {urls.parse(location).below(name).written: checksum for name, checksum in (source.files or {}).items()}

    def ask(url: str, checksum: str | None) -> str:
        if path := mirrored(url, mirrors, checksum):
            return f"in a mirror: {path}"
        if url.startswith("pypi:"):
            return pypi_state(url.removeprefix("pypi:"))
        if is_url(url):
            return url_state(url)
        raise UserError(f"{url}: no such file here or in the mirrors")

    return [lambda url=url, sha=sha: ask(url, sha) for url, sha in (files or {location: source.sha256}).items()]


def why_not_here(place: Path, named: list[str]) -> str | None:
    """What is missing: the place, or the first named file below it; None if nothing is."""
    if not place.exists():
        return "no such file or folder"
    if not place.is_dir():
        return None
    lacking = next((name for name in named if not (place / name).exists() and not any(place.glob(name))), None)
    if lacking is None:
        return None
    return f"has no {lacking}{hint(lacking, (file.relative_to(place).as_posix() for file in place.rglob('*')))}"


def look(source: Source, mirrors: list[Path]) -> State:
    """Find a dataset or model."""
    identity = (source.name, shown(source.location))
    if source.download is None:
        problem = why_not_here(Path(source.location), source.named or [])
        return State(*identity, problem or "here", problem is not None)
    if Path(source.download).exists():
        return State(*identity, "downloaded")
    try:
        answers = [ask() for ask in questions(source, mirrors)]
    except UserError as error:
        return State(*identity, str(error), missing=True)
    return State(*identity, answers[0] if len(set(answers)) == 1 else f"{len(answers)} files: {'; '.join(answers)}")


def table(states: list[State]) -> str:
    """The names, locations and states in columns."""
    rows = [("name", "location", "state")]
    rows += [(state.name, state.location, "MISSING" if state.missing else state.state) for state in states]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {location:<{widths[1]}}  {state}" for name, location, state in rows)


def check(
    mirrors: Annotated[list[str], "folders that are searched first"],
    sources: Annotated[list[Source], "what the experiment needs"],
) -> None:
    """Check that everything an experiment downloads is available, before any job runs."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        states = list(pool.map(lambda source: look(source, [Path(mirror) for mirror in mirrors]), sources))
    print(table(states), flush=True)
    *others, last = [f"{state.name}: {state.state}" for state in states if state.missing] or [None]
    for missing in others:
        print(f"error: {UserError(missing)}", file=sys.stderr)
    if last:
        raise UserError(last)


if __name__ == "__main__":
    job(check)
