"""The identity of data and models: source, revision, licence, and the SHA-256 of each file that was read or made."""

from __future__ import annotations

from pathlib import Path

from ranktrial.archive.provenance.jobs import hashes
from ranktrial.archive.provenance.records import Job
from ranktrial.common.locations import shown
from ranktrial.common.paths import OUR_CODE
from ranktrial.experiment.judged import origin
from ranktrial.experiment.records import UNTRAINED, Experiment
from ranktrial.experiment.results_paths import path

OF_A_DATASET = ("location", "revision", "subset", "format", "licence", "sha256", "domain", "own_document", "excluded")
OF_A_MODEL = ("weights", "revision", "sha256", "licence", "type")


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
