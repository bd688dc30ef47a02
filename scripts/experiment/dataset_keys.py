"""Which keys a dataset of each format may have, which splits it has, and where the judgements of each come from."""

from __future__ import annotations

import os

from scripts.common.locations import is_remote
from scripts.common.paths import why_not_below
from scripts.experiment.checker import Checker

NEEDED_KEYS = {
    "trec": ("documents", "topics", "qrels"),
    "scores": ("measure",),
    "checkthat": ("parts",),
    "emnlp2020": ("text",),
}
# What every dataset with a location has; those with documents; then what each format has beside these.
_OF_DATA = {"format", "label", "licence", "location", "sha256", "files"}
_OF_DOCUMENTS = {*_OF_DATA, "corpus", "language", "splits", "split_by", "drop_shared", "strict"}
KEYS_OF_FORMAT = {
    "beir": _OF_DOCUMENTS,
    "trec": {*_OF_DOCUMENTS, "documents", "topics", "qrels", "topic_field"},
    "checkthat": {*_OF_DOCUMENTS, "parts"},
    "emnlp2020": {*_OF_DOCUMENTS, "text"},
    "insuranceqa": {*_OF_DOCUMENTS, "domain"},
    "qrels": {*_OF_DATA, "qrels", "splits", "split_by", "drop_shared"},
    "scores": {"format", "label", "licence", "measure"},
}
# The schema gives these values to every dataset, so that only another one was meant.
DEFAULTS = {"language": "en", "topic_field": "title", "splits": {}, "split_by": "queries",
            "drop_shared": False, "strict": False}  # fmt: skip
FILES_OF_SPLITS = ("parts", "topics", "qrels")
NOT_OF_QUERIES = ("label", "licence", "sha256", "files", "strict", "corpus", "location", "splits", "split_by",
                  "drop_shared")  # fmt: skip


def check_keys(check: Checker, key: str, entry: dict) -> None:
    """The dataset has the keys that its format needs and no other, and its files lie below its location."""
    form = entry["format"]
    for needed in NEEDED_KEYS.get(form, ()):
        if needed not in entry:
            raise check.fail(key, f"format {form} needs the key {needed!r}")
    meant = [name for name, value in entry.items() if name not in DEFAULTS or value != DEFAULTS[name]]
    alien = sorted(set(meant) - KEYS_OF_FORMAT[form])
    if alien:
        raise check.fail(key, f"a dataset of format {form} cannot have {', '.join(map(repr, alien))}")
    if "split_by" in meant and not entry["splits"]:
        raise check.fail(f"{key}.split_by", "is of use with splits only: nothing is split off")
    if form == "trec" and set(entry["topics"]) != set(entry["qrels"]):
        raise check.fail(key, "topics and qrels must name the same splits")
    for section in FILES_OF_SPLITS:
        for split, name in entry.get(section, {}).items():
            if reason := why_not_below(name.removesuffix("/") if section == "parts" else name):
                raise check.fail(f"{key}.{section}.{split}", f"{name!r} {reason}; a path below the location is wanted")
    for section in ("parts", "qrels"):
        _check_apart(check, f"{key}.{section}", entry.get(section, {}))
    for pattern in entry.get("documents", ()):
        if reason := why_no_pattern(pattern):
            said = "file names or patterns below the location are wanted, such as docs/*.jsonl"
            raise check.fail(f"{key}.documents", f"{pattern!r} {reason}; {said}")


def _check_apart(check: Checker, key: str, files: dict[str, str]) -> None:
    """Two splits are not the same file: their judgements would be the same."""
    seen: dict[str, str] = {}
    for split, name in files.items():
        other = seen.setdefault(name.removesuffix("/"), split)
        if other != split:
            raise check.fail(key, f"{other} and {split} are both {name!r}: the same judgements twice")


def why_no_pattern(pattern: str) -> str | None:
    """Why a pattern cannot name files below a folder; None where it can."""
    if reason := why_not_below(pattern):
        return reason
    if any("**" in part and part != "**" for part in pattern.split("/")):
        return "is no pattern: ** stands alone between two /"
    if pattern.endswith("**"):
        return "names folders, not files"
    return None


def known_splits(entry: dict) -> set[str] | None:
    """The splits that a dataset has, as far as its configuration tells; None where only its files do."""
    carved = set(entry.get("splits", {}))
    if entry["format"] == "scores":
        return {"test"}
    if entry["format"] == "qrels":
        return set(entry.get("qrels", {"test": ""})) | carved
    if entry["format"] == "emnlp2020":
        return {"train"} | carved
    if entry["format"] == "insuranceqa":
        return {"train", "dev", "test"}
    named = entry.get("topics" if entry["format"] == "trec" else "parts")
    return None if named is None else set(named) | carved


def check_split(check: Checker, key: str, dataset: str, split: str) -> None:
    """The dataset has the split, as far as the configuration tells."""
    known = known_splits(check.config["datasets"][dataset])
    if known is not None and split not in known:
        found = ", ".join(sorted(known))
        raise check.fail(key, f"{dataset} has no judgements for the split {split}; its splits are {found}")


def same_place(one: dict, other: dict) -> bool:
    """Whether two datasets lie in one place, by checksum or by path (without links)."""
    if "sha256" in one and "sha256" in other:
        return one["sha256"].lower() == other["sha256"].lower()
    places = [place if is_remote(place) else os.path.realpath(place) for place in (one["location"], other["location"])]
    return places[0] == places[1]


def source_of_queries(entry: dict, split: str) -> dict:
    """What decides, in one place of data, which queries a split has and in which words."""
    found = {name: value for name, value in entry.items() if name not in NOT_OF_QUERIES}
    named = next((entry[section] for section in ("qrels", "parts") if section in entry), None)
    carved = split in entry["splits"] and (named is None or split not in named)
    if carved or split == "train":
        carving = ("splits", "split_by", "drop_shared")
        found |= {"split": split, **{name: entry[name] for name in carving}}
    elif named is None:
        found["split"] = split
    for section in FILES_OF_SPLITS:
        if section in found:
            found[section] = found[section].get("train" if carved else split)
    return found


def same_queries(one: tuple[dict, str], other: tuple[dict, str]) -> bool:
    """Whether two splits (a dataset's entry and a split's name) have, in all or part, the same queries in one wording.

    Only what the configuration tells for certain counts; the values themselves are compared in the comparison.
    """
    entries = [one[0], other[0]]
    if any(entry["format"] == "scores" for entry in entries) or not same_place(*entries):
        return False
    first, second = source_of_queries(*one), source_of_queries(*other)
    if first["format"] == "insuranceqa" and ("domain" in first) != ("domain" in second):
        first.pop("domain", None)  # one is all domains, the other's among them
        second.pop("domain", None)
    return first == second
