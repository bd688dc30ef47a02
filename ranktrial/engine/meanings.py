"""What a source means, kept beside its compiled form: planning parses only the sources that have changed.

Reads a source, and reads and writes `__pycache__/….meaning`: a checksum, the digest of the meaning, the modules named
in imports. The checksum is of these, the source's text, the Python and the code that finds the meaning. As compiled
modules, none is written where Python is told so (PYTHONDONTWRITEBYTECODE) or the folder cannot be written.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ranktrial.engine import syntax

SCRIPTS = "scripts"
PACKAGES = (SCRIPTS, "ranktrial")


class Meaning(NamedTuple):
    """The digest of a source's meaning, and our modules that its import statements may name."""

    digest: str
    names: tuple[str, ...]


def meaning(path: Path) -> Meaning:
    """The meaning of a source: as kept for exactly this text, or found and kept."""
    text = path.read_bytes()
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
    return Meaning(syntax.digest(tree), tuple(sorted(names)))


@cache
def _finder() -> bytes:
    """The Python and the code that find a meaning: others may find another one."""
    sources = (Path(file).read_bytes() for file in (__file__, syntax.__file__))
    return hashlib.sha256(b"\0".join((sys.version.encode(), *sources))).digest()


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
