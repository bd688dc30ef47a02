"""The code of a job, as a parameter of its rule: the script, what it loads or reads by name, and a digest of them.

Snakemake thus runs a job again if the meaning of its code changes, whatever the dates of the files. The meaning of a
source is its syntax tree without comments, docstrings, descriptions and layout. A tree is written as the fields with a
meaning, in text that does not depend on the version of Python: empty fields, as those added by later versions mostly
are, are left out. One limitation remains: a construct that two versions parse into different trees (so far, some format
specifications of f-strings) has two digests.

The modules behind a script are found by its statements `import …` and `from … import …` at any depth, without running
them; a module that is loaded by its name at run time (common/plugins.py) must be given too, as must our other files
that a script reads, whose meaning is their bytes. Reads the sources of scripts/ and ranktrial/. Meanings are kept
beside the compiled forms, so that planning parses only the sources that have changed: reads and writes
`__pycache__/….meaning`: a checksum, the digest of the meaning, the modules named in imports. The checksum is of
these, the source's text, the Python and the code that finds the meaning. As compiled modules, none is written under
PYTHONDONTWRITEBYTECODE, or where the folder cannot be written.

Each job checks that its code is still what the run began with: it is recorded as that, also if it is edited meanwhile.
Only files whose size or dates differ from those that the run noted are read for this.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ranktrial.common.home import own_file

SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # implied by other fields, or without effect
SCRIPTS = "scripts"
PACKAGES = (SCRIPTS, "ranktrial")


def tree_digest(tree: ast.Module) -> str:
    """The SHA-256 of the meaning of a source."""
    words: list[str] = []
    _add(tree, words)
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _add(node: ast.AST, words: list[str]) -> None:
    """Add a node and its descendants, in brackets; strings are quoted, so that nothing else looks like a string."""
    kind = type(node)
    words.append(f"({kind.__name__}")
    described = kind is ast.Subscript and _is_annotated(node)
    for field in _fields(kind):
        value = getattr(node, field, None)
        if described and field == "slice":
            value = [value.elts[0], *(part for part in value.elts[1:] if not _is_constant_text(part))]
        if value is None or value == []:
            continue
        words.append(field)
        for part in value if isinstance(value, list) else (value,):
            if not isinstance(part, ast.AST):
                words.append(ascii(part))
            elif not _is_text(part):
                _add(part, words)
    words.append(")")


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(field for field in kind._fields if field not in SILENT)


def _is_text(node: Any) -> bool:
    """Whether a statement is only a text, such as a docstring."""
    return type(node) is ast.Expr and _is_constant_text(node.value)


def _is_constant_text(node: Any) -> bool:
    return type(node) is ast.Constant and isinstance(node.value, str)


def _is_annotated(node: Any) -> bool:
    """Whether a subscript is a type with its description: Annotated[int, "documents per query"]."""
    return getattr(node.value, "id", None) == "Annotated" and type(node.slice) is ast.Tuple


class Meaning(NamedTuple):
    """The digest of a source's meaning, and our modules that its import statements may name."""

    digest: str
    names: tuple[str, ...]


def meaning(path: Path) -> Meaning:
    """The meaning of a source: as kept for exactly this text, or found and kept."""
    text = path.read_bytes()
    if path.suffix != ".py":
        return Meaning(hashlib.sha256(text).hexdigest(), ())
    kept = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.meaning"
    with contextlib.suppress(OSError, ValueError):
        checksum, digest, *names = kept.read_text(encoding="utf-8").splitlines()
        if checksum == _checksum(text, found := Meaning(digest, tuple(names))):
            return found
    found = _found(ast.parse(text, str(path)))
    if not sys.dont_write_bytecode:
        _keep(kept, "\n".join((_checksum(text, found), found.digest, *found.names)))
    return found


def _checksum(text: bytes, found: Meaning) -> str:
    return hashlib.sha256(b"\0".join((_finder(), "\n".join((found.digest, *found.names)).encode(), text))).hexdigest()


def _found(tree: ast.Module) -> Meaning:
    names = {name for node in _statements(tree) for name in _modules_named(node)}
    return Meaning(tree_digest(tree), tuple(sorted(names)))


@cache
def _finder() -> bytes:
    """The Python and the code that find a meaning: others may find another one."""
    return hashlib.sha256(b"\0".join((sys.version.encode(), Path(__file__).read_bytes()))).digest()


def _keep(path: Path, text: str) -> None:
    """Write it whole or not at all; several processes may do so at once."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, at any depth, without expressions, which are most of a file and import nothing."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(node, field, None)
        for statement in inner if isinstance(inner, list) else ():
            yield statement
            yield from _statements(statement)


def _modules_named(node: ast.AST) -> Iterator[str]:
    """The modules of both packages that an import statement may mean; in `from a import b`, b is a module or a name."""
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        named = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        named = []
    yield from (name for name in named if name.partition(".")[0] in PACKAGES)


@dataclass(frozen=True)
class Source:
    """One file: the files of both packages that it imports directly, and the digest of its meaning."""

    imports: tuple[str, ...]
    digest: str
    state: str  # of the file, before it was read


def _state(path: str) -> str:
    status = own_file(path).stat()
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


@cache
def source(path: str) -> Source:
    """The record of one file; all paths are relative to the repository."""
    state = _state(path)
    found = meaning(own_file(path))
    bases = [name.replace(".", "/") for name in found.names]
    files = [f"{base}.py" for base in bases if own_file(f"{base}.py").is_file()]
    imported_packages = [file for base in bases for file in packages(f"{base}/__init__.py")]
    return Source(tuple(dict.fromkeys([*files, *imported_packages])), found.digest, state)


@cache
def packages(path: str) -> tuple[str, ...]:
    """The files __init__.py that Python runs before a file, without empty ones."""
    folder = path.rpartition("/")[0]
    if not folder:
        return ()
    file = f"{folder}/__init__.py"
    counts = own_file(file).is_file() and own_file(file).read_text(encoding="utf-8").strip()
    return (*([file] if counts else []), *packages(folder))


@cache
def behind(script: str, *loads: str) -> tuple[str, ...]:
    """A script and all modules that it imports, directly or indirectly, in order.

    The script is given relative to scripts/. `loads` are files, relative to the repository, that it loads or reads by
    their name at run time; the imports of modules are included.
    """
    reached: set[str] = set()
    waiting = [f"{SCRIPTS}/{script}", *loads]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [*source(name).imports, *packages(name)]
    return tuple(sorted(reached))


class Code(TypedDict):
    """The code of a job: its script as a module of Python, and the files of the repository that it loads by name."""

    module: str
    loads: list[str]
    digest: str


@cache
def code_digest(script: str, *loads: str) -> str:
    """The SHA-256 of the meaning of a script (relative to scripts/) and all its modules."""
    return _digest(behind(script, *loads))


def _digest(files: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{source(path).digest}  {path}\n" for path in files).encode()).hexdigest()


def job_code(script: str, *loads: str) -> Code:
    """The parameter `code` of a job; the script is given relative to scripts/."""
    names = sorted(set(loads))
    module = f"{SCRIPTS}/{script}".removesuffix(".py").replace("/", ".")
    return {"module": module, "loads": names, "digest": code_digest(script, *names)}


def is_code(value: object) -> bool:
    """Whether a recorded parameter is a job's code."""
    if not isinstance(value, dict) or value.keys() != Code.__annotations__.keys():
        return False
    texts = [value["module"], value["digest"], *value["loads"]] if isinstance(value["loads"], list) else [None]
    return all(isinstance(text, str) for text in texts)


def _behind(code: Code) -> tuple[str, ...]:
    script = f"{code['module'].removeprefix(f'{SCRIPTS}.').replace('.', '/')}.py"
    return behind(script, *code["loads"])


def modules_behind(code: Code) -> tuple[str, ...]:
    """The script and all modules of a job, as paths in the repository; empty if their meaning has changed."""
    try:
        files = _behind(code)
        same = _digest(files) == code["digest"]
    except (OSError, SyntaxError, ValueError):
        return ()
    return files if same else ()


def noted(codes: Iterable[Code]) -> dict[str, dict[str, tuple[str, str]]]:
    """What the jobs of a run check: module of a script -> file behind it -> its state and the digest of its meaning."""
    files: dict[str, dict[str, tuple[str, str]]] = {}
    for code in codes:
        found = {path: source(path) for path in _behind(code)}
        files.setdefault(code["module"], {}).update({path: (one.state, one.digest) for path, one in found.items()})
    return files


def edited(note: Path) -> str | None:
    """The first file behind the script of this process that means something else than when its run began, if any."""
    script = getattr(sys.modules["__main__"], "__spec__", None)
    files = json.loads(note.read_bytes()).get(script.name, {}) if script and note.exists() else {}
    for path, (state, digest) in files.items():
        with contextlib.suppress(OSError, SyntaxError, ValueError):
            if _state(path) == state or meaning(own_file(path)).digest == digest:
                continue
        return str(path)
    return None
