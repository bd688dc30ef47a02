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
STEM = re.compile(r"\$\(echo (\S+)\.svg \| sed 's/\[\.\]svg\$//'\)")
FOLDER = re.compile(r"\$\(dirname ([^\s()]+)\)")
TEE = re.compile(r" 2>&1 \| tee \S+$")
SETTINGS = "--settings"
OPTION = re.compile(r"--[a-z][a-z-]*")


def script_of(command: str) -> str | None:
    """The script that a command runs, as a path in the repository; None if it runs none."""
    found = re.search(r"(?:^|\s)(scripts/[\w/]+\.py)(?:\s|$)", command)
    return found and found[1]


def stage_of(script: str) -> str:
    return PurePosixPath(script).parts[1] if script.count("/") == 2 else ""


def words_of(command: str) -> list[str] | None:
    """The words of a command as a shell would see them, or None where it is no command of a rule."""
    command = FOLDER.sub(lambda found: str(PurePosixPath(found[1]).parent), STEM.sub(r"\1", command))
    try:
        return shlex.split(TEE.sub("", command))
    except ValueError:
        return None


def arguments(command: str) -> list[str] | None:
    """The script and its arguments, or None where the command is not of the kind that may run here."""
    words = words_of(command) or []
    if len(words) < 2 or words[0] != "python" or stage_of(words[1]) not in RECOMPUTED or ".." in words[1]:
        return None
    previous = ""
    for word in words[2:]:
        path = PurePosixPath(word)
        if previous == SETTINGS:
            if settings(word) is None:
                return None
        elif word.startswith("-"):
            if not OPTION.fullmatch(word):
                return None
        elif path.is_absolute() or ".." in path.parts or "$(" in word or "`" in word:
            return None
        previous = word
    return words[1:]


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
    return all(a == b or (before == SETTINGS and settings(a) == settings(b)) for before, a, b in pairs)
