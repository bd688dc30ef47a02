"""Paths, names of downloads and settings of the jobs that fetch and prepare.

Input: the experiment, earlier downloads, and the content of the user's own files. See rules/datasets.smk.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject, given, stated
from ranktrial.common.urls import find_file, in_mirrors, is_remote, key
from ranktrial.configuration.dataset_keys import format_of, options_of
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.engine.downloads import names, place_of, sources
from ranktrial.experiment import job_files
from ranktrial.experiment.records import UNTRAINED, Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.models.endpoint_keys import is_served
from ranktrial.models.model_keys import Model

# Keys of any dataset for prepare
OF_COLLECTION = ("format", "sha256", "splits", "split_by", "drop_shared", "drop_near_duplicates", "strict",
                 "test_queries", "dev_queries", "unjudged", "grades", "document_characters",
                 "own_document")  # fmt: skip
OF_LIBRARY = ("fields", "query_field")  # keys whose values a library can check before anything is fetched
LONGEST = 1_000_000  # tokens: no limit here
FOLDER_KEYS = {"revision", "files"}  # of downloads that are folders


def prepared(experiment: Experiment) -> dict[str, Dataset]:
    """The datasets that are converted to the workflow's layout; external values are not."""
    return {name: dataset for name, dataset in experiment.datasets.items() if not format_of(dataset).values_given}


def reads_with_libraries(experiment: Experiment) -> bool:
    """Whether jobs of the extra `workflow` also need `datasets`: for formats of the hub, ir_datasets, and features."""
    return bool(experiment.features) or any(format_of(dataset).scheme for dataset in experiment.datasets.values())


def generated(experiment: Experiment) -> list[str]:
    """The datasets whose queries are written by a model."""
    return [name for name, dataset in experiment.datasets.items() if format_of(dataset).generated]


def fetched_statistics(experiment: Experiment) -> list[str]:
    """The statistics of all datasets that are read from a location."""
    return [path("statistics", experiment=experiment.name, dataset=name) for name in located(experiment)]


def generator(experiment: Experiment, dataset: str) -> str:
    """The model that writes the queries of a dataset."""
    return str(stated(experiment.datasets[dataset])["generator"])


def generator_checkpoint(experiment: Experiment, dataset: str) -> str:
    """The weights of the generator, or its address."""
    model = generator(experiment, dataset)
    return path("checkpoint", experiment=experiment.name, model=model, recipe=UNTRAINED, seed=0)


def generation_settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The settings of query generation."""
    said = stated(experiment.datasets[dataset])
    model = experiment.models[generator(experiment, dataset)]
    how = {key: said[key] for key in ("sampled_documents", "queries_per_document", "prompt") if key in said}
    length = LONGEST if is_served(model) else model.max_length
    return {**how, "type": model.type, "max_length": length, "batch_size": model.batch_size, "seed": experiment.seed}


def without_corpus(experiment: Experiment) -> list[str]:
    """The datasets with queries of their own that share another's corpus."""
    return [name for name, dataset in located(experiment).items() if dataset.corpus]


def located(experiment: Experiment) -> dict[str, Dataset]:
    """The datasets with a location: not those whose judgements or queries are made here."""
    return {name: dataset for name, dataset in experiment.datasets.items() if format_of(dataset).has_files}


def judgements_only(experiment: Experiment) -> list[str]:
    """The datasets with a location and neither documents nor queries."""
    return [name for name, dataset in located(experiment).items() if not format_of(dataset).has_documents]


def whole(experiment: Experiment) -> list[str]:
    """The datasets with a corpus and queries of their own."""
    parts = [*judgements_only(experiment), *without_corpus(experiment)]
    return [name for name in located(experiment) if name not in parts]


def statistics(experiment: Experiment) -> list[str]:
    """The statistics of all datasets."""
    return [path("statistics", experiment=experiment.name, dataset=dataset) for dataset in prepared(experiment)]


def word_pieces(experiment: Experiment) -> list[str]:
    """The counts of word pieces of all datasets with documents, if a tokenizer is configured."""
    named = [name for name, dataset in prepared(experiment).items() if format_of(dataset).has_documents]
    counted = named if experiment.word_pieces else []
    return [path("word_pieces", experiment=experiment.name, dataset=dataset) for dataset in counted]


def tokenizer(experiment: Experiment) -> str:
    """The folder of the model whose tokenizer counts word pieces."""
    return path("checkpoint", experiment=experiment.name, model=experiment.word_pieces, recipe=UNTRAINED, seed=0)


def shared_corpus(experiment: Experiment, dataset: str) -> str | list[str]:
    """The corpus of the dataset whose documents this one shares, if it names one."""
    return job_files.corpus(experiment, dataset) if dataset in without_corpus(experiment) else []


def excluded(experiment: Experiment, dataset: str) -> str | list[str]:
    """The file of excluded documents of a dataset, local or in a mirror, if it names one."""
    return excluded_file(experiment, dataset) or []


def excluded_file(experiment: Experiment, dataset: str) -> str | None:
    """The same; None if it names none."""
    named = experiment.datasets[dataset].excluded
    return find_file(named, experiment.mirrors) if named else None


def ranked_queries(experiment: Experiment, dataset: str) -> list[str]:
    """The queries, one file per split, of the dataset whose runs are scored by this one's judgements, if any."""
    owner = experiment.datasets[dataset].runs_of
    return job_files.all_queries(experiment, owner) if owner else []


def place(experiment: Experiment, dataset: str) -> tuple[str, str | None]:
    """A dataset's location and, for a library's, its ids."""
    return place_of(experiment.datasets[dataset])


def dataset_settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The settings of a dataset's preparation."""
    entry = experiment.datasets[dataset]
    of_collection = {key: value for key, value in given(entry).items() if key in OF_COLLECTION}
    return {**of_collection, "options": options_of(entry), "seed": experiment.seed}


def split_settings(experiment: Experiment, dataset: str, length: str) -> JsonObject:
    """The settings of splitting texts into passages."""
    return {"length": int(length), "language": experiment.datasets[dataset].language}


@dataclass(frozen=True)
class Sources:
    """The files behind locations: `wanted` is what is fetched for each, `names` the names of downloads."""

    wanted: dict[tuple[str, str | None], dict]
    names: dict[str, str]

    def place(self, location: str, revision: str | None = None) -> str:
        """The download of a location, or the location itself."""
        fetch = self.wanted.get((location, None)) or self.wanted.get((location, revision))
        return path("download", download=self.names[_text(fetch)]) if fetch else location

    def fetched(self) -> dict[str, dict]:
        """What is fetched, by its name."""
        return {self.names[_text(fetch)]: fetch for fetch in self.wanted.values()}

    def folders(self) -> list[str]:
        """The names of what is fetched as a folder."""
        return [name for name, fetch in self.fetched().items() if FOLDER_KEYS & set(fetch)]

    def files(self) -> list[str]:
        """The names of what is fetched as a file."""
        return [name for name, fetch in self.fetched().items() if not FOLDER_KEYS & set(fetch)]

    def how(self, mirrors: Iterable[str]) -> JsonObject:
        """How things are fetched, which does not affect their content: mirrors and full addresses."""
        addresses = {
            self.names[_text(fetch)]: location
            for (location, _), fetch in self.wanted.items()
            if location != key(location)
        }
        return {"mirrors": mirrors, "addresses": addresses}

    def settings(self, location: str, revision: str | None = None) -> JsonObject:
        """The path from which a job reads a location."""
        return {"source": self.place(location, revision)}

    def inputs(self, location: str, revision: str | None = None) -> str | list[str]:
        """The inputs of a job for a location: a fetched file or folder, a file, or the files of a user's own folder.

        Of that folder only the files' contents count, since its date changes where it is copied. Raises UserError for a
        file whose name Snakemake cannot take.
        """
        place = Path(self.place(location, revision))
        if not (place.is_dir() and str(place) == location):
            return str(place)
        files = sorted(map(str, files_below(place).values()))
        if odd := next((file for file in files if re.search("[{}<>]", file)), None):
            raise UserError(f"{odd!r}: Snakemake would take {{ }} < > for wildcards; give the file another name")
        return files

    def needed(self, experiment: Experiment) -> Iterator[dict]:
        """The datasets and models with all that fetching them depends on, and their downloads if not local."""
        places = {f"datasets.{name}": place_of(entry) for name, entry in located(experiment).items()}
        places |= {f"models.{name}": (entry.weights, entry.revision) for name, entry in _here(experiment).items()}
        fetched = self.fetched()
        for name, (location, revision) in places.items():
            place, entry = self.place(location, revision), experiment.datasets.get(name.removeprefix("datasets."))
            if place == location:
                yield {"name": name, "location": location, "named": _named(entry)}
            else:
                read = {key: value for key, value in given(entry).items() if key in OF_LIBRARY} if entry else {}
                yield {"name": name, **fetched[Path(place).name], **read, "location": location, "download": place}


def sources_of(
    experiment: Experiment, config_file: str, content: Callable[[str], str | None], before: dict[str, dict]
) -> Sources:
    """The sources of an experiment's datasets and models.

    `content` returns the SHA-256 of a user's file, `before` has the names of earlier downloads. Raises UserError,
    beginning with `config_file`, if two entries expect different files at one location.
    """
    fetches = sources(located(experiment), _here(experiment), config_file)
    with_content = {place: _with_content(entry, experiment.mirrors, content) for place, entry in fetches.items()}
    distinct = {_text(entry): entry for entry in with_content.values()}
    return Sources(with_content, dict(zip(distinct, names(distinct.values(), before), strict=True)))


def _here(experiment: Experiment) -> dict[str, Model]:
    """The models with weights: not those behind an endpoint."""
    return {name: entry for name, entry in experiment.models.items() if not is_served(entry)}


def _named(entry: Dataset | None) -> list[str]:
    """The files below its location that a dataset names, documents possibly as patterns."""
    splits = [file for key in ("topics", "qrels") for file in (getattr(entry, key, None) or {}).values()]
    return [*(getattr(entry, "documents", None) or ()), *splits]


def _with_content(fetch: dict, mirrors: Iterable[str], content: Callable[[str], str | None]) -> dict:
    """What is fetched, with the content of a user's own file in a mirror that has no SHA-256 in the configuration."""
    if {"sha256", "files", "revision"} & set(fetch) or is_remote(fetch["location"]):
        return fetch
    mirrored = next(in_mirrors(mirrors, glob.escape(Path(fetch["location"]).name)), None)
    sha256 = content(str(mirrored)) if mirrored else None
    return fetch | ({"content": sha256} if sha256 else {})


def _text(fetch: dict) -> str:
    return json.dumps(fetch, sort_keys=True)
