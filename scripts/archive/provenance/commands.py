"""Commands taken apart, without a shell: which script ran with which arguments.

Commands are not trusted: only scripts of the stages below run, with their job's own files as arguments and no others.
"""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise
from pathlib import PurePosixPath

RECOMPUTED = ("selection", "evaluation", "synthesis", "reports")  # stages that need neither texts nor models
LOG = re.compile(r"( --log| 2>&1 \| tee) \S+$")  # `tee` in records that are older than --log
SETTINGS = "--settings"
# Settings that state what the user's data held: those of a plan are of stand-ins, and the manifest has the hashes.
OF_CONTENT = ("sha256_of", "content")
OPTION = re.compile(r"--[a-z][a-z-]*")


def script_of(command: str) -> str | None:
    """The script that a command runs, as a path in the repository; None if it runs none."""
    found = re.search(r"(?:^|\s)(scripts/[\w/]+\.py)(?:\s|$)", command)
    return found and found[1]


def stage_of(script: str) -> str:
    return PurePosixPath(script).parts[1] if script.count("/") == 2 else ""


def words_of(command: str) -> list[str] | None:
    """The words of a command as a shell would see them, or None where it is no command of a rule."""
    try:
        return shlex.split(LOG.sub("", command))
    except ValueError:
        return None


def arguments(command: str) -> list[str] | None:
    """The script and its arguments, or None where the command is not of the kind that may run here."""
    words = words_of(command) or []
    if len(words) < 2 or words[0] != "python" or stage_of(words[1]) not in RECOMPUTED or ".." in words[1]:
        return None
    previous, kept = "", words[1:2]
    for word in words[2:]:
        path = PurePosixPath(word)
        if previous == SETTINGS:
            if (asked := settings(word)) is None:
                return None
            word = json.dumps(without_content(asked), sort_keys=True, ensure_ascii=False) if asked else word
        elif word.startswith("-"):
            if not OPTION.fullmatch(word):
                return None
        elif path.is_absolute() or ".." in path.parts or "$(" in word or "`" in word:
            return None
        previous = word
        kept.append(word)
    return kept


def without_content(settings: dict) -> dict:
    """A job's settings less what they state of the content of the user's data."""
    return {key: value for key, value in settings.items() if key not in OF_CONTENT}


def settings_in(words: list[str]) -> dict | None:
    """The settings among the words of a command, if it has any."""
    return next((settings(after) for before, after in pairwise(words) if before == SETTINGS), None)


def settings(text: str) -> dict | None:
    """A job's settings, or None where the text is no JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def same(command: str, other: str) -> bool:
    """Whether two commands are the same; settings may be written in another order."""
    ours, theirs = words_of(command), words_of(other)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    pairs = zip(["", *ours], ours, theirs, strict=False)
    return all(a == b or (before == SETTINGS and _meant(a) == _meant(b)) for before, a, b in pairs)


def _meant(text: str) -> dict | None:
    found = settings(text)
    return found and without_content(found)
