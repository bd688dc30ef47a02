"""Which keys a dataset of each format may have, which splits it has, and where the judgements of each come from."""

from __future__ import annotations

import os
from typing import Any

from scripts.common.locations import is_remote
from scripts.datasets.formats import FILES_OF_SPLITS
from scripts.experiment.checker import Checker
from scripts.experiment.dataset_schema import dataset_schema, format_of, keys_of

CARVING = ("splits", "split_by", "drop_shared")
NOT_OF_QUERIES = ("label", "licence", "sha256", "files", "strict", "corpus", "location", "fields", "test_queries",
                  "dev_queries", "unjudged", "grades", "document_characters", "texts", "encoding",
                  "own_document", "excluded", *CARVING)  # fmt: skip


def check_keys(check: Checker, key: str, entry: dict[str, Any]) -> None:
    """The dataset has the keys that its format needs and no other, and they fit together."""
    name, form = entry["format"], format_of(entry)
    for required in form.required:
        if required not in entry:
            raise check.fail(key, f"format {name} needs the key {required!r}")
    given = _given(entry)
    if alien := sorted(given - set(keys_of(name))):
        raise check.fail(key, f"a dataset of format {name} cannot have {', '.join(map(repr, alien))}")
    if "split_by" in given and not entry["splits"]:
        raise check.fail(f"{key}.split_by", "only valid with splits: nothing is split off")
    if wrong := form.mistake(entry):
        raise check.fail(f"{key}.{wrong.key}", wrong.what)


def _given(entry: dict[str, Any]) -> set[str]:
    """The keys that somebody wrote: the schema gives its defaults to a dataset of any format."""
    properties = dataset_schema()["properties"]
    return {key for key, value in entry.items() if value != properties[key].get("default")}


def known_splits(entry: dict[str, Any]) -> set[str] | None:
    """The splits that a dataset has, as far as its configuration says; None where only its files do."""
    of_data = format_of(entry).splits(entry)
    return None if of_data is None else of_data | set(entry.get("splits", {}))


def check_split(check: Checker, key: str, dataset: str, split: str) -> None:
    """The dataset has the split, as far as the configuration says."""
    known = known_splits(check.config["datasets"][dataset])
    if known is not None and split not in known:
        splits = ", ".join(sorted(known))
        raise check.fail(key, f"{dataset} has no judgements for the split {split}; its splits are {splits}")


def check_samples(check: Checker, key: str, entry: dict[str, Any]) -> None:
    """A split of which a sample is kept is one that the dataset has, as far as the configuration says."""
    known = known_splits(entry)
    for split in ("test", "dev"):
        if f"{split}_queries" in entry and known is not None and split not in known:
            raise check.fail(f"{key}.{split}_queries", f"there is no split {split}; there are {_listed(known)}")


def check_training_queries(check: Checker, key: str, recipe: dict[str, Any]) -> None:
    """The dataset that a recipe learns from has training queries, with the judgements that its labels need."""
    name = recipe["train_on"]
    entry = check.config["datasets"][name]
    without = entry.get("unjudged") == "train" or format_of(entry).unjudged(entry)
    known = known_splits(entry)
    if known is None or "train" in known:
        return
    if without and recipe["labels"] == "human":
        problem = f"{name} has training queries without judgements, and labels: human needs them; labels: bm25 does not"
        raise check.fail(f"{key}.labels", problem)
    if not without:
        check_split(check, f"{key}.train_on", name, "train")


def _listed(splits: set[str]) -> str:
    return ", ".join(sorted(splits)) or "none"


def same_place(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two datasets lie in one place, by checksum or by path (without links)."""
    if "sha256" in first and "sha256" in second:
        sums: list[str] = [entry["sha256"].lower() for entry in (first, second)]
        return sums[0] == sums[1]
    locations: list[str] = [entry["location"] for entry in (first, second)]
    places = [place if is_remote(place) else os.path.realpath(place) for place in locations]
    return places[0] == places[1]


def source_of_queries(entry: dict[str, Any], split: str) -> dict[str, Any]:
    """What decides, in one place of data, which queries a split has and in which words."""
    source = {key: value for key, value in entry.items() if key not in NOT_OF_QUERIES}
    named, carved = _named(entry), _carved(entry, split)
    if carved or split == "train":
        source |= {"split": split, **{key: entry.get(key) for key in (*CARVING, "grades")}}
    elif named is None:
        source["split"] = split
    for key, schema in keys_of(entry["format"]).items():
        if key in source and schema.get("$ref") == FILES_OF_SPLITS:
            source[key] = source[key].get("train" if carved else split)
    return source


def same_queries(first: tuple[dict[str, Any], str], second: tuple[dict[str, Any], str]) -> bool:
    """Whether two splits (a dataset's entry and a split's name) have, in all or part, the same queries in one wording.

    Only what the configuration says for certain counts; the values themselves are compared in the comparison.
    """
    return _one_source(first, second, [source_of_queries(*first), source_of_queries(*second)])


def may_share_queries(first: tuple[dict[str, Any], str], second: tuple[dict[str, Any], str]) -> bool:
    """Whether, by the configuration, some queries of one split may be among those of the other.

    Splits of one file are apart only where both datasets divide it in one way; how judgements are read does not matter.
    """
    divided = [[entry.get(key) for key in CARVING] for entry, _ in (first, second)]
    apart = divided[0] == divided[1]
    pairs = [pair if apart else (pair[0] | {"splits": {}}, _file_of(*pair)) for pair in (first, second)]
    sources = [source_of_queries(*pair) for pair in pairs]
    for source, (entry, split) in zip(sources, pairs, strict=True):
        of_file = _named(entry) is not None and not _carved(entry, split)  # which says what queries they are
        for key in ("grades", *(("split",) if of_file else ()), *(() if apart and not of_file else CARVING)):
            source.pop(key, None)
    return _one_source(first, second, sources)


def _one_source(
    first: tuple[dict[str, Any], str], second: tuple[dict[str, Any], str], sources: list[dict[str, Any]]
) -> bool:
    if first[0]["format"] != second[0]["format"]:
        return False
    form = format_of(first[0])
    if form.values_given or not same_place(first[0], second[0]):
        return False
    for key in form.narrowing:
        if (key in sources[0]) != (key in sources[1]):  # one has the queries of all values, the other's among them
            for source in sources:
                source.pop(key, None)
    return sources[0] == sources[1]


def _named(entry: dict[str, Any]) -> Any:
    """The files of judgements that a dataset names by split, where its format has such."""
    judgements = format_of(entry).judgements
    return entry.get(judgements) if judgements else None


def _carved(entry: dict[str, Any], split: str) -> bool:
    """Whether a split is split off the training data."""
    named = _named(entry)
    return split in entry["splits"] and (named is None or split not in named)


def _file_of(entry: dict[str, Any], split: str) -> str:
    """The split in whose file the queries of a split stand."""
    return "train" if _carved(entry, split) else split
