"""The paths of the workflow's own files in its rules, in a clone and as a module of another workflow."""

from __future__ import annotations

import os
from pathlib import Path


def path_to_repository(repository: Path, main_snakefile: Path, working_folder: Path) -> str:
    """The prefix of `scripts/…` in the inputs of rules: empty if Snakemake runs this repository.

    So records and archives of a clone are valid in any other clone. If another workflow uses this one as a module, its
    scripts are named relative to the folder in which Snakemake runs if they are below it, else by their full path.
    """
    if repository in (main_snakefile.resolve().parent, working_folder.resolve()):
        return ""
    below = repository.is_relative_to(working_folder.resolve())
    return os.path.relpath(repository, working_folder.resolve()) if below else str(repository)
