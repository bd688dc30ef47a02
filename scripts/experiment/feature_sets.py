"""Resolves `features`: which features of which candidates are computed on which tasks, or who computed them."""

from __future__ import annotations

from dataclasses import replace

from scripts.common.keys import given
from scripts.common.locations import find_file
from scripts.experiment.checker import Checker
from scripts.experiment.feature_entries import named_feature, same_feature
from scripts.experiment.feature_records import FeatureColumn, FeatureSet
from scripts.experiment.languages import usual_analyzer
from scripts.experiment.records import System, Task
from scripts.experiment.sections.features import AskedFeature, FeatureEntry, Tagger
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
    entry, key = check.config.features[name], f"features.{name}"
    if entry.letor:
        if others := given(entry, "letor"):
            names = ", ".join(sorted(others))
            raise check.fail(key, f"letor has features that others computed, so leave out {names}")
        return _of_others(check, name, f"{key}.letor", entry.letor, tasks)
    check_whole(check, name, entry)
    asked = tuple(tasks) if entry.tasks in (None, "all") else tuple(entry.tasks or ())
    for task in asked:
        check.known(f"{key}.tasks", task, "tasks")
    first_stage = _system(check, f"{key}.first_stage", entry.first_stage or "", entries)
    depth = entry.depth or min(DEPTH, check.config.depth)
    if depth > check.config.depth:
        raise check.fail(f"{key}.depth", f"{depth} is more than a run keeps; expected at most {check.config.depth}")
    of = tuple(_feature(check, f"{key}.of[{number}]", one, entries) for number, one in enumerate(entry.of or (), 1))
    _check_once(check, f"{key}.of", of)
    for task in asked:
        if not tasks[task].has_documents or tasks[task].values_given:
            raise check.fail(f"{key}.tasks", f"{task!r} has no documents to compute features of; name other tasks")
        for system in [first_stage, *(one.system for one in of if one.system)]:
            if not systems[system].ranks(task):
                raise check.fail(key, f"{system} has no run for task {task!r}; name other systems or tasks")
    if entry.tagger:
        _check_tagger(check, f"{key}.tagger", entry.tagger, of)
        of = tuple(replace(one, tagger=entry.tagger.model) if one.texts else one for one in of)
    analyzer = entry.analyzer or usual_analyzer(check.config)
    return FeatureSet(name, asked, first_stage, depth, analyzer, of, tagger=entry.tagger)


def check_whole(check: Checker, name: str, entry: FeatureEntry) -> None:
    """Raise UserError unless what is computed here has candidates and features."""
    for needed in ("first_stage", "of"):
        if not getattr(entry, needed):
            raise check.fail(f"features.{name}", f"key {needed!r} is missing (or letor, with external files)")


def _check_once(check: Checker, key: str, of: tuple[FeatureColumn, ...]) -> None:
    """No two columns hold the same numbers."""
    alike = list(map(same_feature, of))
    for place, one in enumerate(of):
        if alike.index(alike[place]) < place:
            first = of[alike.index(alike[place])].name
            same = "" if first == one.name else f": its parameters are those of {first}"
            raise check.fail(key, f"{one.name} comes twice{same}")


def _feature(check: Checker, key: str, asked: str | AskedFeature, entries: dict[str, list[str]]) -> FeatureColumn:
    """The column of an entry."""
    if isinstance(asked, str) or asked.system is None:
        return named_feature(check, key, asked)
    if asked.parameters:
        alien = next(iter(asked.parameters))
        raise check.fail(key, f"unknown key {alien!r} beside system; allowed are missing, system")
    system = _system(check, f"{key}.system", asked.system, entries)
    return FeatureColumn(OF_SYSTEM + system, system=system, missing=LOWEST if asked.missing is None else asked.missing)


def _check_tagger(check: Checker, key: str, tagger: Tagger, of: tuple[FeatureColumn, ...]) -> None:
    """The model finds what texts compare. Raises UserError where it labels no words."""
    check.known(f"{key}.model", tagger.model, "models")
    kind = check.config.models[tagger.model].type
    if not tags(kind):
        able = " or ".join(name for name in adapters() if tags(name))
        raise check.fail(f"{key}.model", f"{tagger.model} is of type {kind}, which labels no words; expected {able}")
    if not any(one.texts for one in of):
        raise check.fail(key, "no feature here is of texts, such as comparative_objects; leave it out")
    groups = vars(tagger.labels).values() if tagger.labels else ()
    named = [label for labels in groups for label in labels or ()]
    if twice := [label for label in named if named.count(label) > 1]:
        raise check.fail(f"{key}.labels", f"{twice[0]} stands there twice; a label means one thing")


def _system(check: Checker, key: str, name: str, entries: dict[str, list[str]]) -> str:
    if name not in entries:
        check.known(key, name, "systems")
    became = entries.get(name, [name])
    if len(became) > 1:
        raise check.fail(key, f"{name} became {len(became)} systems; name one of them")
    return became[0]


def _of_others(check: Checker, name: str, key: str, named: dict[str, str], tasks: dict[str, Task]) -> FeatureSet:
    """Files of features, which lie here or in a mirror. Raises UserError where one does not."""
    files = {}
    for task, path in named.items():
        check.known(key, task, "tasks")
        file = find_file(path, check.config.mirrors)
        if file is None:
            raise check.fail(f"{key}.{task}", f"no file {path!r} here or in the mirrors")
        files[task] = file
    return FeatureSet(name, tuple(files), files=files)
