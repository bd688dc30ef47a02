"""Names of datasets and systems, derived from file names; reads and writes nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from ranktrial.common.errors import UserError
from ranktrial.common.unpacking import PACKINGS

LONGEST = 100
_ENDING = re.compile(r"(?<=.)\.[A-Za-z]{1,6}$")
_OF_QRELS = re.compile(r"(^|[-_.])(qrels?|judge?ments?|relevance|test)(?=[-_.]|$)", re.IGNORECASE)
_SAMPLES = re.compile(r"samples_(.+)_20\d\d-\d\d-\d\dT[0-9.-]+")  # of lm-evaluation-harness: the task
Naming = Callable[[str, str], str]  # file and its task -> the system's name, empty if none


def as_name(text: str) -> str:
    """Return a text as a name in a configuration; empty if no character of it is allowed there."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("._-")[:LONGEST]
    return re.sub(r"\.resume$", "-resume", name)  # that ending is of unfinished jobs


def stem(file: str) -> str:
    """Return a file's name without folders and suffixes."""
    name = PurePosixPath(file).name
    for packing in PACKINGS[1:]:
        name = name.removesuffix(packing)
    plain = _ENDING.sub("", name)
    of_samples = _SAMPLES.fullmatch(plain)
    return of_samples[1] if of_samples else plain


def task_of_qrels(file: str, folder: str) -> str:
    """Return the task of a file of judgements: its name without words such as qrels, or else that of its folder."""
    own = _OF_QRELS.sub("", stem(file)).strip("._-")
    parents = [parent for parent in PurePosixPath(file).parent.parts if not _OF_QRELS.fullmatch(parent)]
    return own or (parents[-1] if parents else folder)


def systems_of(task_of: Mapping[str, str], where: str) -> dict[str, str]:
    """Return file -> the system's name: the part of the path that distinguishes the files of a task.

    `task_of` maps files to tasks. Raises UserError if no part distinguishes them.
    """
    namings: list[Naming] = [_by_file, _by_folder, _by_path]
    tried = [{file: naming(file, task) for file, task in task_of.items()} for naming in namings]
    fitting = [names for names in tried if all(names.values()) and _are_unique(names, task_of)]
    if not fitting:
        raise UserError(f"{where}: the files of a task have the same name but for signs; rename them")
    return min(fitting, key=lambda names: len(set(names.values())))


def _are_unique(names: Mapping[str, str], task_of: Mapping[str, str]) -> bool:
    return len({(name, task_of[file]) for file, name in names.items()}) == len(names)


def _without(text: str, task: str) -> str:
    return as_name(re.sub(re.escape(task), "", text, flags=re.IGNORECASE).strip("._-"))


def _by_file(file: str, task: str) -> str:
    return _without(stem(file), task)


def _by_folder(file: str, task: str) -> str:
    return _without(PurePosixPath(file).parent.name, task)


def _by_path(file: str, task: str) -> str:
    parts = [*PurePosixPath(file).parent.parts, stem(file)]
    return as_name("-".join(filter(None, (_without(part, task) for part in parts))))
