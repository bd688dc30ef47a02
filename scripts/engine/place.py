"""Where the workflow's own files lie, as its rules name them, in a clone and as a module of another workflow."""

from __future__ import annotations

import os
from pathlib import Path


def path_to_repository(repository: Path, main_snakefile: Path, working_folder: Path) -> str:
    """What comes before `scripts/…` in the inputs of rules: nothing where this repository is what Snakemake runs.

    So records and archives of a clone hold for any other clone. Where another workflow takes this one as a module, its
    scripts are named from the folder in which Snakemake runs if they lie below it, and by their full path if not.
    """
    if repository in (main_snakefile.resolve().parent, working_folder.resolve()):
        return ""
    below = repository.is_relative_to(working_folder.resolve())
    return os.path.relpath(repository, working_folder.resolve()) if below else str(repository)
