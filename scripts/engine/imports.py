"""The modules of scripts/ that a script imports: their meaning decides whether its jobs run again.

Reads the source files without running them. Statements `import scripts.…` and `from scripts.… import …` at any depth
are recognised; a module that is loaded by its name at run time (common/plugins.py) must be given too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.engine.syntax import digest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "scripts"


@dataclass(frozen=True)
class Source:
    """One file: the files of scripts/ that it imports directly, and the digest of its meaning."""

    imports: tuple[str, ...]
    digest: str


@cache
def source(path: str) -> Source:
    """The record of one file; all paths are relative to the repository."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"), path)
    names = sorted({name for node in _statements(tree) for name in _modules_named(node)})
    candidates = [f"{name.replace('.', '/')}.py" for name in names]
    imported_packages = [file for name in names for file in packages(f"{name.replace('.', '/')}/__init__.py")]
    files = [*(file for file in candidates if (ROOT / file).is_file()), *imported_packages]
    return Source(tuple(dict.fromkeys(files)), digest(tree))


@cache
def packages(path: str) -> tuple[str, ...]:
    """The files __init__.py that Python runs before a file, without empty ones."""
    files = [f"{folder.as_posix()}/__init__.py" for folder in Path(path).parents if folder != Path()]
    return tuple(
        file for file in files if (ROOT / file).is_file() and (ROOT / file).read_text(encoding="utf-8").strip()
    )


@cache
def behind(script: str, *loads: str) -> tuple[str, ...]:
    """A script and all modules that it imports, directly or indirectly, in order.

    `loads` are files that the script loads by their name at run time; their imports are included. Both are relative to
    scripts/.
    """
    reached: set[str] = set()
    waiting = [f"{PACKAGE}/{file}" for file in (script, *loads)]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [*source(name).imports, *packages(name)]
    return tuple(sorted(reached))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, at any depth, without expressions, which are most of a file and import nothing."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(node, field, None)
        for statement in inner if isinstance(inner, list) else ():
            yield statement
            yield from _statements(statement)


def _modules_named(node: ast.AST) -> Iterator[str]:
    """The modules below scripts/ that an import statement may mean; in `from a import b`, b is a module or a name."""
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        named = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        named = []
    yield from (name for name in named if name.startswith(f"{PACKAGE}."))
