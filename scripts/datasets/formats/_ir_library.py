"""The library ir_datasets as jobs use it: its home folder, its network, the datasets that it knows and their files.

Jobs alone import the library, and here alone: importing it takes a second and makes folders in its home. Every failure
in it becomes one line. The home is the user's own (IR_DATASETS_HOME) or a hidden folder beside the downloads, where the
library keeps what it has fetched; no job lists that folder as its output, since datasets share what lies there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from scripts.common.errors import UserError
from scripts.common.near_names import closest

SCHEME = "ir_datasets:"
HOME = "IR_DATASETS_HOME"  # the library's own variable
FOLDER = ".ir_datasets"  # hidden: what checks that results are what jobs wrote passes it over
DEEPEST = 12  # how far a file may lie behind a dataset's handler
LONGEST = 300  # characters of the library's own message


class KnownFile(NamedTuple):
    """A file that a dataset is read from: where the library has it from and keeps it, and what it documents of it."""

    url: str | None
    path: Path | None
    md5: str | None
    size: int | None
    instructions: str | None = None  # where nobody but the user can get the file
    asks_otherwise: bool = False  # the server is asked with headers of its own


def home_beside(download: Path) -> Path:
    """The library's home: the user's own, or the one that all downloads share."""
    own = os.environ.get(HOME)
    return Path(own) if own else download.parent / FOLDER


def open_library(home: Path, network: bool) -> ModuleType:
    """The library with this home, which it takes at its first import; without the network it reads what lies there."""
    home.mkdir(parents=True, exist_ok=True)
    os.environ[HOME] = str(home.resolve())
    os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")  # a log holds no bar that moves
    import ir_datasets

    if not network:
        ir_datasets.lazy_libs._cache["requests"] = _offline()  # the one session by which the library asks servers
    module: ModuleType = ir_datasets
    return module


def _offline() -> SimpleNamespace:
    import requests

    def refuse(**asked: Any) -> None:
        raise RuntimeError(f"{asked.get('url')} would be fetched, but only the job fetch asks the network")

    return SimpleNamespace(get=refuse, exceptions=requests.exceptions)


def version(library: ModuleType) -> str:
    return f"ir_datasets {library.__version__}"


def find(library: ModuleType, name: str, *parts: str) -> Any:
    """The dataset of this id, which has the parts (docs, queries, qrels). Raises UserError, with ids that are near."""
    try:
        dataset = library.load(name)
    except KeyError:
        near = closest(name, library.registry, most=5)
        below = [known for known in library.registry if known.startswith(f"{name}/")]
        hint = f"near are {', '.join(below[:5] or near)}" if near or below else "see ir-datasets.com for those it has"
        raise UserError(f"{SCHEME}{name}: {version(library)} knows no such id; {hint}") from None
    for part in parts:
        if not dataset.has(part):
            below = [known for known in library.registry if known.startswith(f"{name}/")]
            hint = f"; below it are {', '.join(below[:5])}" if below else ""
            raise UserError(f"{SCHEME}{name}: has no {part}{hint}")
    return dataset


@contextmanager
def one_line(name: str) -> Iterator[None]:
    """Raise what fails in the library as a UserError that names the dataset."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # its parsers, archives and servers raise what they like
        if error.__class__.__module__ == "builtins" and isinstance(error, OSError) and error.errno and error.filename:
            reason = f"{error.filename}: {error.strerror}"
        else:
            reason = why(error)
        raise UserError(f"{SCHEME}{name}: ir_datasets cannot give it: {reason}") from None


def why(error: BaseException) -> str:
    """The reason of a failure in one line: of several servers that of the last."""
    last = _causes(error)[-1]
    response = getattr(last, "response", None)
    if response is not None:
        return f"{response.url.split('?')[0]}: {response.status_code} {response.reason or ''}".strip()
    request = getattr(last, "request", None)
    if request is not None:
        return f"{request.url.split('?')[0]}: the server does not answer ({type(last).__name__})"
    words = " ".join(str(last).split())[:LONGEST] or type(last).__name__
    # The library does not look at a server's status, so a refusal comes as a file with another MD5.
    odd = "the server gave another file than is documented, maybe a page that refuses it: "
    return odd + words if type(last).__name__ == "HashVerificationError" else words


def _causes(error: BaseException) -> list[BaseException]:
    """The failure or, where all servers of a file failed, that of each."""
    tried = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], list) else []
    return [cause for _, cause in tried if isinstance(cause, BaseException)] or [error]


def guarded(name: str, items: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The items of a dataset, with each failure as one line."""
    with one_line(name):
        yield from items()


def md5(path: Path) -> str:
    """The MD5 of a file's bytes, by which the library knows its files; not what protects from an attack."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def files_of(dataset: Any, *parts: str) -> list[KnownFile]:
    """The files behind the parts of a dataset (docs, queries, qrels), each once."""
    found: dict[int, KnownFile] = {}
    seen: set[int] = set()
    pending = [(getattr(dataset, f"{part}_handler")(), 0) for part in parts if dataset.has(part)]
    while pending:
        thing, depth = pending.pop()
        if id(thing) in seen or depth > DEEPEST:
            continue
        seen.add(id(thing))
        if hasattr(type(thing), "_dua_ctxt"):  # the library's Download
            found[id(thing)] = _known_file(thing)
        elif hasattr(thing, "_instructions"):  # its ExpectedFile
            words = " ".join(thing._instructions.format(path=thing._path).split())
            found[id(thing)] = KnownFile(None, Path(thing._path), thing._expected_md5, None, words)
        elif isinstance(thing, list | tuple):
            pending += [(item, depth + 1) for item in thing]
        elif isinstance(thing, dict):
            pending += [(item, depth + 1) for item in thing.values()]
        elif type(thing).__module__.startswith("ir_datasets") and hasattr(thing, "__dict__"):
            pending += [(item, depth + 1) for item in vars(thing).values()]
    files = dict.fromkeys(found.values())
    return sorted(files, key=lambda file: (file.url or "", str(file.path)))


def _known_file(download: Any) -> KnownFile:
    url = next((mirror.url for mirror in download.mirrors if hasattr(mirror, "url")), None)
    local = next((mirror for mirror in download.mirrors if hasattr(mirror, "_message")), None)
    path = download._cache_path or (local and local._path)
    instructions = local._message if local is not None and url is None else None
    return KnownFile(
        url,
        Path(path) if path else None,
        download.expected_md5,
        download._size_hint,
        " ".join(instructions.split()) if instructions else None,
        any(getattr(mirror, "headers", None) for mirror in download.mirrors),
    )
