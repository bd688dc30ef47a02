"""What rule files share: a job's settings and inputs as text, constraints of wildcards, paths of our own files.

Reads and writes nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake.io import strip_wildcard_constraints

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACES = {"{": "\\u007b", "}": "\\u007d"}
TESTED = (9, 27)


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that allows these names and no other (nothing at all if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def options(inputs: Any) -> list[str]:
    """The named inputs of a job as options of its script, without inputs that this job does not have."""
    words = []
    for name, files in inputs.items():
        words += [f"--{name.replace('_', '-')}", *([files] if isinstance(files, str) else files)]
    return words


def message_of(log: str) -> str:
    """The message of a job, with wildcards: the path of its log below logs/ in words."""
    words = strip_wildcard_constraints(log).partition("/logs/")[2].removesuffix(".log")
    return str(words.replace("/", " ").replace("{", "{wildcards."))


def settings(**values: Any) -> str:
    """A JSON object with sorted keys, so that only a changed value reruns the job.

    Braces in texts (labels, titles) are written as JSON escapes, since Snakemake would read {them} as wildcards.
    """
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return STRING.sub(lambda string: re.sub("[{}]", lambda brace: BRACES[brace[0]], string[0]), text)


def as_module(repository: Path, main_snakefile: Path, working_folder: Path) -> bool:
    """Whether another workflow uses this one as a module."""
    return repository not in (main_snakefile.resolve().parent, working_folder.resolve())


def path_to_repository(repository: Path, working_folder: Path) -> str:
    """The prefix of `scripts/…` in the inputs of rules: empty where the working folder has the repository's scripts.

    So records and archives of a clone are valid in any other clone. Elsewhere (with --directory, or as a module of
    another workflow), scripts are named relative to the working folder if they are below it, else by their full path.
    """
    if (working_folder / "scripts").resolve() == repository / "scripts":
        return ""
    below = repository.is_relative_to(working_folder.resolve())
    return os.path.relpath(repository, working_folder.resolve()) if below else str(repository)


def newer_than_tested(version: str) -> str | None:
    """A warning if this version of Snakemake is newer than the tested one; else None."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers or tuple(map(int, numbers.groups())) <= TESTED:
        return None
    tested = ".".join(map(str, TESTED))
    return f"Snakemake {version} is newer than {tested}, with which this workflow was tested"
