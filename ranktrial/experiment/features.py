"""Resolves `features`: features, candidates and tasks to compute, or external files; and features of a ranker.

`BM25` and `BM25.title` are names. `{BM25.title: {k1: 0.9, b: 0.4}}` sets parameters, which the column name then states
in the order of the feature's formula: `BM25.title(k1=0.9;b=0.4)`. It contains no comma and no other special character
of JSON, since LightGBM rejects such names.

`only` and `without` of a ranker name features by their column, by their name for any field and parameters, by their
family (`systems` is that of scores), or by the system whose score they are. A list of names is one selection. A list
that contains lists, or null for all features, makes one system of each; `each` makes one for each feature of the set.
Reads and writes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import given
from ranktrial.common.settings import read_settings
from ranktrial.common.urls import find_file
from ranktrial.common.wording import hint
from ranktrial.experiment.checker import Checker, Source
from ranktrial.experiment.dataset_keys import usual_analyzer
from ranktrial.experiment.key_paths import as_list, word_of
from ranktrial.experiment.references import Choice
from ranktrial.experiment.sections.features import AskedFeature, FeatureColumn, FeatureEntry, FeatureSet, Tagger
from ranktrial.experiment.tasks import Named
from ranktrial.features.families import Feature, features_in, known
from ranktrial.models.adapters import adapters, tags

FIELDS = ("title", "text")  # fields for which a feature can be computed
OF_ENTRY = "a name, {NAME: {parameter: value}} or {system: NAME}"


def named_feature(check: Source, key: str, asked: str | AskedFeature) -> FeatureColumn:
    """Return the column of a feature computed from terms or texts. Raises UserError for an unknown feature."""
    if isinstance(asked, str):
        return _without_parameters(check, key, asked)[0]
    names = [*asked.parameters, *(["missing"] if asked.missing is not None else [])]
    if len(names) != 1:
        raise check.fail(key, f"has the keys {', '.join(names)}; expected {OF_ENTRY}, one feature per entry")
    if not asked.parameters:  # {missing: 0} alone
        raise check.fail(key, f"missing is not a feature; expected {OF_ENTRY}")
    ((name, given),) = asked.parameters.items()
    column, feature = _without_parameters(check, key, name)
    parameters = _parameters(check, f"{key}.{name}", feature, given)
    written = ";".join(f"{parameter}={_number(value)}" for parameter, value in parameters.items())
    return replace(column, name=f"{name}({written})", parameters=parameters)


def same_feature(column: FeatureColumn) -> tuple[object, ...]:
    """Return a key that is equal for columns with the same values; a default parameter equals one that is not set."""
    if column.family is None or column.feature is None:
        return (column.name,)
    values = features_in(column.family)[column.feature].defaults() | (column.parameters or {})
    return (column.feature, column.field, *sorted(values.items()))


def _without_parameters(check: Source, key: str, name: str) -> tuple[FeatureColumn, Feature]:
    """Return the column and the feature of a name."""
    asked, dot, field = name.partition(".")
    families = known()
    if asked not in families:
        expected = f"expected {', '.join(families)} or {{system: NAME}}"
        raise check.fail(key, f"unknown feature {asked!r}{hint(asked, families)}; {expected}")
    feature = features_in(families[asked])[asked]
    column = FeatureColumn(name, families[asked], asked, texts=bool(feature.reader))
    if not dot:
        return column, feature
    if field not in FIELDS:
        raise check.fail(key, f"unknown field {field!r} in {name!r}; expected {' or '.join(FIELDS)}")
    if not feature.by_field:
        raise check.fail(key, f"{asked} is the same for each field; leave out .{field}")
    return replace(column, field=field), feature


def _parameters(check: Source, key: str, feature: Feature, given: dict[str, float]) -> dict[str, float]:
    """Return the given parameters in the feature's order. Raises UserError for an unknown or invalid one."""
    declared = {one.name: one for one in feature.parameters}
    for name, value in given.items():
        if name not in declared:
            has = f"its parameters are {', '.join(declared)}" if declared else "it has none"
            raise check.fail(key, f"{feature.name} has no parameter {name!r}; {has}")
        one = declared[name]
        if not one.least <= value <= one.most:
            raise check.fail(f"{key}.{name}", f"{_number(value)} is outside of {one.least:g} to {one.most:g}")
    return {name: given[name] for name in declared if name in given}


def _number(value: float) -> str:
    """Return the shortest exact form of a number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


DEPTH = 100
LOWEST = "lowest"
OF_SYSTEM = "system."  # prefix of the column of a system's score


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


Selected = str | tuple[str, ...]
EACH, ALL, SYSTEMS = "each", "all", "systems"


def alternatives(value: Any) -> list[Any] | None:
    """Return the selections into which a system fans out, with `each` unchanged; None for a single selection."""
    if value == EACH:
        return [EACH]
    if not isinstance(value, list) or not any(one is None or one == EACH or isinstance(one, list) for one in value):
        return None
    return [one if one == EACH else Choice(one and as_list(one), _word(one)) for one in value]


def each(features: Any, name: Any) -> list[Choice]:
    """Return one selection per feature of the named set; `each` itself if there is no such set."""
    entry = features.get(name) if isinstance(features, dict) and isinstance(name, str) else None
    of = entry.get("of") if isinstance(entry, dict) else None
    columns = [_column(asked) for asked in of] if isinstance(of, list) else []
    return [Choice([column], _word(column)) for column in columns] or [Choice(EACH, EACH)]


def select(check: Checker, key: str, name: str, only: Selected | None, without: Selected | None) -> list[str] | None:
    """Return the columns that a ranker learns from, in the order of the file; None if these are all."""
    words: dict[str, list[str]] = {}
    for number, asked in enumerate(check.config.features[name].of or (), 1):
        column, *others = _words(check, f"features.{name}.of[{number}]", asked)
        words[column] = others
    chosen = list(words)
    if only is not None:
        chosen = _named(check, f"{key}.only", only, name, words)
    if without is not None:
        out = _named(check, f"{key}.without", without, name, words)
        chosen = [column for column in chosen if column not in out]
    if not chosen:
        raise check.fail(key, f"only and without leave no feature of {name} to learn from")
    return None if len(chosen) == len(words) else chosen


def _named(check: Checker, key: str, names: Selected, of: str, words: dict[str, list[str]]) -> list[str]:
    """Return the columns that the names refer to, in the order of the file. Raises UserError for an unknown name."""
    found: set[str] = set()
    for name in (names,) if isinstance(names, str) else names:
        meant = {name} if name in words else {column for column, others in words.items() if name in others}
        if not meant:
            known = dict.fromkeys([*words, *(other for others in words.values() for other in others)])
            raise check.fail(key, f"unknown name {name!r}{hint(name, known)}; {of} has {', '.join(known)}")
        found |= meant
    return [column for column in words if column in found]


def _words(check: Source, key: str, asked: str | AskedFeature) -> list[str]:
    """Return the names of a feature: its column, its name with and without a field, its family; or its system."""
    if isinstance(asked, AskedFeature) and asked.system is not None:
        return [OF_SYSTEM + asked.system, asked.system, SYSTEMS]
    one = named_feature(check, key, asked)
    others = dict.fromkeys([f"{one.feature}.{one.field}" if one.field else one.feature, one.feature, one.family])
    return [one.name, *(word for word in others if word and word != one.name)]


def _column(asked: Any) -> str:
    """Return the column of a feature that is not checked yet; errors are reported when it is resolved."""
    try:
        read = asked if isinstance(asked, str) else read_settings(AskedFeature, asked)
        return _words(Source(""), "", read)[0]
    except (UserError, AttributeError, TypeError, ValueError):
        return str(asked)


def _word(selection: Any) -> str:
    """Return a selection as part of a name."""
    if selection is None:
        return ALL
    return "-".join(word_of(one).strip("_") for one in as_list(selection))
