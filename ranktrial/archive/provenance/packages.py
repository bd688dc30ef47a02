"""The packages that are installed in the environment of this process and in each conda environment."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
from pathlib import Path

CONDA = Path(".snakemake/conda")
OWN = "the archive's own"


def installed(folders: list[str] | None = None) -> dict[str, str]:
    """Name -> version of the Python packages in `folders` (None: on this process's path), sorted by name."""
    where = {"path": folders} if folders is not None else {}
    distributions = importlib.metadata.distributions(**where)
    versions = {distribution.metadata["Name"]: distribution.version for distribution in distributions}
    return {name: versions[name] for name in sorted(versions, key=str.lower) if name}


def conda_packages(prefix: Path) -> dict[str, str]:
    """Name -> version of the packages of a conda environment, from conda and pip."""
    versions = {}
    for path in sorted(prefix.glob("conda-meta/*.json")):
        record = json.loads(path.read_text())
        versions[record["name"]] = record["version"]
    return versions | installed([str(path) for path in prefix.glob("lib/python*/site-packages")])


def environments(files: list[Path]) -> dict[str, dict]:
    """Environment -> its packages: OWN, the one of this process (without conda of every job), and those of conda.

    Snakemake keeps the environment of a file under a hash, and a copy of the file beside it.
    """
    system = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.machine()}
    contents_of_environments = {OWN: system | {"packages": installed()}}
    contents = {re.sub(r"\s+", " ", path.read_text()): path.name for path in files}
    for copy in sorted(CONDA.glob("*.yaml")):
        name = contents.get(re.sub(r"\s+", " ", copy.read_text()))
        if name and copy.with_suffix("").is_dir():
            contents_of_environments[f"conda {name}"] = {"packages": conda_packages(copy.with_suffix(""))}
    return contents_of_environments
