"""See that everything an experiment downloads can be had, before any job runs.

Asks, for each dataset and model of the settings, in the order in which they are fetched: does it lie here, was it
downloaded, is it in a mirror, in the hub's cache, or does the server that has it answer? Nothing is downloaded and
nothing written. Prints a table (name, location, state); for what is missing one line each on standard error, and exit
code 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from scripts.common import urls
from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.locations import is_url, shown
from scripts.datasets.fetch import first_line, in_hub_cache, mirrored, pip_reason, session, why

TIMEOUT = 30  # seconds that a server may take
AT_ONCE = 8  # servers asked at a time
NO_HEAD = (403, 405, 501)  # answers of servers that do not know HEAD


class Found(NamedTuple):
    """One dataset or model: where it would come from, and whether it can be had."""

    name: str
    location: str
    state: str
    missing: bool = False


def url_state(url: str) -> str:
    """The state of a URL that answers. Raises UserError for what the server refuses."""
    import requests

    made = urls.parse(url)
    address, auth = made.resolved(os.environ)
    try:
        with session() as asked:
            response = asked.head(address, auth=auth, allow_redirects=True, timeout=TIMEOUT)
            if response.status_code in NO_HEAD:
                response = asked.get(address, auth=auth, stream=True, timeout=TIMEOUT)
                response.close()
            response.raise_for_status()
    except requests.RequestException as error:
        secrets = tuple(os.environ[name] for name in urls.references(url))
        raise UserError(f"{made.shown}: {why(error, secrets)}") from None
    size = response.headers.get("content-length", "")
    return f"the server answers, {int(size) / 1e6:.1f} MB" if size.isdecimal() else "the server answers"


def pypi_state(requirement: str) -> str:
    """The state of a package that pip finds in the user's index. Raises UserError where it finds none."""
    name, _, version = requirement.partition("==")
    command = [sys.executable, "-m", "pip", "index", "versions", "--no-input", "--pre", "--disable-pip-version-check"]
    command += ["--", name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise UserError(f"pypi:{requirement}: {pip_reason(done.stderr)}")
    listed = [line for line in done.stdout.splitlines() if line.startswith("Available versions:")]
    versions = [one.strip() for line in listed for one in line.removeprefix("Available versions:").split(",")]
    if version not in versions:
        raise UserError(f"pypi:{requirement}: the index has no version {version}, but {', '.join(versions[:5])}")
    return "the package index has it"


def hub_state(model: str, revision: str) -> str:
    """The state of a model on the hub. Raises UserError where it is not there or has no safetensors."""
    from huggingface_hub import HfApi

    try:
        info = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(model, revision=revision, timeout=TIMEOUT)
    except Exception as error:  # the hub's client raises many kinds, all of them about this one model
        raise UserError(f"{model} ({revision}): cannot be had from the hub: {first_line(error)}") from None
    if not any(one.rfilename.endswith(".safetensors") for one in info.siblings or []):
        raise UserError(f"{model} ({revision}): on the hub, but it has no safetensors")
    return f"the hub has it, commit {info.sha}"


def sources(one: dict, mirrors: list[Path]) -> list[Callable[[], str]]:
    """How to ask for the state of what has no file here: a function for each file that would be fetched."""
    location = one["location"]
    if "revision" in one:
        return [lambda: hub_state(location, one["revision"])]
    files = {urls.parse(location).below(name).written: checksum for name, checksum in one.get("files", {}).items()}

    def ask(url: str, checksum: str | None) -> str:
        if found := mirrored(url, mirrors, checksum):
            return f"in a mirror: {found}"
        if url.startswith("pypi:"):
            return pypi_state(url.removeprefix("pypi:"))
        if is_url(url):
            return url_state(url)
        raise UserError(f"{url}: no such file here or in the mirrors")

    return [lambda url=url, sha=sha: ask(url, sha) for url, sha in (files or {location: one.get("sha256")}).items()]


def look(one: dict, mirrors: list[Path]) -> Found:
    """Find one dataset or model; `one` has name, location and download (a path, absent for what lies here)."""
    kept = (one["name"], shown(one["location"]))
    if "download" not in one:
        here = Path(one["location"]).exists()
        return Found(*kept, "here" if here else "no such file or folder", not here)
    if Path(one["download"]).exists():
        return Found(*kept, "downloaded")
    if "revision" in one and in_hub_cache(one["location"], one["revision"]):
        return Found(*kept, "in the hub's cache")
    try:
        states = [ask() for ask in sources(one, mirrors)]
    except UserError as error:
        return Found(*kept, str(error), missing=True)
    return Found(*kept, states[0] if len(set(states)) == 1 else f"{len(states)} files: {'; '.join(states)}")


def table(found: list[Found]) -> str:
    """The names, locations and states in columns."""
    rows = [("name", "location", "state"), *((o.name, o.location, "MISSING" if o.missing else o.state) for o in found)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {location:<{widths[1]}}  {state}" for name, location, state in rows)


def main() -> None:
    settings = parser(__doc__).parse_args().settings
    mirrors = [Path(mirror) for mirror in settings["mirrors"]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda one: look(one, mirrors), settings["sources"]))
    print(table(found), flush=True)
    *others, last = [f"{one.name}: {one.state}" for one in found if one.missing] or [None]
    for missing in others:
        print(f"error: {UserError(missing)}", file=sys.stderr)
    if last:
        raise UserError(last)


if __name__ == "__main__":
    run(main)
