"""The code of a job, as a parameter of its rule: the script, what it loads by name, and a digest of their meaning.

Snakemake thus runs a job again if the meaning of its code changes, whatever the dates of the files. Reads the sources
of scripts/ and ranktrial/.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TypedDict

from ranktrial.engine.imports import SCRIPTS, behind, source


class Code(TypedDict):
    """The code of a job: the path of its script, and the files of the repository that it loads by name."""

    script: str
    loads: list[str]
    digest: str


@cache
def code_digest(script: str, *loads: str) -> str:
    """The SHA-256 of the meaning of a script (relative to scripts/) and all its modules."""
    lines = [f"{source(path).digest}  {path}\n" for path in behind(script, *loads)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def job_code(script: str, *loads: str) -> Code:
    """The parameter `code` of a job; the script is given relative to scripts/."""
    names = sorted(set(loads))
    return {"script": f"{SCRIPTS}/{script}", "loads": names, "digest": code_digest(script, *names)}


def is_code(value: object) -> bool:
    """Whether a recorded parameter is a job's code."""
    if not isinstance(value, dict) or value.keys() != Code.__annotations__.keys():
        return False
    texts = [value["script"], value["digest"], *value["loads"]] if isinstance(value["loads"], list) else [None]
    return all(isinstance(text, str) for text in texts)


def modules_behind(code: Code) -> tuple[str, ...]:
    """The script and all modules of a job, as paths in the repository; empty if their meaning has changed."""
    script = code["script"].removeprefix(f"{SCRIPTS}/")
    try:
        same = code_digest(script, *code["loads"]) == code["digest"]
    except (OSError, SyntaxError, ValueError):
        return ()
    return behind(script, *code["loads"]) if same else ()
