"""The modules of scripts/ that a script imports: they are inputs of its job, so that their content decides reruns.

Reads the source files and runs none of them. Only statements at any depth of the form `import scripts.…` and
`from scripts.… import …` are seen; a module that is loaded by its name at run time (see doors) has to be given as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "scripts"


@cache
def imported(path: str) -> tuple[str, ...]:
    """The files of scripts/ that one file imports itself; all paths are relative to the repository."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"), path)
    names = {name for node in _statements(tree) for name in _modules_named(node)}
    candidates = [f"{name.replace('.', '/')}.py" for name in sorted(names)]
    imported_packages = [file for name in sorted(names) for file in packages(f"{name.replace('.', '/')}/__init__.py")]
    return tuple(dict.fromkeys([*(file for file in candidates if (ROOT / file).is_file()), *imported_packages]))


def modules(*paths: str) -> list[str]:
    """The files of scripts/ that these files import, directly or through others, in order."""
    reached: set[str] = set()
    waiting = [name for path in paths for name in (*imported(path), *packages(path))]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [*imported(name), *packages(name)]
    return sorted(reached)


@cache
def packages(path: str) -> tuple[str, ...]:
    """The files __init__.py that Python runs before a file, those without a text left out."""
    files = [f"{folder.as_posix()}/__init__.py" for folder in Path(path).parents if folder != Path()]
    return tuple(
        file for file in files if (ROOT / file).is_file() and (ROOT / file).read_text(encoding="utf-8").strip()
    )


def code(script: str, *further: str) -> dict[str, str | list[str]]:
    """The inputs `script` and `modules` of a rule that runs a script; all paths are relative to scripts/.

    `further` are files that the script loads at run time by their name, and whose imports count as well.
    """
    path, loaded = f"{PACKAGE}/{script}", [f"{PACKAGE}/{file}" for file in further]
    return {"script": path, "modules": sorted({*loaded, *modules(path, *loaded)})}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, at any depth; not their expressions, which are most of a file and import nothing."""
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
