"""Resolves `features`: which features of which candidates are computed on which tasks, or who computed them."""

from __future__ import annotations

from typing import Any

from scripts.common.locations import find_file
from scripts.experiment.checker import Checker
from scripts.experiment.feature_entries import named_feature, same_feature
from scripts.experiment.languages import usual_analyzer
from scripts.experiment.records import FeatureSet, System, Task
from scripts.models.adapters import adapters, tags

DEPTH = 100
LOWEST = "lowest"
OF_SYSTEM = "system."  # begins the name of the column of a system's score


def feature_set(
    check: Checker, name: str, entries: dict[str, list[str]], systems: dict[str, System], tasks: dict[str, Task]
) -> FeatureSet:
    """Resolve the features `name`; `entries` are the systems that each entry became.

    Raises UserError for an unknown name, a feature that comes twice, a task without documents, or a system without a
    run for a task.
    """
    entry, key = check.config["features"][name], f"features.{name}"
    if "letor" in entry:
        if len(entry) > 1:
            others = ", ".join(sorted(set(entry) - {"letor"}))
            raise check.fail(key, f"letor has features that others computed, so leave out {others}")
        return _of_others(check, name, f"{key}.letor", entry["letor"], tasks)
    for needed in ("first_stage", "of"):
        if needed not in entry:
            raise check.fail(key, f"key {needed!r} is missing (or letor, with external files)")
    asked = entry.get("tasks", "all")
    for task in [] if asked == "all" else asked:
        check.known(f"{key}.tasks", task, "tasks")
    names = tuple(tasks) if asked == "all" else tuple(asked)
    first_stage = _system(check, f"{key}.first_stage", entry["first_stage"], entries)
    depth = entry.get("depth", min(DEPTH, check.config["depth"]))
    if depth > check.config["depth"]:
        raise check.fail(f"{key}.depth", f"{depth} is more than a run keeps; expected at most {check.config['depth']}")
    of = tuple(_feature(check, f"{key}.of[{number}]", asked, entries) for number, asked in enumerate(entry["of"], 1))
    alike = list(map(same_feature, of))
    for place, one in enumerate(of):
        if alike.index(alike[place]) < place:
            first = of[alike.index(alike[place])]["name"]
            same = "" if first == one["name"] else f": its parameters are those of {first}"
            raise check.fail(f"{key}.of", f"{one['name']} comes twice{same}")
    for task in names:
        if not tasks[task].has_documents or tasks[task].values_given:
            raise check.fail(f"{key}.tasks", f"{task!r} has no documents to compute features of; name other tasks")
        for system in [first_stage, *(one["system"] for one in of if "system" in one)]:
            if not systems[system].ranks(task):
                raise check.fail(key, f"{system} has no run for task {task!r}; name other systems or tasks")
    tagger = _tagger(check, f"{key}.tagger", entry.get("tagger", {}), of)
    if tagger:
        of = tuple(one | {"tagger": tagger["model"]} if one.get("texts") else one for one in of)
    analyzer = entry.get("analyzer", usual_analyzer(check.config))
    return FeatureSet(name, names, first_stage, depth, analyzer, of, tagger=tagger)


def _feature(check: Checker, key: str, asked: str | dict[str, Any], entries: dict[str, list[str]]) -> dict[str, Any]:
    """A feature as in its job's settings."""
    if isinstance(asked, dict) and "system" in asked:
        if alien := [name for name in asked if name not in ("system", "missing")]:
            raise check.fail(key, f"unknown key {alien[0]!r} beside system; allowed are missing, system")
        system = _system(check, f"{key}.system", asked["system"], entries)
        return {"name": OF_SYSTEM + system, "system": system, "missing": asked.get("missing", LOWEST)}
    return named_feature(check, key, asked)


def _tagger(check: Checker, key: str, given: dict[str, Any], of: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """The model that finds what texts compare, and the labels that count. Raises UserError where it labels no words."""
    if not given:
        return {}
    check.known(f"{key}.model", given["model"], "models")
    kind = check.config["models"][given["model"]]["type"]
    if not tags(kind):
        able = " or ".join(name for name in adapters() if tags(name))
        raise check.fail(f"{key}.model", f"{given['model']} is of type {kind}, which labels no words; expected {able}")
    if not any(one.get("texts") for one in of):
        raise check.fail(key, "no feature here is of texts, such as comparative_objects; leave it out")
    named = [label for labels in given.get("labels", {}).values() for label in labels]
    if twice := [label for label in named if named.count(label) > 1]:
        raise check.fail(f"{key}.labels", f"{twice[0]} stands there twice; a label means one thing")
    return given


def _system(check: Checker, key: str, name: str, entries: dict[str, list[str]]) -> str:
    if name not in entries:
        check.known(key, name, "systems")
    became = entries.get(name, [name])
    if len(became) > 1:
        raise check.fail(key, f"{name} became {len(became)} systems; name one of them")
    return became[0]


def _of_others(check: Checker, name: str, key: str, given: dict[str, str], tasks: dict[str, Task]) -> FeatureSet:
    """Files of features, which lie here or in a mirror. Raises UserError where one does not."""
    files = {}
    for task, path in given.items():
        check.known(key, task, "tasks")
        file = find_file(path, check.config["mirrors"])
        if file is None:
            raise check.fail(f"{key}.{task}", f"no file {path!r} here or in the mirrors")
        files[task] = file
    return FeatureSet(name, tuple(files), files=files)
