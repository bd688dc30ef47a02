"""Families of features of query-document pairs: the inputs of a feature, and how its module declares it.

A family is a module with a NAME. Each of its features is one decorated function, whose docstring states formula and
source; no other file lists it. `@of_terms("BM25")` declares a feature from a function that returns a score for each
query term that occurs in the document; these scores are summed. `@of_pairs("document_length")` takes a function with
one value per pair. Both are computed for all pairs at once, in arrays. `@of_texts("comparative_objects", reader)` takes
a function of the reader's result for the texts of queries and candidates. Parameters that a configuration may set are
passed to the decorator, as in `@of_terms("PL2", Parameter("c", 0.001, 1000))`; their defaults are those of the
function. Reads and writes no files.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common import plugins

FAMILIES = "ranktrial.features.families"

# (queries: id -> text; documents: (id, text); optionally a file with a model's labels) -> the input of features.
TextReader = Callable[[dict[str, str], Iterable[tuple[str, str]], Path | None], Any]


@dataclass(frozen=True)
class Matches:
    """One entry per query term and candidate that contains it, with the statistics of the collection.

    `pair` is the index of an entry's pair of query and candidate. The key frequency of a term is its frequency in the
    query, divided by that of the query's most frequent term.
    """

    pair: np.ndarray
    tf: np.ndarray
    document_length: np.ndarray
    key_frequency: np.ndarray
    df: np.ndarray  # documents that contain the term
    cf: np.ndarray  # occurrences of the term in the collection
    documents: float | np.ndarray  # number of documents in the collection
    tokens: float | np.ndarray

    @property
    def mean_length(self) -> float | np.ndarray:
        """Mean number of tokens per document."""
        return self.tokens / self.documents


@dataclass(frozen=True)
class QueryTerms:
    """A query: the counts of its distinct terms, and the number of documents that contain each (0 if none does)."""

    counts: np.ndarray
    df: np.ndarray


@dataclass(frozen=True)
class Candidates:
    """Pairs of a query and one of its candidates, for one field; arrays have one element per pair."""

    query: np.ndarray  # index of the pair's query in `queries`
    first_stage_score: np.ndarray
    first_stage_rank: np.ndarray
    document_length: np.ndarray
    queries: list[QueryTerms]
    matches: Matches


@dataclass(frozen=True)
class Parameter:
    """A parameter that a configuration may set, from `least` to `most`; within this range, the feature is finite."""

    name: str
    least: float
    most: float
    argument: str = ""  # name in the function, if Python does not allow `name`


@dataclass(frozen=True)
class Feature:
    """A named feature: `function` returns one value per entry of the matches, to be summed, or one value per pair.

    For a feature with a `reader`, it takes the reader's result for the texts, and the ids of each pair's query and
    document.
    """

    name: str
    function: Callable[..., np.ndarray]
    sums_terms: bool
    by_field: bool
    parameters: tuple[Parameter, ...] = ()
    reader: TextReader | None = None

    def values(self, candidates: Candidates) -> np.ndarray:
        """The feature's value for each pair."""
        if not self.sums_terms:
            return np.asarray(self.function(candidates), dtype=np.float64)
        scores = self.function(candidates.matches)
        return np.bincount(candidates.matches.pair, weights=scores, minlength=len(candidates.query))

    def defaults(self) -> dict[str, float]:
        """The default values of the parameters."""
        declared = inspect.signature(self.function).parameters
        return {one.name: declared[one.argument or one.name].default for one in self.parameters}

    def having(self, values: Mapping[str, float]) -> Feature:
        """The feature with the given parameter values, by name, and defaults for all others."""
        arguments = {one.argument or one.name: values[one.name] for one in self.parameters if one.name in values}
        return replace(self, function=partial(self.function, **arguments))


def of_terms(name: str, *parameters: Parameter) -> Callable[[Callable[..., np.ndarray]], Feature]:
    """Declare a feature that is a sum over the query terms that occur in a document."""
    return lambda function: Feature(name, function, sums_terms=True, by_field=True, parameters=parameters)


def of_pairs(
    name: str, *parameters: Parameter, by_field: bool = True
) -> Callable[[Callable[..., np.ndarray]], Feature]:
    """Declare a feature of pairs; `by_field` states whether title and text may have different values."""
    return lambda function: Feature(name, function, sums_terms=False, by_field=by_field, parameters=parameters)


def of_texts(name: str, reader: TextReader) -> Callable[[Callable[..., np.ndarray]], Feature]:
    """Declare a feature of the texts of pairs; features with the same reader share its result."""
    return lambda function: Feature(name, function, sums_terms=False, by_field=False, reader=reader)


def features_in(family: str) -> dict[str, Feature]:
    """The features of a family, by name."""
    found = [value for value in vars(plugins.load(FAMILIES, family)).values() if isinstance(value, Feature)]
    return {feature.name: feature for feature in found}


def known() -> dict[str, str]:
    """All features: name -> family. Raises ValueError if two have the same name."""
    family_of: dict[str, str] = {}
    for family in plugins.load_all(FAMILIES):
        for name in features_in(family):
            if name in family_of:
                raise ValueError(f"feature {name!r} is in the families {family_of[name]} and {family}")
            family_of[name] = family
    return family_of
