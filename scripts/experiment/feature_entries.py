"""Resolves one entry of a feature set: a feature by its name, maybe of one field or with parameters of its own.

`BM25` and `BM25.title` are names; `{BM25.title: {k1: 0.9, b: 0.4}}` sets parameters, which the name of its column then
states in the order of the feature's formula: `BM25.title(k1=0.9;b=0.4)`. There is no comma in it, nor another sign of
JSON's, since LightGBM takes no such name. Reads and writes nothing.
"""

from __future__ import annotations

from typing import Any

from scripts.experiment.checker import Checker
from scripts.features.families import Feature, features_in, known

FIELDS = ("title", "text")  # what may be a field of its own
OF_ENTRY = "a name, {NAME: {parameter: value}} or {system: NAME}"


def named_feature(check: Checker, key: str, asked: str | dict[str, Any]) -> dict[str, Any]:
    """A feature that is computed from terms or texts, as in its job's settings. Raises UserError for an unknown one."""
    if isinstance(asked, str):
        return _without_parameters(check, key, asked)
    if len(asked) != 1:
        raise check.fail(key, f"has the keys {', '.join(asked)}; expected {OF_ENTRY}, one feature per entry")
    ((name, given),) = asked.items()
    if not isinstance(given, dict):  # {missing: 0} alone
        raise check.fail(key, f"{name} is no feature; expected {OF_ENTRY}")
    resolved = _without_parameters(check, key, name)
    parameters = _parameters(check, f"{key}.{name}", features_in(resolved["family"])[resolved["feature"]], given)
    written = ";".join(f"{parameter}={_number(value)}" for parameter, value in parameters.items())
    return resolved | {"name": f"{name}({written})", "parameters": parameters}


def same_feature(entry: dict[str, Any]) -> tuple[Any, ...]:
    """What two entries have alike that make the same numbers: a parameter at its default is as one not set."""
    if "family" not in entry:
        return (entry["name"],)
    values = features_in(entry["family"])[entry["feature"]].defaults() | entry.get("parameters", {})
    return (entry["feature"], entry.get("field"), *sorted(values.items()))


def _without_parameters(check: Checker, key: str, name: str) -> dict[str, Any]:
    feature, dot, field = name.partition(".")
    families = known()
    if feature not in families:
        expected = f"expected {', '.join(families)} or {{system: NAME}}"
        raise check.fail(key, f"unknown feature {name!r}; {expected}")
    resolved: dict[str, Any] = {"name": name, "family": families[feature], "feature": feature}
    if features_in(families[feature])[feature].reader:
        resolved["texts"] = True
    if not dot:
        return resolved
    if field not in FIELDS:
        raise check.fail(key, f"unknown field {field!r} in {name!r}; expected {' or '.join(FIELDS)}")
    if not features_in(families[feature])[feature].by_field:
        raise check.fail(key, f"{feature} is the same for each field; leave out .{field}")
    return resolved | {"field": field}


def _parameters(check: Checker, key: str, feature: Feature, given: dict[str, float]) -> dict[str, float]:
    """The parameters that are set, in the feature's own order."""
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
    """A number in its shortest form that is exactly it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
