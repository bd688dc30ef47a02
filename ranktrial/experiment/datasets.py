"""Splits of datasets, the source of the queries of each split, and the language of the texts.

The language decides the analyser of the index, and whether texts can be split. A corpus and the queries of all datasets
that share it have the same analyser.
"""

from __future__ import annotations

import os
from dataclasses import replace

from ranktrial.common.keys import stated
from ranktrial.common.urls import is_remote
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of, keys_of_format, own_keys
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.configuration.sections.recipe import GENERATED, Recipe
from ranktrial.experiment.records import Experiment
from ranktrial.ir.languages import ENGLISH, WITH_SENTENCES

ENGLISH_ANALYZER = "english"  # Anserini's default
OF_LANGUAGE = "language"  # stands for the analyser of each dataset's language


def usual_analyzer(config: Configuration) -> str:
    """Return the default analyser: English if all datasets are English, otherwise that of each dataset's language."""
    languages = {dataset.language for dataset in config.datasets.values()}
    return ENGLISH_ANALYZER if languages <= {ENGLISH} else OF_LANGUAGE


def analyzer_on(experiment: Experiment, dataset: str, analyzer: str = OF_LANGUAGE) -> str:
    """Return the analyser of a dataset's index and queries: english, standard or a language code."""
    if analyzer != OF_LANGUAGE:
        return analyzer
    language = experiment.datasets[experiment.corpus_owner(dataset)].language
    return ENGLISH_ANALYZER if language == ENGLISH else language


def check_sentences(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if texts must be split into passages in a language without sentence splitting."""
    split = [
        (f"systems.{system.name}.long_documents", task.ranked_dataset)
        for system in experiment.systems.values()
        if system.passage_length
        for task in experiment.runs_of(system)
    ]
    split += [
        (f"recipes.{name}.long_documents", dataset)
        for name, recipe in experiment.recipes.items()
        for dataset in recipe.datasets
        if recipe.long_documents == "passages"
    ]
    for key, dataset in split:
        for name in dict.fromkeys([dataset, experiment.corpus_owner(dataset)]):
            language = experiment.datasets[name].language
            if language not in WITH_SENTENCES:
                problem = f"sentences of {name} cannot be found in its language, {language}"
                raise check.fail(key, f"{problem}; expected one of {', '.join(WITH_SENTENCES)}, or truncated texts")


CARVED = 0.1  # of the training queries, in messages
CARVING = ("splits", "split_by", "drop_shared")
NOT_OF_QUERIES = ("label", "licence", "sha256", "files", "strict", "corpus", "location", "fields", "test_queries",
                  "dev_queries", "unjudged", "grades", "document_characters", "texts", "encoding",
                  "own_document", "excluded", "instruction", "drop_near_duplicates", *CARVING)  # fmt: skip
Queries = dict[str, object]
Split = tuple[Dataset, str]


def _splits_of_data(dataset: Dataset) -> set[str] | None:
    """Return the splits of the data according to the configuration or to local files; None if unknown."""
    form = format_of(dataset)
    stated = form.splits(dataset)
    return form.splits_here(dataset) if stated is None else stated


def check_carved(check: Checker, key: str, dataset: Dataset) -> None:
    """Raise UserError if splits are to be carved out of a train split that the data is known to lack."""
    of_data = _splits_of_data(dataset)
    if not of_data or "train" in of_data:
        return
    for split in dataset.splits:
        if split not in of_data:
            problem = f"there is no train split to carve it out of; the data has {_listed(of_data)}"
            raise check.fail(f"{key}.splits.{split}", problem)


def known_splits(dataset: Dataset) -> set[str] | None:
    """Return the splits of a dataset according to its configuration; None if only its files determine them."""
    of_data = format_of(dataset).splits(dataset)
    return None if of_data is None else of_data | set(dataset.splits)


def check_split(check: Checker, key: str, dataset: str, split: str, instead: str = "") -> None:
    """Raise UserError if the dataset is known to lack the split; `instead` is an alternative for the message."""
    entry = check.config.datasets[dataset]
    of_data = _splits_of_data(entry)
    if of_data is None:
        return
    known = of_data | set(entry.splits)
    if split in known:
        return
    problem = f"{dataset} has no judgements for the split {split}; its splits are {_listed(known)}"
    can_carve = "train" in known and "splits" in keys_of_format(entry.format)
    carving = f"datasets.{dataset}.splits: {{{split}: {CARVED}}}" if can_carve else ""
    if cures := " or ".join(filter(None, [carving, instead])):
        problem += f"; expected {cures}"
    raise check.fail(key, problem)


def check_samples(check: Checker, key: str, dataset: Dataset) -> None:
    """Raise UserError if a split to be sampled is missing according to the configuration."""
    known = known_splits(dataset)
    for split, sample in (("test", dataset.test_queries), ("dev", dataset.dev_queries)):
        if sample and known is not None and split not in known:
            raise check.fail(f"{key}.{split}_queries", f"there is no split {split}; there are {_listed(known)}")


def check_near_duplicates(check: Checker, key: str, dataset: Dataset) -> None:
    """Raise UserError if drop_near_duplicates lacks a train split or a dev or test split, by the configuration."""
    known = known_splits(dataset)
    if dataset.drop_near_duplicates is None or known is None or ("train" in known and known & {"dev", "test"}):
        return
    needed = f"only valid with training queries and a split dev or test; its splits are {_listed(known)}"
    raise check.fail(f"{key}.drop_near_duplicates", needed)


def check_training_queries(check: Checker, key: str, recipe: Recipe) -> None:
    """Raise UserError unless the one dataset of a recipe has training queries with the judgements it needs."""
    name = recipe.datasets[0]
    dataset = check.config.datasets[name]
    if (recipe.labels == GENERATED) != format_of(dataset).generated:
        if recipe.labels == GENERATED:
            raise check.fail(f"{key}.labels", f"{name} is not of format generated, whose queries a model writes")
        problem = f"{recipe.labels}, but a model writes the training queries of {name}"
        raise check.fail(f"{key}.labels", f"{problem}; expected {GENERATED}")
    without = dataset.unjudged == "train" or format_of(dataset).unjudged(dataset)
    known = known_splits(dataset)
    if known is None or "train" in known:
        return
    if without and recipe.labels != "bm25":
        needs = f"labels: {recipe.labels} needs them; labels: bm25 does not"
        problem = f"{name} has training queries without judgements, and {needs}"
        raise check.fail(f"{key}.labels", problem)
    if not without:
        check_split(check, f"{key}.train_on", name, "train")


def _listed(splits: set[str]) -> str:
    return ", ".join(sorted(splits)) or "none"


def same_place(first: Dataset, second: Dataset) -> bool:
    """Whether two datasets have the same data, by checksum or by path (with links resolved)."""
    if first.sha256 and second.sha256:
        return first.sha256.lower() == second.sha256.lower()
    locations = [str(dataset.location) for dataset in (first, second)]
    places = [place if is_remote(place) else os.path.realpath(place) for place in locations]
    return places[0] == places[1]


def source_of_queries(dataset: Dataset, split: str) -> Queries:
    """Return the settings that determine the queries of a split, and their wording, for data in one location."""
    source = stated(dataset, *NOT_OF_QUERIES)
    named, carved = _named(dataset), _carved(dataset, split)
    if carved or split == "train":
        source |= {"split": split, **{key: getattr(dataset, key) for key in (*CARVING, "grades")}}
    elif named is None:
        source["split"] = split
    for key in own_keys(dataset.format).keys() & source.keys():
        value = source[key]
        if isinstance(value, dict):  # files of splits
            source[key] = value.get("train" if carved else split)
    return source


def same_queries(first: Split, second: Split) -> bool:
    """Whether two splits (a dataset and a split's name) have, fully or partly, the same queries in the same wording.

    Only what is certain from the configuration counts; the comparison itself compares the values.
    """
    return _one_source(first, second, [source_of_queries(*first), source_of_queries(*second)])


def may_share_queries(first: Split, second: Split) -> bool:
    """Whether, by the configuration, some queries of one split may be among those of the other.

    Splits of one file are disjoint only if both datasets divide it in the same way; grades do not matter.
    """
    divided = [[getattr(dataset, key) for key in CARVING] for dataset, _ in (first, second)]
    apart = divided[0] == divided[1]
    pairs = [pair if apart else (replace(pair[0], splits={}), _file_of(*pair)) for pair in (first, second)]
    sources = [source_of_queries(*pair) for pair in pairs]
    for source, (dataset, split) in zip(sources, pairs, strict=True):
        of_file = _named(dataset) is not None and not _carved(dataset, split)  # the file determines the queries
        for key in ("grades", *(("split",) if of_file else ()), *(() if apart and not of_file else CARVING)):
            source.pop(key, None)
    return _one_source(first, second, sources)


def _one_source(first: Split, second: Split, sources: list[Queries]) -> bool:
    if first[0].format != second[0].format:
        return False
    form = format_of(first[0])
    if not form.has_files or not same_place(first[0], second[0]):
        return False
    for key in form.narrowing:
        if (key in sources[0]) != (key in sources[1]):  # without the key, a split includes the other's queries
            for source in sources:
                source.pop(key, None)
    return sources[0] == sources[1]


def _named(dataset: Dataset) -> dict[str, str] | None:
    """Return split -> file of judgements as named by a dataset; None if its format has no such key."""
    judgements = format_of(dataset).judgements
    named: dict[str, str] | None = getattr(dataset, judgements) if judgements else None
    return named


def _carved(dataset: Dataset, split: str) -> bool:
    """Whether a split is carved out of the training data."""
    named = _named(dataset)
    return split in dataset.splits and (named is None or split not in named)


def _file_of(dataset: Dataset, split: str) -> str:
    """Return the split whose file contains the queries of a split."""
    return "train" if _carved(dataset, split) else split
