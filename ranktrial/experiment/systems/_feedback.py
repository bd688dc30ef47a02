"""Pseudo-relevance feedback of BM25 and query likelihood: its keys, and the settings that follow from an entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ranktrial.common.keys import LEFT_OUT, Rule, Share
from ranktrial.experiment.checker import Checker
from ranktrial.ir.feedback import METHODS, NEGATIVE, RM3_DOCUMENTS, parameters_of

Count = Annotated[int, Rule(minimum=1, maximum=1000)]
Weight = Annotated[float, Rule(minimum=0, maximum=1000)]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of feedback. The default values are Anserini's."""

    feedback_terms: Annotated[Count | None, "feedback: number of terms added to the query; default 10", LEFT_OUT] = None
    feedback_documents: Annotated[
        Count | None, "feedback: number of top documents from which the terms are taken; default 10", LEFT_OUT
    ] = None
    original_query_weight: Annotated[
        Share | None, "rm3: weight of the query's own terms, the others share the rest; default 0.5", LEFT_OUT
    ] = None
    alpha: Annotated[Weight | None, "rocchio: weight of the query's own terms; default 1", LEFT_OUT] = None
    beta: Annotated[Weight | None, "rocchio: weight of the terms of the top documents; default 0.75", LEFT_OUT] = None
    gamma: Annotated[
        Weight | None,
        "rocchio: weight with which the terms of the run's last documents are subtracted; default 0, none",
        LEFT_OUT,
    ] = None
    negative_terms: Annotated[
        Count | None, "rocchio with gamma: number of terms that are subtracted; default 10", LEFT_OUT
    ] = None
    negative_documents: Annotated[
        Count | None,
        "rocchio with gamma: number of last documents from which these terms are taken; default 10",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class FeedbackKeys(Parameters):
    """The keys of a system's feedback."""

    feedback: Annotated[
        Literal["rm3", "rocchio"] | None,
        "pseudo-relevance feedback: terms of a query's top documents are added to it, and it is searched again "
        "(with fields: together)",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True)
class Parameter:
    """The default value of a parameter, and the values that tuning tries."""

    usual: float
    tried: tuple[float, ...] = ()

    def value(self, given: float) -> float:
        """Return the value as in a job's settings: counts as integers, weights as floats."""
        return int(given) if isinstance(self.usual, int) else float(given)


PARAMETERS = {
    "feedback_terms": Parameter(10, (5, 10, 20)),
    "feedback_documents": Parameter(10, (5, 10, 20)),
    "original_query_weight": Parameter(0.5, (0.3, 0.5, 0.7)),
    "alpha": Parameter(1.0),
    "beta": Parameter(0.75, (0.5, 0.75, 1.0)),
    "gamma": Parameter(0.0),
    "negative_terms": Parameter(10),
    "negative_documents": Parameter(10),
}
NONE: Mapping[str, Sequence[float]] = MappingProxyType({})
Used = Mapping[str, Mapping[str, float]]  # method -> parameter -> value
Tried = Mapping[str, Mapping[str, list[float]]]  # method -> parameter -> values to try
BOTH_ZERO = "is 0, and so is beta: no term would have a weight; expected one of them above 0"


def feedback_values(
    check: Checker, key: str, entry: FeedbackKeys, tuned: bool = False, tried: Mapping[str, Sequence[float]] = NONE
) -> Tried:
    """Return the method with a list of values per parameter: one value each, or several to try if it is `tuned`.

    `tried` are the values given in the grid. Empty without feedback. Raises UserError for parameters that the method
    does not have, or for values that it cannot use.
    """
    method, fixed = entry.feedback, parameters_in(entry, PARAMETERS)
    place = {name: f"{key}.{name}" if name in fixed else f"{key}.grid.{name}" for name in PARAMETERS}
    given = [name for name in PARAMETERS if name in fixed or name in tried]
    if method is None:
        if given:
            raise check.fail(place[given[0]], f"only valid with feedback: {' or '.join(METHODS)}")
        return {}
    names = parameters_of(method, given)
    if alien := [name for name in given if name not in names]:
        why = f"only valid with {NEGATIVE}; without it" if alien[0] in METHODS[method] else "no parameter of feedback:"
        raise check.fail(place[alien[0]], f"{why} {method} has {', '.join(names)}")
    if twice := [name for name in names if name in fixed and name in tried]:
        raise check.fail(f"{key}.grid.{twice[0]}", f"{twice[0]} is given beside the grid; leave one of both out")
    most = RM3_DOCUMENTS if method == "rm3" else getattr(entry, "depth", None) or check.config.depth
    values = {name: _values(name, fixed, tried, most if tuned else None) for name in names}
    for name in ("feedback_documents", "negative_documents"):
        if name in names and max(values[name]) > most:
            sees = f"the best {most} of the first search" if method == "rm3" else f"the {most} that a run keeps (depth)"
            problem = f"{max(values[name])} are more documents than {method} sees, {sees}; expected at most {most}"
            raise check.fail(place[name] if name in given else f"{key}.{name}", problem)
    if "alpha" in names and 0 in values["alpha"] and 0 in values["beta"]:
        raise check.fail(place["alpha"], BOTH_ZERO)
    if NEGATIVE in names and 0 in values[NEGATIVE]:
        raise check.fail(place[NEGATIVE], "is 0, so no document would count against a term; leave it out")
    return {method: values}


def parameters_in(record: object, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the named parameters that an entry, or its grid, gives."""
    values = {name: getattr(record, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _values(
    name: str, fixed: Mapping[str, float], tried: Mapping[str, Sequence[float]], most: int | None
) -> list[float]:
    """Return the values of a parameter: as given, from the grid, or the default; with tuning, the default grid.

    `most` is the largest number of feedback documents if the system is tuned, otherwise None.
    """
    parameter = PARAMETERS[name]
    if name in fixed:
        return [parameter.value(fixed[name])]
    if name in tried:
        return [parameter.value(value) for value in tried[name]]
    if most is None or not parameter.tried:
        return [parameter.usual]
    if name == "feedback_documents":
        return [value for value in parameter.tried if value <= most] or [most]
    return list(parameter.tried)


def one_of_each(feedback: Tried) -> Used:
    """Return the feedback of a system that is not tuned, with one value per parameter."""
    return {method: {name: values[0] for name, values in tried.items()} for method, tried in feedback.items()}


def as_text(feedback: Used | Tried) -> str:
    """Return the feedback as part of a system's description; empty without feedback."""
    if not feedback:
        return ""
    ((method, given),) = feedback.items()
    name, values = {"rm3": "RM3", "rocchio": "Rocchio"}[method], single(given)
    if values is None:
        return f", feedback by {name} tuned on dev"
    return f", feedback by {name} ({', '.join(f'{key} = {value:g}' for key, value in values.items())})"


def single(parameters: Mapping[str, float] | Mapping[str, list[float]]) -> dict[str, float] | None:
    """Return the value of each parameter; None if tuning chooses among several values of one."""
    values = [value if isinstance(value, Sequence) else (value,) for value in parameters.values()]
    if any(len(value) > 1 for value in values):
        return None
    return {name: value[0] for name, value in zip(parameters, values, strict=True)}
