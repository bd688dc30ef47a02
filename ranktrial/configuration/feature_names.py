"""Names of features, and the selection of a ranker's features by name; reads and writes nothing.

`BM25` and `BM25.title` are names. `{BM25.title: {k1: 0.9, b: 0.4}}` sets parameters, which the column name then states
in the order of the feature's formula: `BM25.title(k1=0.9;b=0.4)`. It contains no comma and no other special character
of JSON, since LightGBM rejects such names.

`only` and `without` of a ranker name features by their column, by their name for any field and parameters, by their
family (`systems` is that of scores), or by the system whose score they are. fanout.py makes one system of each of
several selections.
"""

from __future__ import annotations

from dataclasses import replace

from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker, Source
from ranktrial.configuration.sections.features import AskedFeature, FeatureColumn
from ranktrial.features.families import Feature, features_in, known

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


OF_SYSTEM = "system."  # prefix of the column of a system's score


Selected = str | tuple[str, ...]
EACH, ALL, SYSTEMS = "each", "all", "systems"


def select(check: Checker, key: str, name: str, only: Selected | None, without: Selected | None) -> list[str] | None:
    """Return the columns that a ranker learns from, in the order of the file; None if these are all."""
    words: dict[str, list[str]] = {}
    for number, asked in enumerate(check.config.features[name].of or (), 1):
        column, *others = words_of(check, f"features.{name}.of[{number}]", asked)
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


def words_of(check: Source, key: str, asked: str | AskedFeature) -> list[str]:
    """Return the names of a feature: its column, its name with and without a field, its family; or its system."""
    if isinstance(asked, AskedFeature) and asked.system is not None:
        return [OF_SYSTEM + asked.system, asked.system, SYSTEMS]
    one = named_feature(check, key, asked)
    others = dict.fromkeys([f"{one.feature}.{one.field}" if one.field else one.feature, one.feature, one.family])
    return [one.name, *(word for word in others if word and word != one.name)]
