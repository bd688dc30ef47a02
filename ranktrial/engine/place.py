"""The paths of the workflow's own files in its rules, in a clone and as a module of another workflow."""

from __future__ import annotations

import os
from pathlib import Path


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
