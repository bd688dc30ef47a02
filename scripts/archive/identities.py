"""What data and models are: source, revision, licence, and the SHA-256 of every file that was read or made of them."""

from __future__ import annotations

from pathlib import Path

from scripts.archive.jobs import file_sha256, files_of
from scripts.archive.records import Job
from scripts.common.experiment import UNTRAINED, Experiment

OF_A_DATASET = ("location", "format", "licence", "sha256", "domain")
OF_A_MODEL = ("weights", "revision", "sha256", "licence", "type")


def identities(experiment: Experiment, jobs: list[Job]) -> dict[str, dict]:
    """Datasets, models and downloads by name; a licence that the configuration does not state is null."""
    results = f"results/{experiment.name}"
    makers = {path: job for job in jobs for path in job.outputs}

    def read_by(path: str) -> dict[str, str]:
        """SHA-256 of the files outside the experiment's results from which `path` was made, scripts left out."""
        inputs = makers[path].inputs if path in makers else []
        outside = [one for one in inputs if not one.startswith(("scripts/", results))]
        return {str(file): file_sha256(file) for one in outside for file in files_of(Path(one))}

    datasets = {
        name: {key: entry.get(key) for key in OF_A_DATASET}
        | {
            "read": read_by(f"{results}/data/{name}/statistics.json"),
            "prepared": _hashes(f"{results}/data/{name}"),
        }
        for name, entry in experiment.datasets.items()
    }
    models = {
        name: {key: entry.get(key) for key in OF_A_MODEL}
        | {
            "read": read_by(f"{results}/models/{name}/{UNTRAINED}/seed-0"),
            "weights_files": _hashes(f"{results}/models/{name}/{UNTRAINED}/seed-0"),
        }
        for name, entry in experiment.models.items()
    }
    return {"datasets": datasets, "models": models}


def _hashes(folder: str) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_sha256(path) for path in files_of(Path(folder))}


def seeds(experiment: Experiment) -> dict:
    """The seed of data preparation and permutations, and those of each system."""
    return {"experiment": experiment.seed, "systems": {name: one.seeds for name, one in experiment.systems.items()}}
