"""Resolves `features`: which features of which candidates are computed on which tasks, or who computed them."""

from __future__ import annotations

from typing import Any

from scripts.common.locations import find_file
from scripts.experiment.checker import Checker
from scripts.experiment.records import FeatureSet, System, Task
from scripts.features.families import features_in, known

DEPTH = 100
ANALYZER = "english"
LOWEST = "lowest"
FIELDS = ("title", "text")  # what may be a field of its own
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
            raise check.fail(key, f"key {needed!r} is missing (or letor, with files of others)")
    asked = entry.get("tasks", "all")
    for task in [] if asked == "all" else asked:
        check.known(f"{key}.tasks", task, "tasks")
    names = tuple(tasks) if asked == "all" else tuple(asked)
    first_stage = _system(check, f"{key}.first_stage", entry["first_stage"], entries)
    depth = entry.get("depth", min(DEPTH, check.config["depth"]))
    if depth > check.config["depth"]:
        raise check.fail(f"{key}.depth", f"{depth} is more than a run keeps; expected at most {check.config['depth']}")
    of = tuple(_feature(check, f"{key}.of[{number}]", asked, entries) for number, asked in enumerate(entry["of"], 1))
    columns = [one["name"] for one in of]
    for column in columns:
        if columns.count(column) > 1:
            raise check.fail(f"{key}.of", f"{column} comes twice")
    for task in names:
        if not tasks[task].has_documents or tasks[task].values_given:
            raise check.fail(f"{key}.tasks", f"{task!r} has no documents to compute features of; name other tasks")
        for system in [first_stage, *(one["system"] for one in of if "system" in one)]:
            if not systems[system].ranks(task):
                raise check.fail(key, f"{system} has no run for task {task!r}; name other systems or tasks")
    return FeatureSet(name, names, first_stage, depth, entry.get("analyzer", ANALYZER), of)


def _feature(check: Checker, key: str, asked: str | dict[str, Any], entries: dict[str, list[str]]) -> dict[str, Any]:
    """A feature as its job is told of it."""
    if isinstance(asked, dict):
        system = _system(check, f"{key}.system", asked["system"], entries)
        return {"name": OF_SYSTEM + system, "system": system, "missing": asked.get("missing", LOWEST)}
    feature, dot, field = asked.partition(".")
    families = known()
    if feature not in families:
        expected = f"expected {', '.join(families)} or {{system: NAME}}"
        raise check.fail(key, f"unknown feature {asked!r}; {expected}")
    resolved = {"name": asked, "family": families[feature], "feature": feature}
    if not dot:
        return resolved
    if field not in FIELDS:
        raise check.fail(key, f"unknown field {field!r} in {asked!r}; expected {' or '.join(FIELDS)}")
    if not features_in(families[feature])[feature].by_field:
        raise check.fail(key, f"{feature} is the same for each field; leave out .{field}")
    return resolved | {"field": field}


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
