"""The identity of data and models (source, revision, licence, SHA-256 of each file), seeds and packages."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
from pathlib import Path

from ranktrial.archive.jobs import Job, hashes
from ranktrial.common.paths import OUR_CODE
from ranktrial.common.urls import shown
from ranktrial.experiment.judged import origin
from ranktrial.experiment.records import UNTRAINED, Experiment
from ranktrial.experiment.results_paths import path

OF_A_DATASET = ("location", "revision", "subset", "format", "licence", "sha256", "domain", "own_document", "excluded")
OF_A_MODEL = ("weights", "revision", "sha256", "licence", "type")
CONDA = Path(".snakemake/conda")
OWN = "the archive's own"


def identities(experiment: Experiment, jobs: list[Job], left_out: dict[str, dict]) -> dict[str, dict]:
    """Datasets and models by name; a licence that the configuration does not state is null."""
    results = f"results/{experiment.name}"
    makers = {output: job for job in jobs for output in job.outputs}

    def read_by(made: str) -> dict[str, str]:
        """SHA-256 of the files outside the experiment's results from which `made` was made, without scripts."""
        inputs = makers[made].inputs if made in makers else []
        outside = [Path(name) for name in inputs if not name.startswith((*OUR_CODE, results))]
        return {file.as_posix(): digest for place in outside for file, digest in hashes(place, left_out).items()}

    def held(folder: str) -> dict[str, str]:
        absent = {Path(name): entry["sha256"] for name, entry in left_out.items() if name.startswith(f"{folder}/")}
        files = absent | hashes(Path(folder), left_out)
        return {file.relative_to(folder).as_posix(): files[file] for file in sorted(files)}

    datasets, models = {}, {}
    for name, entry in experiment.datasets.items():
        statistics = path("statistics", experiment=experiment.name, dataset=name)
        stated = {key: getattr(entry, key, None) for key in OF_A_DATASET}
        stated["location"] = origin(entry) if entry.location or getattr(entry, "judge", None) else None
        datasets[name] = stated | {"read": read_by(statistics), "prepared": held(str(Path(statistics).parent))}
    for name, entry in experiment.models.items():
        folder = path("checkpoint", experiment=experiment.name, model=name, recipe=UNTRAINED, seed=0)
        stated = {key: getattr(entry, key) for key in OF_A_MODEL} | {"weights": shown(entry.weights)}
        models[name] = stated | {"read": read_by(folder), "files": held(folder)}
    return {"datasets": datasets, "models": models}


def seeds(experiment: Experiment) -> dict:
    """The seed of data preparation and permutations, and those of each system."""
    of_systems = {name: system.seeds for name, system in experiment.systems.items()}
    return {"experiment": experiment.seed, "systems": of_systems}


def installed(folders: list[str] | None = None) -> dict[str, str]:
    """Name -> version of the Python packages in `folders` (None: on this process's path), sorted by name."""
    where = {"path": folders} if folders is not None else {}
    distributions = importlib.metadata.distributions(**where)
    versions = {distribution.metadata["Name"]: distribution.version for distribution in distributions}
    return {name: versions[name] for name in sorted(versions, key=str.lower) if name}


def conda_packages(prefix: Path) -> dict[str, str]:
    """Name -> version of the packages of a conda environment, from conda and pip."""
    versions = {}
    for file in sorted(prefix.glob("conda-meta/*.json")):
        record = json.loads(file.read_text())
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
