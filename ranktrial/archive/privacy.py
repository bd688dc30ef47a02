"""Removes private data from an archive's texts: folders of this machine's user, and secrets.

Paths in the working folder become relative, those in a home folder begin with ~, and passwords in URLs become ***. So
do all secrets that this process can read: environment variables that are named like a secret or by the configuration,
passwords in addresses (proxies, package indexes), and the token files of download tools. If a secret is still in a
file or name afterwards, the archive is refused. It is refused as well where a secret is a number: taken out, it would
change numbers of the results.
"""

from __future__ import annotations

import gzip
import mmap
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from ranktrial.common.errors import UserError
from ranktrial.common.urls import SECRET_NAMES, forms, references

TOKEN_FILES = (
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".huggingface/token",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
)
SHORTEST_SECRET = 8  # characters; a shorter value would be found in ordinary text
SHORTEST_WORD = 4  # characters; a shorter secret that the configuration refers to is searched as a separate word
RECORDED_VARIABLES = ("CUDA_VISIBLE_DEVICES", "LANG", "LC_ALL", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONHASHSEED",
                      "TOKENIZERS_PARALLELISM", "TZ")  # fmt: skip
URL_PASSWORD = re.compile(rb"(?<=://)[^/\s@\"']+(?=@(?!sha256:))")  # not the name of an image, docker://NAME@sha256:…
NUMBER = re.compile(rb"[0-9.,:/+eE-]*[0-9][0-9.,:/+eE-]*")  # what may be a part of a number or a date
USER_INFO = re.compile(r"[a-z+]+://([^/\s@]+)@(?!sha256:)", re.IGNORECASE)


class Privacy:
    """Finds the folders and secrets once, and removes them. `working` is the folder in which the workflow ran.

    `named` are the environment variables that the configuration refers to; their values are secrets, whatever their
    names. Raises UserError for a secret that is a number.
    """

    def __init__(
        self, working: Path, homes: list[Path], environment: Mapping[str, str], named: Iterable[str] = ()
    ) -> None:
        referred = {name: environment[name] for name in named if environment.get(name)}
        values = list(referred.values())
        known = [*_secrets(homes, environment), *((os.fsencode(value), name) for name, value in referred.items())]
        secrets = {value: source for value, source in known if len(value) >= SHORTEST_SECRET}
        if numbers := sorted({source for value, source in secrets.items() if NUMBER.fullmatch(value)}):
            problem = (
                "taken out of the results, it would change their numbers; unset it or put it away for this command"
            )
            raise UserError(f"nothing is archived: a secret in {' and in '.join(numbers)} is a number: {problem}")
        self.secrets = sorted({form for value in secrets for form in forms(value)}, key=len, reverse=True)
        short = [value for value in values if SHORTEST_WORD <= len(value) < SHORTEST_SECRET and not value.isdecimal()]
        words = map(os.fsencode, short)
        self.words = [re.compile(rb"(?<![A-Za-z0-9])" + re.escape(word) + rb"(?![A-Za-z0-9])") for word in words]
        folders = {str(path): b"." for path in (working.absolute(), working.resolve())}
        folders |= {str(path): b"~" for home in homes for path in (home, home.resolve()) if str(path) not in folders}
        self.folders = [folder.encode() for folder in folders if folder.strip("/")]
        self.patterns = [
            (re.compile(rb"(?<![\w.~-])" + re.escape(folder.encode()) + rb"(?![\w.-])"), short)
            for folder, short in sorted(folders.items(), key=lambda item: len(item[0]), reverse=True)
            if folder.strip("/")
        ]

    def clean(self, content: bytes) -> bytes:
        """The content without folders and secrets; gzip files are unpacked and, if changed, packed again.

        Content that is not text is returned unchanged, because removing bytes would damage it.
        """
        if content[:2] == b"\x1f\x8b":
            plain = _unpacked(content)
            cleaned = self.clean(plain)
            return content if cleaned == plain else gzip.compress(cleaned, compresslevel=6, mtime=0)
        try:
            content.decode()
        except UnicodeDecodeError:
            return content
        return content if b"\0" in content else self._clean(content)

    def found_in(self, path: Path) -> bool:
        """Whether a file, which may be larger than memory, holds a folder or a secret. Does not look into gzip."""
        if not path.stat().st_size:
            return False
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(word) >= 0 for word in [*self.secrets, *self.folders])

    def refuse_left(self, files: Mapping[str, bytes | Path]) -> None:
        """Raise UserError for the first of an archive's files (name -> content or path) that holds a secret."""
        problem = "contains a secret of yours (a password, a token); take it out"
        for name, content in files.items():
            if self._holds(os.fsencode(name)):
                raise UserError(f"no archive is written: the name {self.clean_text(name)} {problem}")
            if self._file_holds(content) if isinstance(content, Path) else self._holds(content):
                raise UserError(f"no archive is written: {name} {problem}")

    def clean_text(self, text: str) -> str:
        return os.fsdecode(self._clean(os.fsencode(text)))

    def _file_holds(self, path: Path) -> bool:
        if not path.stat().st_size:
            return False
        with open(path, "rb") as file:
            if file.read(2) == b"\x1f\x8b":
                return self._holds(path.read_bytes())
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return self._in(content)

    def _holds(self, content: bytes) -> bool:
        return self._in(content) or (content[:2] == b"\x1f\x8b" and self._in(_unpacked(content)))

    def _in(self, content: bytes | mmap.mmap) -> bool:
        if any(content.find(secret) >= 0 for secret in self.secrets):
            return True
        return any(word.search(content) for word in self.words)

    def _clean(self, content: bytes) -> bytes:
        for secret in self.secrets:
            content = content.replace(secret, b"***")
        for pattern, short in self.patterns:
            if short == b".":
                content = re.sub(pattern.pattern + rb"/", b"", content)
            content = pattern.sub(short, content)
        return URL_PASSWORD.sub(b"***", content)


def _unpacked(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return b""  # damaged, so nothing can be read from it


def _secrets(homes: list[Path], environment: Mapping[str, str]) -> Iterator[tuple[bytes, str]]:
    """Secrets, each with the variable or file that has it."""
    texts = dict(environment)
    yield from ((os.fsencode(value), name) for name, value in _not_paths(environment) if SECRET_NAMES.search(name))
    files = {home / name: f"~/{name}" for home in homes for name in TOKEN_FILES}
    places = ("HF_TOKEN_PATH", "NETRC", "PIP_CONFIG_FILE")
    files |= {Path(environment[name]): f"the file of {name}" for name in places if environment.get(name)}
    for path, shown in files.items():
        try:
            content = path.read_bytes()
        except OSError:
            continue
        words = content.split()
        texts[shown] = content.decode(errors="replace")
        after = {value for before, value in pairwise(words) if before in (b"password", b"=", b":")}
        alone = set(words) if len(words) == 1 else set()
        yield from ((value, shown) for value in after | alone if b"://" not in value and not value.startswith(b"/"))
    for source, text in texts.items():  # in the address of a proxy or a package index
        for user_info in USER_INFO.findall(text):
            user, _, password = user_info.partition(":")
            yield from ((os.fsencode(form), source) for form in (password or user, unquote(password or user)))


def _not_paths(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in environment.items() if not value.startswith("/")]


def of_this_process(config: dict) -> Privacy:
    """The private data of this process and of the environment variables that a configuration refers to."""
    homes = [Path(os.environ["HOME"])] if os.environ.get("HOME", "/") != "/" else []
    with suppress(RuntimeError):  # no such user, so no home folder to hide
        homes.append(Path("~" + os.environ["USER"]).expanduser() if os.environ.get("USER") else Path.home())
    return Privacy(Path.cwd(), list(dict.fromkeys(homes)), os.environ, named_in(config))


def named_in(config) -> list[str]:
    """The environment variables that any text of a configuration refers to."""
    if isinstance(config, dict | list):
        parts = config.values() if isinstance(config, dict) else config
        return [name for part in parts for name in named_in(part)]
    return references(config) if isinstance(config, str) else []


def recorded_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that an archive may hold, by an allow-list."""
    return {name: environment[name] for name in RECORDED_VARIABLES if name in environment}
