"""Checks of single sections of a configuration: measures, datasets, recipes, published numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import wrong_keys
from ranktrial.common.urls import find_file, shown
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of, formats, given_measure
from ranktrial.configuration.location_checks import check_location, check_mirrors
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.configuration.sections.recipe import UNTRAINED, Recipe
from ranktrial.engine.job_records import STATE
from ranktrial.experiment.datasets import check_carved, check_near_duplicates, check_samples, check_training_queries
from ranktrial.experiment.printed_cells import read_mapping
from ranktrial.experiment.recipe_checks import check_evaluation, check_examples, check_training
from ranktrial.ir.means import reserved
from ranktrial.models.adapters import adapters, writes
from ranktrial.models.losses import resolve_loss

HINTS = ("name a teacher", "did you mean")  # the most helpful messages about a loss that fits no model type, best first
SHARED_FOLDERS = ("downloads", STATE)


def check_name(check: Checker) -> None:
    """Raise UserError if the experiment's folder is one that all experiments share."""
    name = check.config.experiment
    if name in SHARED_FOLDERS:
        raise check.fail("experiment", f"{name!r} is a folder that all experiments share; choose another name")


def check_keys(check: Checker) -> None:
    """Raise UserError for a key that does not go with the other keys of its entry."""
    entries: dict[str, Any] = {"": check.config}
    for section, value in vars(check.config).items():
        named = value.items() if isinstance(value, Mapping) else ()
        entries |= {f"{section}.{name}.": entry for name, entry in named if is_dataclass(entry)}
    for place, entry in entries.items():
        for key, problem in wrong_keys(entry):
            raise check.fail(place + key, problem)


def check_labels(check: Checker, labels: dict[str, str], section: str) -> None:
    """Raise UserError if two entries of a section have the same label; `labels` maps names to labels."""
    first: dict[str, str] = {}
    for name, label in labels.items():
        if first.setdefault(label, name) != name:
            raise check.fail(section, f"{first[label]} and {name} have the same label {label!r}")


def check_measures(check: Checker) -> None:
    """Raise UserError unless ir-measures knows each measure and it can be computed here."""
    for name in check.config.measures:
        check.computable("measures", name, of_one_run=False)


def check_datasets(check: Checker) -> None:
    """Check the location of each dataset, and its keys against each other and against other datasets."""
    check_mirrors(check, check.config.mirrors)
    for name, dataset in check.config.datasets.items():
        key = f"datasets.{name}"
        if format_of(dataset).has_files:
            _check_location(check, key, dataset)
        if wrong := format_of(dataset).mistake(dataset):
            raise check.fail(f"{key}.{wrong.key}", wrong.what)
        if measure := given_measure(dataset):
            _check_measure_name(check, f"{key}.measure", measure)
        _check_others(check, key, dataset)
        if dataset.changed_from:
            check.known(f"{key}.changed_from", dataset.changed_from, "datasets")
        if dataset.excluded:
            _check_file(check, f"{key}.excluded", dataset.excluded)
        lengths = dataset.document_characters or {}
        if lengths.get("min", 0) > lengths.get("max", lengths.get("min", 0)):
            raise check.fail(f"{key}.document_characters", f"min {lengths['min']} is above max {lengths['max']}")
        check_samples(check, key, dataset)
        check_carved(check, key, dataset)
        check_near_duplicates(check, key, dataset)
        for split, share in dataset.splits.items():
            if share >= 1 and share != int(share):
                raise check.fail(f"{key}.splits.{split}", f"{share} is neither a share below 1 nor a whole number")


def _check_others(check: Checker, key: str, dataset: Dataset) -> None:
    """Check references to other datasets, and the file of texts to append to the documents."""
    if dataset.corpus:
        _check_corpus(check, key, dataset, dataset.corpus)
    if dataset.runs_of:
        _check_runs_of(check, key, dataset, dataset.runs_of)
    if dataset.texts:
        _check_file(check, f"{key}.texts.append", dataset.texts.append)


def _check_measure_name(check: Checker, key: str, name: str) -> None:
    """Raise UserError unless the name can head a column of the tables without being confused with another column."""
    if not name or name != name.strip() or not name.isprintable():
        raise check.fail(key, f"{name!r} is no name: empty, with a space at an end, or with control characters")
    if name == "query_id" or reserved(name) or name.startswith("Judged@"):
        raise check.fail(key, f"{name!r} is the name of another column of the tables; choose another")


def _check_corpus(check: Checker, key: str, dataset: Dataset, corpus: str) -> None:
    check.known(f"{key}.corpus", corpus, "datasets")
    owner = check.config.datasets[corpus]
    if format_of(dataset).generated:
        _check_generator(check, key, dataset)
    if owner is dataset or owner.corpus:
        raise check.fail(f"{key}.corpus", f"{corpus} has no corpus of its own")
    if not (format_of(dataset).has_documents and format_of(owner).has_documents):
        without = ", ".join(name for name, form in formats().items() if not form.has_documents)
        raise check.fail(f"{key}.corpus", f"formats {without} have no documents to share")
    if dataset.document_characters != owner.document_characters:
        problem = f"must be that of {corpus}, whose documents these are"
        raise check.fail(f"{key}.document_characters", problem)


def _check_generator(check: Checker, key: str, dataset: Dataset) -> None:
    """Raise UserError unless the model that a dataset names writes queries."""
    generator = str(getattr(dataset, "generator", ""))
    check.known(f"{key}.generator", generator, "models")
    kind = check.config.models[generator].type
    if not writes(kind):
        able = " or ".join(name for name in adapters() if writes(name))
        raise check.fail(f"{key}.generator", f"{generator} is of type {kind}, which writes nothing; expected {able}")


def _check_file(check: Checker, key: str, file: str) -> None:
    if find_file(file, check.config.mirrors) is None:
        raise check.fail(key, f"no file {file!r} here or in the mirrors")


def _check_runs_of(check: Checker, key: str, dataset: Dataset, other: str) -> None:
    check.known(f"{key}.runs_of", other, "datasets")
    if not format_of(check.config.datasets[other]).has_documents:
        problem = f"{other} has no documents, so no runs of its own; expected a dataset that has"
        raise check.fail(f"{key}.runs_of", problem)


def _check_location(check: Checker, key: str, dataset: Dataset) -> None:
    if not dataset.location:
        raise check.fail(key, "key 'location' is missing")
    location, where = dataset.location, f"{key}.location"
    kind, form = check_location(check, where, location), format_of(dataset)
    if kind == "library":
        if not location.startswith(form.scheme or " "):
            owner = next(name for name, other in formats().items() if location.startswith(other.scheme or " "))
            raise check.fail(where, f"{location[:80]!r} is for the format {owner}, and this is {dataset.format}")
        if own := [name for name in ("sha256", "files") if getattr(dataset, name)]:
            raise check.fail(f"{key}.{own[0]}", f"{dataset.format} has {form.pinned_by}; leave it out")
        return
    if form.scheme is not None and not form.other_locations:
        raise check.fail(
            where, f"{shown(location)[:80]!r} is not a location for this format, which reads {form.scheme}ID"
        )
    _check_sums(check, key, dataset, location, kind)
    if kind == "path" and not (Path(location).exists() or find_file(Path(location).name, check.config.mirrors)):
        raise check.fail(where, f"no file or folder {location!r} here or in the mirrors")


def _check_sums(check: Checker, key: str, dataset: Dataset, location: str, kind: str) -> None:
    """Raise UserError unless a download has the checksum of its one file or of each file."""
    if dataset.files and kind != "url":
        raise check.fail(f"{key}.files", "only valid with a URL")
    if kind != "path" and not dataset.sha256 and not dataset.files:
        raise check.fail(key, f"{shown(location)} is downloaded, so its sha256 must be given")
    if dataset.sha256 and Path(location).is_dir():
        raise check.fail(f"{key}.sha256", f"is of one file, but {location!r} is a folder; leave it out")


def check_recipes(check: Checker) -> None:
    """Raise UserError for a recipe with an unknown name or invalid keys, or whose dataset has no documents."""
    for name, recipe in check.config.recipes.items():
        if name == UNTRAINED:
            raise check.fail(f"recipes.{name}", f"the name {UNTRAINED!r} is taken: a model's own weights")
        for alone in recipe.of_each_dataset:
            _check_learnable(check, name, alone)
        check_loss(check, name, list(adapters()))
        check_examples(check, name, recipe)
        check_evaluation(check, name, recipe)
        if recipe.start_from:
            check.known(f"recipes.{name}.start_from", recipe.start_from, "recipes")


def _check_learnable(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError unless the one dataset of a recipe has documents and training queries."""
    dataset = recipe.datasets[0]
    check.known(f"recipes.{name}.train_on", dataset, "datasets")
    learnt = check.config.datasets[dataset]
    if not format_of(learnt).has_documents:
        problem = f"{dataset} has format {learnt.format}: no texts to learn from"
        raise check.fail(f"recipes.{name}.train_on", problem)
    check_training_queries(check, f"recipes.{name}", recipe)


def check_loss(check: Checker, name: str, kinds: list[str]) -> None:
    """Raise UserError unless the recipe's loss fits its examples and a model of one of the types."""
    recipe: Recipe = check.config.recipes[name]
    problems = []
    for kind in kinds:
        try:
            resolve_loss(recipe.loss, kind, recipe.long_documents == "passages", recipe.teacher is not None)
        except UserError as error:
            problems.append(str(error))
    if len(problems) == len(kinds):
        with_hint = [problem for hint in HINTS for problem in problems if hint in problem]
        raise check.fail(f"recipes.{name}.loss", (with_hint or problems)[0])
    check_training(check, name, recipe, kinds)


def check_published(check: Checker) -> None:
    """Raise UserError unless the files of published numbers exist and the other keys of the section fit."""
    published = check.config.published
    if published is None:
        return
    if not Path(published.file).is_file():
        raise check.fail("published.file", f"no file {published.file!r}")
    for pair in published.beside.items():
        for name in pair:
            check.known("published.beside", name, "comparisons")
    if published.mapping and not Path(published.mapping).is_file():
        raise check.fail("published.mapping", f"no file {published.mapping!r}")


def check_mapping(check: Checker, entries: dict[str, list[str]]) -> None:
    """Raise UserError for an unknown system (by entry), task or dataset in the mapping, unless `part` is set."""
    published = check.config.published
    if published is None or not published.mapping:
        return
    mapping = read_mapping(Path(published.mapping))
    if published.part:
        return
    named = {
        "systems": [name for line in mapping.systems for name in line.ours],
        "tasks": mapping.tasks.values(),
        "datasets": [name.partition("/")[0] for line in mapping.datasets for name in line.ours],
    }
    known: dict[str, Collection[str]] = {
        "systems": entries, "tasks": check.config.tasks, "datasets": check.config.datasets
    }  # fmt: skip
    for section, names in named.items():
        for name in names:
            if name not in known[section]:
                meant = hint(name, known[section])
                problem = f"unknown name {name!r}{meant}; with published.part: true its cells are not run"
                raise UserError(f"{mapping.path}: {section}: {check.source} has no such entry: {problem}")
