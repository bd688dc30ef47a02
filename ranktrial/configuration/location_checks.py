"""Checks of the locations of data and models in a configuration: the type of each, or the reason for refusal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ranktrial.common import urls
from ranktrial.common.keys import JsonObject
from ranktrial.common.paths import LONGEST_NAME
from ranktrial.common.urls import HUB_ID, OF_IDS, is_url
from ranktrial.configuration.checker import Checker, Source

LONGEST = urls.LONGEST
FORMS = "a folder, an archive, http(s)://… or pypi:NAME==VERSION"  # ir_datasets:ID and hub:ID: one format each
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?=//)|pypi:|[a-z][a-z0-9+.-]+:(?=[^\\/])", re.IGNORECASE)
_PACKAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")  # of PEP 508
_VERSION = re.compile(  # of PEP 440
    r"v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?"
    r"(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?",
    re.IGNORECASE | re.ASCII,
)
_REVISION = re.compile(r"(?!.*(?:\.\.|//|@\{|/\.|\.lock$))[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}(?<![./])")


def check_secrets(config: JsonObject, source: str) -> None:
    """Raise UserError if any text of a configuration contains a URL with a secret; the message does not repeat it."""
    check = Source(source)
    seen: set[int] = set()

    def walk(value: object, path: str) -> None:
        if isinstance(value, str) and urls.holds_secret(value):
            problem = "contains a URL with a user, a password or a secret query value; "
            if path.endswith((".location", ".weights")):
                problem += "write each as ${NAME}, the name of an environment variable that is read when fetching"
            elif path.endswith(".endpoint.url"):
                problem = "no key here: endpoint.key names the environment variable that holds it"
            elif path.endswith(".url"):
                problem = "no name or password here: give them in the environment (ELASTICSEARCH_API_KEY)"
            else:
                problem += "remove it: only location and weights can refer to one, as ${NAME}"
            raise check.fail(path or "a key", problem)
        if isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))  # a YAML alias may refer to a value that contains it
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for name, inner in items:
                walk(name, path)
                walk(inner, f"{path}.{name}" if path and isinstance(value, dict) else path or str(name))

    walk(config, "")


def check_location(check: Checker, where: str, location: str, hub: bool = False) -> str:
    """Return the type of a location: path, url, pypi, library or hub. Raises UserError if it is refused."""
    if not location.strip():
        raise check.fail(where, f"is empty; expected {FORMS}")
    if len(location) > LONGEST:
        raise check.fail(where, f"has {len(location)} characters; expected at most {LONGEST}")
    if not location.isprintable():
        raise check.fail(where, "contains a line's end or another control character")
    if is_url(location) or re.match("https?:", location, re.IGNORECASE):
        try:
            urls.parse(location)
        except ValueError as error:
            raise check.fail(where, f"this URL {error}") from None
        return "url"
    if location.startswith("pypi:"):
        _check_pypi(check, where, location)
        return "pypi"
    if location.startswith(OF_IDS) and not hub:
        return "library"
    if re.search("[{}]", location):
        raise check.fail(where, f"{location!r}: only a URL can hold ${{NAME}}; a path has no {{ }}")
    scheme = _SCHEME.match(location)
    if scheme and not os.path.lexists(location):
        raise check.fail(where, f"unknown scheme {scheme[0].rstrip(':')!r}; expected {FORMS}")
    if any(len(part.encode(errors="surrogatepass")) > LONGEST_NAME for part in location.split("/")):
        raise check.fail(where, f"contains a name of more than {LONGEST_NAME} bytes")
    if os.path.exists(location) and not (os.path.isfile(location) or os.path.isdir(location)):
        raise check.fail(where, f"{location!r} is neither a file nor a folder")
    return "hub" if hub and not Path(location).exists() else "path"


def _check_pypi(check: Checker, where: str, location: str) -> None:
    name, equals, version = location.removeprefix("pypi:").partition("==")
    problem = f"{location[:80]!r} does not have the form pypi:NAME==VERSION"
    if not equals or not name or not version:
        raise check.fail(where, problem)
    if not _PACKAGE.fullmatch(name) or len(name) > 200:
        raise check.fail(where, f"{problem}: NAME has letters, digits, '.', '_' and '-', without extras or options")
    if not _VERSION.fullmatch(version) or len(version) > 100:
        raise check.fail(where, f"{problem}: VERSION is one version, such as 1.2 or 2.0rc1")


def check_hub(check: Checker, where: str, location: str, revision: str) -> None:
    """Raise UserError unless these have the form of a model id on the hub and of a branch, tag or commit."""
    if not HUB_ID.fullmatch(location):
        problem = f"no folder {location[:80]!r} here, and no hub id (organisation/name), package or URL"
        raise check.fail(f"{where}.weights", problem)
    if not _REVISION.fullmatch(revision):
        raise check.fail(f"{where}.revision", f"{revision[:80]!r} is not the name of a branch, tag or commit")


def check_mirrors(check: Checker, mirrors: Iterable[str]) -> None:
    """Raise UserError for a mirror that is not a path."""
    for mirror in mirrors:
        if not mirror.strip() or not mirror.isprintable() or len(mirror) > LONGEST:
            raise check.fail("mirrors", "a mirror is empty, has a control character or too many characters")
        if _SCHEME.match(mirror):
            raise check.fail("mirrors", "a mirror is a folder; give a URL as a dataset's location")
