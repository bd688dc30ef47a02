"""Takes out of an archive's texts what is nobody else's business: folders of this machine's user, and secrets.

Paths in the working folder become relative to it, those in a home folder begin with ~, passwords in URLs become ***,
and so do the values of secrets that this process could read: of environment variables that are called like one or that
the configuration refers to, of passwords in addresses (proxies, package indexes), and of token files where the tools
that download keep them. What is left of a secret afterwards, in whichever file or name, refuses the archive.
"""

from __future__ import annotations

import gzip
import mmap
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from scripts.common.errors import UserError
from scripts.common.urls import SECRET_NAMES, forms, references

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
SHORTEST_WORD = 4  # of a value that the configuration refers to: looked for as a word of its own
RECORDED_VARIABLES = ("CUDA_VISIBLE_DEVICES", "LANG", "LC_ALL", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONHASHSEED",
                      "TOKENIZERS_PARALLELISM", "TZ")  # fmt: skip
URL_PASSWORD = re.compile(rb"(?<=://)[^/\s@\"']+(?=@)")
USER_INFO = re.compile(r"[a-z+]+://([^/\s@]+)@", re.IGNORECASE)


class Privacy:
    """What to take out, found once. `working` is the folder in which the workflow ran.

    `named` are the environment variables that the configuration refers to: their values are secrets, however called.
    """

    def __init__(
        self, working: Path, homes: list[Path], environment: Mapping[str, str], named: Iterable[str] = ()
    ) -> None:
        wanted = [environment[name] for name in named if environment.get(name)]
        found = _secrets(homes, environment) | {os.fsencode(one) for one in wanted if len(one) >= SHORTEST_SECRET}
        self.secrets = sorted({form for one in found for form in forms(one)}, key=len, reverse=True)
        short = [one for one in wanted if SHORTEST_WORD <= len(one) < SHORTEST_SECRET and not one.isdecimal()]
        words = map(os.fsencode, short)
        self.words = [re.compile(rb"(?<![A-Za-z0-9])" + re.escape(one) + rb"(?![A-Za-z0-9])") for one in words]
        folders = {str(one): b"." for path in [working] for one in (path.absolute(), path.resolve())}
        folders |= {str(one): b"~" for home in homes for one in (home, home.resolve()) if str(one) not in folders}
        self.folders = [folder.encode() for folder in folders if folder.strip("/")]
        self.patterns = [
            (re.compile(rb"(?<![\w.~-])" + re.escape(folder.encode()) + rb"(?![\w.-])"), short)
            for folder, short in sorted(folders.items(), key=lambda item: len(item[0]), reverse=True)
            if folder.strip("/")
        ]

    def clean(self, content: bytes) -> bytes:
        """The content without folders and secrets; gzip files are looked into and packed again if need be.

        What is no text stays as it is: bytes taken out of it would damage it.
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
        """Whether a file, which may be too big to read at once, holds a folder or a secret; compressed ones are not."""
        if not path.stat().st_size:
            return False
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(word) >= 0 for word in [*self.secrets, *self.folders])

    def refuse_left(self, files: Mapping[str, bytes | Path]) -> None:
        """Raise UserError for the first of an archive's files (name -> content, or where it lies) that has a secret."""
        said = "holds a secret of yours (a password, a token); take it out"
        for name, content in files.items():
            if self._holds(os.fsencode(name)):
                raise UserError(f"no archive is written: the name {self.clean_text(name)} {said}")
            if self._file_holds(content) if isinstance(content, Path) else self._holds(content):
                raise UserError(f"no archive is written: {name} {said}")

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
        return any(content.find(one) >= 0 for one in self.secrets) or any(one.search(content) for one in self.words)

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
        return b""  # damaged: nothing can be read in it


def _secrets(homes: list[Path], environment: Mapping[str, str]) -> set[bytes]:
    found = {os.fsencode(value) for name, value in environment.items() if SECRET_NAMES.search(name)}
    texts = list(environment.values())
    files = [home / name for home in homes for name in TOKEN_FILES]
    places = ("HF_TOKEN_PATH", "NETRC", "PIP_CONFIG_FILE")
    files += [Path(environment[name]) for name in places if environment.get(name)]
    for path in files:
        try:
            content = path.read_bytes()
        except OSError:
            continue
        words = content.split()
        texts.append(content.decode(errors="replace"))
        if len(words) == 1 and b"://" not in words[0]:
            found.add(words[0])
        after = {value for before, value in pairwise(words) if before in (b"password", b"=", b":")}
        found |= {value for value in after if b"://" not in value}
    for user_info in (info for text in texts for info in USER_INFO.findall(text)):
        user, _, password = user_info.partition(":")  # in the address of a proxy or a package index
        found |= {os.fsencode(password or user), os.fsencode(unquote(password or user))}
    return {value for value in found if len(value) >= SHORTEST_SECRET and not value.startswith(b"/")}


def of_this_process(config: dict) -> Privacy:
    """What this process, and what a configuration refers to, could give away."""
    homes = [Path(os.environ["HOME"])] if os.environ.get("HOME", "/") != "/" else []
    with suppress(RuntimeError):  # no such user: nothing to hide
        homes.append(Path("~" + os.environ["USER"]).expanduser() if os.environ.get("USER") else Path.home())
    return Privacy(Path.cwd(), list(dict.fromkeys(homes)), os.environ, named_in(config))


def named_in(config) -> list[str]:
    """The environment variables that any text of a configuration refers to."""
    if isinstance(config, dict | list):
        return [name for one in (config.values() if isinstance(config, dict) else config) for name in named_in(one)]
    return references(config) if isinstance(config, str) else []


def recorded_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that an archive may tell, by an allow-list."""
    return {name: environment[name] for name in RECORDED_VARIABLES if name in environment}
