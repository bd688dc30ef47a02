"""Takes out of an archive's texts what is nobody else's business: folders of this machine's user, and secrets.

Paths in the working folder become relative to it, those in a home folder begin with ~, passwords in URLs become ***,
and so do the values of secrets that this process could read: of environment variables that are called like one, and
of token files where the tools that download keep them.
"""

from __future__ import annotations

import gzip
import mmap
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_?KEY|AUTH", re.IGNORECASE)
TOKEN_FILES = (
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".huggingface/token",
    ".netrc",
    ".pypirc",
)
SHORTEST_SECRET = 8  # characters; a shorter value would be found in ordinary text
RECORDED_VARIABLES = ("CUDA_VISIBLE_DEVICES", "LANG", "LC_ALL", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONHASHSEED",
                      "TOKENIZERS_PARALLELISM", "TZ")  # fmt: skip
URL_PASSWORD = re.compile(rb"(?<=://)[^/\s@\"']+(?=@)")


class Privacy:
    """What to take out, found once. `working` is the folder in which the workflow ran."""

    def __init__(self, working: Path, homes: list[Path], environment: Mapping[str, str]) -> None:
        self.secrets = sorted(_secrets(homes, environment), key=len, reverse=True)
        folders = {str(one): b"." for path in [working] for one in (path.absolute(), path.resolve())}
        folders |= {str(one): b"~" for home in homes for one in (home, home.resolve()) if str(one) not in folders}
        self.folders = [folder.encode() for folder in folders if folder.strip("/")]
        self.patterns = [
            (re.compile(rb"(?<![\w.~-])" + re.escape(folder.encode()) + rb"(?![\w.-])"), short)
            for folder, short in sorted(folders.items(), key=lambda item: len(item[0]), reverse=True)
            if folder.strip("/")
        ]

    def clean(self, content: bytes) -> bytes:
        """The content without folders and secrets; gzip files are looked into and packed again if need be."""
        if content[:2] == b"\x1f\x8b":
            plain = gzip.decompress(content)
            cleaned = self._clean(plain)
            return content if cleaned == plain else gzip.compress(cleaned, compresslevel=6, mtime=0)
        return self._clean(content)

    def found_in(self, path: Path) -> bool:
        """Whether a file, which may be too big to read at once, holds a folder or a secret; compressed ones are not."""
        if not path.stat().st_size:
            return False
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(word) >= 0 for word in [*self.secrets, *self.folders])

    def clean_text(self, text: str) -> str:
        return self._clean(text.encode()).decode()

    def _clean(self, content: bytes) -> bytes:
        for secret in self.secrets:
            content = content.replace(secret, b"***")
        for pattern, short in self.patterns:
            if short == b".":
                content = re.sub(pattern.pattern + rb"/", b"", content)
            content = pattern.sub(short, content)
        return URL_PASSWORD.sub(b"***", content)


def _secrets(homes: list[Path], environment: Mapping[str, str]) -> set[bytes]:
    found = {value.encode() for name, value in environment.items() if SECRET_NAMES.search(name)}
    files = [home / name for home in homes for name in TOKEN_FILES]
    files += [Path(environment[name]) for name in ("HF_TOKEN_PATH", "NETRC") if environment.get(name)]
    for path in files:
        try:
            words = path.read_bytes().split()
        except OSError:
            continue
        if len(words) == 1:
            found.add(words[0])
        found |= {after for before, after in pairwise(words) if before in (b"password", b"=", b":")}
    return {value for value in found if len(value) >= SHORTEST_SECRET and not value.startswith(b"/")}


def of_this_process() -> Privacy:
    """What this process could give away."""
    homes = [Path(os.environ["HOME"])] if os.environ.get("HOME", "/") != "/" else []
    with suppress(RuntimeError):  # no such user: nothing to hide
        homes.append(Path("~" + os.environ["USER"]).expanduser() if os.environ.get("USER") else Path.home())
    return Privacy(Path.cwd(), list(dict.fromkeys(homes)), os.environ)


def recorded_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that an archive may tell, by an allow-list."""
    return {name: environment[name] for name in RECORDED_VARIABLES if name in environment}
