"""What data and models are: source, revision, licence, and the SHA-256 of every file that was read or made of them."""

from __future__ import annotations

from pathlib import Path

from scripts.archive.provenance.jobs import hashes
from scripts.archive.provenance.records import Job
from scripts.common.locations import shown
from scripts.experiment.records import UNTRAINED, Experiment
from scripts.experiment.results_paths import path

OF_A_DATASET = ("location", "format", "licence", "sha256", "domain")
OF_A_MODEL = ("weights", "revision", "sha256", "licence", "type")


def identities(experiment: Experiment, jobs: list[Job], left_out: dict[str, dict]) -> dict[str, dict]:
    """Datasets and models by name; a licence that the configuration does not state is null."""
    results = f"results/{experiment.name}"
    makers = {output: job for job in jobs for output in job.outputs}

    def read_by(made: str) -> dict[str, str]:
        """SHA-256 of the files outside the experiment's results from which `made` was made, scripts left out."""
        inputs = makers[made].inputs if made in makers else []
        outside = [Path(one) for one in inputs if not one.startswith(("scripts/", results))]
        return {file.as_posix(): found for one in outside for file, found in hashes(one, left_out).items()}

    def held(folder: str) -> dict[str, str]:
        absent = {Path(name): one["sha256"] for name, one in left_out.items() if name.startswith(f"{folder}/")}
        files = absent | hashes(Path(folder), left_out)
        return {file.relative_to(folder).as_posix(): files[file] for file in sorted(files)}

    datasets, models = {}, {}
    for name, entry in experiment.datasets.items():
        statistics = path("statistics", experiment=experiment.name, dataset=name)
        told = {key: entry.get(key) for key in OF_A_DATASET}
        told["location"] = shown(entry["location"]) if "location" in entry else None
        datasets[name] = told | {"read": read_by(statistics), "prepared": held(str(Path(statistics).parent))}
    for name, entry in experiment.models.items():
        folder = path("checkpoint", experiment=experiment.name, model=name, recipe=UNTRAINED, seed=0)
        told = {key: entry.get(key) for key in OF_A_MODEL} | {"weights": shown(entry["weights"])}
        models[name] = told | {"read": read_by(folder), "files": held(folder)}
    return {"datasets": datasets, "models": models}


def seeds(experiment: Experiment) -> dict:
    """The seed of data preparation and permutations, and those of each system."""
    return {"experiment": experiment.seed, "systems": {name: one.seeds for name, one in experiment.systems.items()}}
