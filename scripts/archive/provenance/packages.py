"""The packages that are really installed: in the environment of this process, and in each conda environment."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
import sys
from pathlib import Path

CONDA = Path(".snakemake/conda")
OWN = "the archive's own"


def installed(folders: list[str] | None = None) -> dict[str, str]:
    """Name -> version of the Python packages in `folders` (this process's own path without), sorted."""
    where = {"path": folders} if folders is not None else {}
    found = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions(**where)}
    return {name: found[name] for name in sorted(found, key=str.lower) if name}


def conda_packages(prefix: Path) -> dict[str, str]:
    """Name -> version (conda's and pip's) of what a conda environment holds."""
    found = {}
    for path in sorted(prefix.glob("conda-meta/*.json")):
        record = json.loads(path.read_text())
        found[record["name"]] = record["version"]
    return found | installed([str(path) for path in prefix.glob("lib/python*/site-packages")])


def environments(files: list[Path]) -> dict[str, dict]:
    """What each environment holds: OWN (in which this runs; without conda that of every job), and conda's by file.

    Snakemake keeps the environment of a file under a hash and beside it a copy of the file.
    """
    system = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.machine()}
    found = {OWN: system | {"packages": installed()}}
    contents = {re.sub(r"\s+", " ", path.read_text()): path.name for path in files}
    for copy in sorted(CONDA.glob("*.yaml")):
        name = contents.get(re.sub(r"\s+", " ", copy.read_text()))
        if name and copy.with_suffix("").is_dir():
            found[f"conda {name}"] = {"packages": conda_packages(copy.with_suffix(""))}
    return found


def interpreter() -> str:
    """The Python that runs, in words."""
    return f"{sys.implementation.name} {platform.python_version()}"
