"""Resolves `features`: features, candidates and tasks to compute, or external files."""

from __future__ import annotations

from dataclasses import replace

from ranktrial.common.keys import given
from ranktrial.common.urls import find_file
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.feature_names import OF_SYSTEM, named_feature, same_feature
from ranktrial.configuration.sections.features import AskedFeature, FeatureColumn, FeatureEntry, FeatureSet, Tagger
from ranktrial.experiment.datasets import usual_analyzer
from ranktrial.experiment.tasks import Named
from ranktrial.models.adapters import adapters, tags

DEPTH = 100
LOWEST = "lowest"


def feature_set(named: Named, name: str) -> FeatureSet:
    """Resolve the features `name`.

    Raises UserError for an unknown name, a feature that occurs twice, a task without documents, or a system without a
    run for a task.
    """
    check, key = named.check, f"features.{name}"
    entry = check.config.features[name]
    if entry.letor:
        if others := given(entry, "letor"):
            names = ", ".join(sorted(others))
            raise check.fail(key, f"letor has features that others computed, so leave out {names}")
        return _of_others(check, name, f"{key}.letor", entry.letor)
    check_whole(check, name, entry)
    tasks = named.tasks(f"{key}.tasks", entry.tasks or "all")
    first_stage = named.system(f"{key}.first_stage", entry.first_stage or "")
    depth = entry.depth or min(DEPTH, check.config.depth)
    if depth > check.config.depth:
        raise check.fail(f"{key}.depth", f"{depth} is more than a run keeps; expected at most {check.config.depth}")
    of = tuple(_feature(named, f"{key}.of[{number}]", one) for number, one in enumerate(entry.of or (), 1))
    _check_once(check, f"{key}.of", of)
    for task in tasks:
        if not task.has_documents or task.values_given:
            problem = f"{task.name!r} has no documents to compute features of; name other tasks"
            raise check.fail(f"{key}.tasks", problem)
        for system in [first_stage, *(named.all_systems[one.system] for one in of if one.system)]:
            if not system.ranks(task.name):
                problem = f"{system.name} has no run for task {task.name!r}; name other systems or tasks"
                raise check.fail(key, problem)
    if entry.tagger:
        _check_tagger(check, f"{key}.tagger", entry.tagger, of)
        of = tuple(replace(one, tagger=entry.tagger.model) if one.texts else one for one in of)
    analyzer = entry.analyzer or usual_analyzer(check.config)
    asked = tuple(task.name for task in tasks)
    return FeatureSet(name, asked, first_stage.name, depth, analyzer, of, tagger=entry.tagger)


def check_whole(check: Checker, name: str, entry: FeatureEntry) -> None:
    """Raise UserError unless a feature set to compute has candidates and features."""
    for needed in ("first_stage", "of"):
        if not getattr(entry, needed):
            raise check.fail(f"features.{name}", f"key {needed!r} is missing (or letor, with external files)")


def _check_once(check: Checker, key: str, of: tuple[FeatureColumn, ...]) -> None:
    """Raise UserError if two columns would have the same values."""
    alike = list(map(same_feature, of))
    for place, one in enumerate(of):
        if alike.index(alike[place]) < place:
            first = of[alike.index(alike[place])].name
            same = "" if first == one.name else f": its parameters are those of {first}"
            raise check.fail(key, f"{one.name} occurs twice{same}")


def _feature(named: Named, key: str, asked: str | AskedFeature) -> FeatureColumn:
    """Return the column of an entry."""
    check = named.check
    if isinstance(asked, str) or asked.system is None:
        return named_feature(check, key, asked)
    if asked.parameters:
        alien = next(iter(asked.parameters))
        raise check.fail(key, f"unknown key {alien!r} beside system; allowed are missing, system")
    system = named.system(f"{key}.system", asked.system).name
    return FeatureColumn(OF_SYSTEM + system, system=system, missing=LOWEST if asked.missing is None else asked.missing)


def _check_tagger(check: Checker, key: str, tagger: Tagger, of: tuple[FeatureColumn, ...]) -> None:
    """Raise UserError unless the tagger labels words, some feature uses texts, and no label is listed twice."""
    check.known(f"{key}.model", tagger.model, "models")
    model_type = check.config.models[tagger.model].type
    if not tags(model_type):
        able = " or ".join(name for name in adapters() if tags(name))
        raise check.fail(
            f"{key}.model", f"{tagger.model} is of type {model_type}, which labels no words; expected {able}"
        )
    if not any(one.texts for one in of):
        raise check.fail(key, "no feature here is of texts, such as comparative_objects; leave it out")
    groups = vars(tagger.labels).values() if tagger.labels else ()
    named = [label for labels in groups for label in labels or ()]
    if twice := [label for label in named if named.count(label) > 1]:
        raise check.fail(f"{key}.labels", f"{twice[0]} is listed twice; a label means one thing")


def _of_others(check: Checker, name: str, key: str, given_files: dict[str, str]) -> FeatureSet:
    """Return the set of external feature files, found locally or in a mirror. Raises UserError if one is missing."""
    files = {}
    for task, path in given_files.items():
        check.known(key, task, "tasks")
        file = find_file(path, check.config.mirrors)
        if file is None:
            raise check.fail(f"{key}.{task}", f"no file {path!r} here or in the mirrors")
        files[task] = file
    return FeatureSet(name, tuple(files), files=files)
