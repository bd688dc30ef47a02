"""URLs taken apart once, and shown, stored and named without what may be secret in them: user info and query values.

A secret is written as ${NAME}, which names an environment variable that is looked up only where the URL is fetched.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from urllib.parse import quote, unquote

from scripts.common.errors import UserError

LONGEST = 2000  # characters
HIDDEN = "***"
SECRET_NAMES = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|PWD|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH(?!OR)", re.IGNORECASE
)
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_QUERY = re.compile(
    rf"{SECRET_NAMES.pattern}|key(?!word)|sig(?!ma)|^pass|^pw$|session|sid$|jwt|ticket|bearer|otp|login|user", re.I
)
_PLAIN_VALUE = re.compile(r"(?:[A-Za-z]{1,24}|v?\d{1,8}|[A-Za-z]{1,4}\d{1,2})(?:[._/+,:-](?=.)|$)")  # one word of it
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_USER_INFO = re.compile(r"(?<=://)(?:[^/?#\s\"'<>]*@|[^/?#\s@]*:(?!\d*/)[^?#\s\"'<>]*@)")
_QUERY = re.compile(r"(?<=\?)[^#\s\"'<>]+")


def plain(value: str) -> bool:
    """Whether a query's value is words and small numbers, which no secret is made of: `1`, `zip`, `v2.corpus`."""
    place = 0
    while place < len(value):
        if not (word := _PLAIN_VALUE.match(value, place)):
            return False
        place = word.end()
    return True


def _parts(query: str) -> list[tuple[str, str | None]]:
    """(name, value) of a query's parts, as they are written; the value is None where there is no `=`."""
    split = [part.partition("=") for part in re.split("[&;]", query)] if query else []
    return [(name, value if equals else None) for name, equals, value in split]


@dataclass(frozen=True)
class Url:
    """An http or https URL, with references. Made by `parse`."""

    scheme: str
    user: str
    password: str
    host: str  # with its port
    path: str
    query: str

    @cached_property
    def shown(self) -> str:
        """Without user info and query values; no secret that the configuration may state is in it."""
        names = [name if value is None else f"{name}={HIDDEN}" for name, value in _parts(self.query)]
        return f"{self.scheme}://{self.host}{self.path}" + ("?" + "&".join(names) if names else "")

    @cached_property
    def key(self) -> str:
        """What tells this URL from others in records and names: as shown, and a digest of its plain values."""
        values = [one for one in _parts(self.query) if one[1] and not REFERENCE.search(one[1])]
        return self.shown + (f"#{sha256(repr(values).encode()).hexdigest()[:8]}" if values else "")

    @property
    def written(self) -> str:
        """As in the configuration."""
        user = f"{self.user}:{self.password}@" if self.password else f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{self.host}{self.path}" + (f"?{self.query}" if self.query else "")

    @property
    def file_name(self) -> str:
        return self.path.rpartition("/")[2]

    def below(self, name: str) -> Url:
        """The URL of a file in the folder that this one is."""
        return Url(self.scheme, self.user, self.password, self.host, f"{self.path.rstrip('/')}/{name}", self.query)

    def resolved(self, environment: Mapping[str, str]) -> tuple[str, tuple[str, str] | None]:
        """The address to ask, and user and password if any. Raises UserError for a variable that is not set."""

        def value(found: re.Match) -> str:
            said = environment.get(found[1], "")
            if not said:
                raise UserError(f"{self.shown}: the environment variable {found[1]}, which it names, is not set")
            if any(ord(character) < 33 or ord(character) == 127 for character in said):
                raise UserError(f"{self.shown}: the environment variable {found[1]} holds a space or a line's end")
            return said

        def encoded(found: re.Match) -> str:
            said = value(found)  # what is percent-encoded already, such as a copied signature, stays as it is
            return quote(said, safe="%" if re.search("%[0-9A-Fa-f]{2}", said) else "")

        user, password = (unquote(REFERENCE.sub(encoded, part)) for part in (self.user, self.password))
        query = f"?{REFERENCE.sub(encoded, self.query)}" if self.query else ""
        address = f"{self.scheme}://{self.host}{REFERENCE.sub(encoded, self.path)}{query}"
        return address, (user, password) if user or password else None


def parse(text: str) -> Url:
    """Take a URL apart. Raises ValueError, with the reason and never with a value, for one that is refused."""
    if len(text) > LONGEST:
        raise ValueError(f"has {len(text)} characters; {LONGEST} are the most")
    if not text.isprintable() or re.search(r"[\s\\<>\"^`|]", text):
        raise ValueError("holds a space, a line's end, a control character or one of \\<>\"^`|; percent-encode it")
    if set("${}") & set(REFERENCE.sub("", text)):
        raise ValueError("holds a $ or a brace that is no reference to an environment variable: ${NAME} is the form")
    if not text.startswith(("http://", "https://")):
        raise ValueError("is no URL that can be fetched: http:// and https:// (in small letters) can")
    if "#" in text:
        raise ValueError("holds a fragment (#…), which is never sent to a server; leave it out")
    if re.search(r"%(?![0-9A-Fa-f]{2})|%[01][0-9A-Fa-f]|%7[Ff]", text):
        raise ValueError("holds a % that begins no character, or a control character in percent-encoding")
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
        raise ValueError("holds a user or password; write it as ${NAME}:${NAME}@, each an environment variable's name")
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
            raise ValueError("has an IPv6 address that is none; [2001:db8::1] is the form") from None
    elif not name or len(name) > 253 or not all(map(_LABEL.fullmatch, name.rstrip(".").split("."))):
        raise ValueError("has no host, or one that is no name of ASCII letters, digits, - and dots")


def _check_query(name: str, value: str | None) -> None:
    if "$" in name:
        raise ValueError("refers to an environment variable outside of a value; ${NAME} stands in a value")
    if value is None:
        if not plain(name):
            raise ValueError("has a query that cannot be told from a secret; write name=${NAME}, a variable's name")
        return
    literal = REFERENCE.sub("", value)
    if literal and (_SECRET_QUERY.search(unquote(name)) or not plain(unquote(literal))):
        said = f"the value of {name[:40]!r} cannot be told from a secret" if plain(name) else "a value looks secret"
        raise ValueError(f"holds a query in which {said}; write it as ${{NAME}}, an environment variable's name")


def references(text: str) -> list[str]:
    """The names of the environment variables that a text refers to, in their order."""
    return list(dict.fromkeys(REFERENCE.findall(text)))


def redacted(text: str) -> str:
    """A message of another program without the user info and query values of the URLs in it."""

    def hidden(found: re.Match) -> str:
        return "&".join(name if value is None and plain(name) else f"{name if value is not None else ''}={HIDDEN}"
                        for name, value in _parts(found[0]))  # fmt: skip

    return _ADDRESS.sub(lambda found: _QUERY.sub(hidden, _USER_INFO.sub(f"{HIDDEN}@", found[0])), text)


def holds_secret(text: str) -> bool:
    """Whether a text has a URL in it with a user or password, or a query value that is named like a secret."""
    for address in _ADDRESS.findall(text):
        info = _USER_INFO.search(address)
        if info and REFERENCE.sub("", info[0].partition(":")[2] or info[0]) not in ("@",):
            return True
        for name, value in (part for query in _QUERY.findall(address) for part in _parts(query)):
            if REFERENCE.sub("", value or "") and _SECRET_QUERY.search(unquote(name)):
                return True
    return False


def forms(secret: bytes) -> list[bytes]:
    """The ways in which a secret may stand in a file: as it is, percent-encoded, in JSON, in base64 at any place."""
    found = [secret, quote(secret, safe="").encode(), quote(secret).encode(), quote(secret, safe="").lower().encode()]
    found.append(secret.replace(b"\\", b"\\\\").replace(b'"', b'\\"'))
    for shift in range(3):  # base64 packs three bytes in four letters, so there are three ways to begin
        letters = base64.b64encode(bytes(shift) + secret).rstrip(b"=")
        inner = letters[[0, 2, 3][shift] : len(letters) - (1 if (shift + len(secret)) % 3 else 0)]
        found += [inner, inner.replace(b"+", b"-").replace(b"/", b"_")] if len(inner) >= 8 else []
    return list(dict.fromkeys(found))
