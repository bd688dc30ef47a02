"""The modules of scripts/ and ranktrial/ that a script imports: their meaning decides whether its jobs run again.

Reads the source files without running them. Statements `import …` and `from … import …` at any depth
are recognised; a module that is loaded by its name at run time (common/plugins.py) must be given too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ranktrial.engine.meanings import SCRIPTS, meaning

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Source:
    """One file: the files of both packages that it imports directly, and the digest of its meaning."""

    imports: tuple[str, ...]
    digest: str


@cache
def source(path: str) -> Source:
    """The record of one file; all paths are relative to the repository."""
    found = meaning(ROOT / path)
    bases = [name.replace(".", "/") for name in found.names]
    files = [f"{base}.py" for base in bases if (ROOT / f"{base}.py").is_file()]
    imported_packages = [file for base in bases for file in packages(f"{base}/__init__.py")]
    return Source(tuple(dict.fromkeys([*files, *imported_packages])), found.digest)


@cache
def packages(path: str) -> tuple[str, ...]:
    """The files __init__.py that Python runs before a file, without empty ones."""
    folder = path.rpartition("/")[0]
    if not folder:
        return ()
    file = f"{folder}/__init__.py"
    counts = (ROOT / file).is_file() and (ROOT / file).read_text(encoding="utf-8").strip()
    return (*([file] if counts else []), *packages(folder))


@cache
def behind(script: str, *loads: str) -> tuple[str, ...]:
    """A script and all modules that it imports, directly or indirectly, in order.

    The script is given relative to scripts/. `loads` are files, relative to the repository, that it loads by their name
    at run time; their imports are included.
    """
    reached: set[str] = set()
    waiting = [f"{SCRIPTS}/{script}", *loads]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [*source(name).imports, *packages(name)]
    return tuple(sorted(reached))
