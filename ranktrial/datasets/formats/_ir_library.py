"""The use of the library ir_datasets in jobs: its home folder, network access, datasets and their files.

The library is imported only in jobs, and only here: importing it takes a second and makes folders in its home. Every
failure in it becomes one line. The home is the user's own (IR_DATASETS_HOME) or a hidden folder beside the downloads,
where the library stores what it has fetched; that folder is not the output of a job, since datasets share its content.

The text of a document or query is that of chosen fields, or the library's default text. A document type (a NamedTuple
of the library) states its fields before anything is fetched, so an unknown field is reported at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.wording import closest

SCHEME = "ir_datasets:"
HOME = "IR_DATASETS_HOME"  # the library's own variable
FOLDER = ".ir_datasets"  # hidden, so that checks of results skip it
DEEPEST = 12  # maximum depth of a file behind a dataset's handler
LONGEST = 300  # characters of the library's own message


class KnownFile(NamedTuple):
    """A file of a dataset: its source, its path in the library's home, and its documented size and MD5."""

    url: str | None
    path: Path | None
    md5: str | None
    size: int | None
    instructions: str | None = None  # if only the user can get the file
    asks_otherwise: bool = False  # the request has special headers


def home_beside(download: Path) -> Path:
    """The library's home: the user's own, or the one that all downloads share."""
    own = os.environ.get(HOME)
    return Path(own) if own else download.parent / FOLDER


def open_library(home: Path, network: bool) -> ModuleType:
    """The library with this home, which is fixed at its first import; without network, it only reads local files."""
    home.mkdir(parents=True, exist_ok=True)
    os.environ[HOME] = str(home.resolve())
    os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")  # a log has no progress bar
    import ir_datasets

    if not network:
        ir_datasets.lazy_libs._cache["requests"] = _offline()  # the session that the library uses for all requests
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
    """The dataset with this id and these parts (docs, queries, qrels). Raises UserError, with similar ids."""
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
    """Raise failures in the library as a UserError that names the dataset."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # its parsers, archives and servers raise any exception
        if error.__class__.__module__ == "builtins" and isinstance(error, OSError) and error.errno and error.filename:
            reason = f"{error.filename}: {error.strerror}"
        else:
            reason = why(error)
        raise UserError(f"{SCHEME}{name}: ir_datasets cannot give it: {reason}") from None


def why(error: BaseException) -> str:
    """The reason of a failure in one line; for several servers, that of the last."""
    last = _causes(error)[-1]
    response = getattr(last, "response", None)
    if response is not None:
        return f"{response.url.split('?')[0]}: {response.status_code} {response.reason or ''}".strip()
    request = getattr(last, "request", None)
    if request is not None:
        return f"{request.url.split('?')[0]}: the server does not answer ({type(last).__name__})"
    words = " ".join(str(last).split())[:LONGEST] or type(last).__name__
    # The library does not check a server's status, so that a refusal appears as a file with another MD5.
    odd = "the server gave another file than is documented, maybe a page that refuses it: "
    return odd + words if type(last).__name__ == "HashVerificationError" else words


def _causes(error: BaseException) -> list[BaseException]:
    """The failure or, if all servers of a file failed, that of each."""
    tried = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], list) else []
    return [cause for _, cause in tried if isinstance(cause, BaseException)] or [error]


def guarded(name: str, items: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The items of a dataset; failures are raised as one line."""
    with one_line(name):
        yield from items()


def md5(path: Path) -> str:
    """The MD5 of a file's bytes, by which the library identifies files; it does not protect from attacks."""
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


def document_parts(kind: Any, fields: list[str] | None, where: str) -> Callable[[Any], tuple[str, str]]:
    """A function that returns title and text of a document of a type. Raises UserError for a missing field."""
    if fields is not None:
        _check_fields(kind, fields, f"{where}: fields: its documents have")
        rest = text_fields(fields)
        titled = rest != fields

        def chosen(document: Any) -> tuple[str, str]:
            texts = [plain(getattr(document, field), field) for field in rest]
            return plain(document.title, "title") if titled else "", " ".join(filter(None, texts))

        return chosen
    if not hasattr(kind, "default_text"):
        names = ", ".join(field for field in kind._fields if field != "doc_id")
        raise UserError(f"{where}: the library does not say what the text is: choose some of fields: {names}")

    def default(document: Any) -> tuple[str, str]:
        text, title = plain(document.default_text(), "default_text"), plain(getattr(document, "title", ""), "title")
        # The title is separated if the text begins with it, so that both can be indexed as fields.
        return (title, text[len(title) :].strip()) if title and text.startswith(title) else ("", text.strip())

    return default


def text_fields(fields: list[str]) -> list[str]:
    """The chosen fields that are a document's text: without the title, unless nothing else is chosen."""
    return [field for field in fields if field != "title"] or fields


def query_text(kind: Any, field: str | None, where: str) -> Callable[[Any], str]:
    """A function that returns the text of a query of a type. Raises UserError for a missing field."""
    if field is not None:
        _check_fields(kind, [field], f"{where}: query_field: its queries have")
        return lambda query: plain(getattr(query, field), field)
    if not hasattr(kind, "default_text"):
        names = ", ".join(name for name in kind._fields if name != "query_id")
        raise UserError(f"{where}: the library does not say what the text is: choose a query_field of {names}")
    return lambda query: plain(query.default_text(), "default_text")


def _check_fields(kind: Any, fields: list[str], problem: str) -> None:
    known = [field for field in kind._fields if field not in ("doc_id", "query_id")]
    if unknown := [field for field in fields if field not in known]:
        raise UserError(f"{problem} no {unknown[0]!r}; expected some of {', '.join(known)}")


def plain(value: Any, field: str) -> str:
    """A field's value as text, with lists joined. Raises TypeError for a value that is not text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    raise TypeError(f"the field {field} is no text but {type(value).__name__}")
