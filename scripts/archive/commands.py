"""Recorded commands taken apart, without a shell: which script ran with which arguments.

An archive's commands are not trusted: only scripts of the stages below run, and only with paths inside results/.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

RECOMPUTED = ("selection", "evaluation", "synthesis", "reports")  # stages that need neither texts nor models
STEM = re.compile(r"\$\(echo (\S+)\.svg \| sed 's/\[\.\]svg\$//'\)")
FOLDER = re.compile(r"\$\(dirname (\S+)\)")
TEE = re.compile(r" 2>&1 \| tee \S+$")


def script_of(command: str) -> str | None:
    """The script that a command runs, as a path in the repository; None if it runs none."""
    found = re.search(r"(?:^|\s)(scripts/[\w/]+\.py)(?:\s|$)", command)
    return found and found[1]


def stage_of(script: str) -> str:
    return PurePosixPath(script).parts[1] if script.count("/") == 2 else ""


def arguments(command: str) -> list[str] | None:
    """The script and its arguments, or None where the command is not of the kind that may run here."""
    command = FOLDER.sub(lambda found: str(PurePosixPath(found[1]).parent), STEM.sub(r"\1", command))
    words = shlex.split(TEE.sub("", command))
    if len(words) < 2 or words[0] != "python" or stage_of(words[1]) not in RECOMPUTED or ".." in words[1]:
        return None
    for word in words[2:]:
        path = PurePosixPath(word)
        if not word.startswith(("--", "{")) and (path.is_absolute() or ".." in path.parts or "$(" in word):
            return None
    return words[1:]
