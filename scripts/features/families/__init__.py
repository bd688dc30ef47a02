"""The features of a query and a document, in families: what a feature is given, and how its file declares it.

A family is a module with a NAME. Each of its features is one function with a decorator, whose docstring has formula and
source; nothing else names it. `@of_terms("BM25")` makes a feature of a function that gives a score to each term of the
query that the document holds: these are summed. `@of_pairs("document_length")` takes a function with one value per
pair. Both compute with all pairs at once, in arrays. `@of_texts("comparative_objects", reader)` takes a function of
what the reader makes of the texts of queries and candidates. A parameter that a configuration may set is declared with
the decorator, `@of_terms("PL2", Parameter("c", 0.001, 1000))`; its default is that of the function. Reads and writes
nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scripts.common import plugins

FAMILIES = "scripts.features.families"

# Queries (id -> text), documents (id, text) and maybe a file with what a model found in them -> what features are of.
TextReader = Callable[[dict[str, str], Iterable[tuple[str, str]], Path | None], Any]


@dataclass(frozen=True)
class Matches:
    """An entry for each term of a query that one of its candidates holds, and the statistics of the collection.

    `pair` says which query and candidate an entry is of. A term's key frequency is how often the query has it, over how
    often it has its most frequent term.
    """

    pair: np.ndarray
    tf: np.ndarray
    document_length: np.ndarray
    key_frequency: np.ndarray
    df: np.ndarray  # documents that hold the term
    cf: np.ndarray  # occurrences of the term in all of them
    documents: float | np.ndarray  # of the collection
    tokens: float | np.ndarray

    @property
    def mean_length(self) -> float | np.ndarray:
        """Tokens a document."""
        return self.tokens / self.documents


@dataclass(frozen=True)
class QueryTerms:
    """A query: its distinct terms' counts in it, and the number of documents that hold each, 0 where none does."""

    counts: np.ndarray
    df: np.ndarray


@dataclass(frozen=True)
class Candidates:
    """Pairs of a query and a candidate of it, in one field; arrays have one element per pair."""

    query: np.ndarray  # the place of the pair's query in `queries`
    first_stage_score: np.ndarray
    first_stage_rank: np.ndarray
    document_length: np.ndarray
    queries: list[QueryTerms]
    matches: Matches


@dataclass(frozen=True)
class Parameter:
    """What a configuration may set of a feature, from `least` to `most`, within which its values are finite."""

    name: str
    least: float
    most: float
    argument: str = ""  # of the function, where Python does not allow the name


@dataclass(frozen=True)
class Feature:
    """A feature by its name: `function` gives one value per entry of the matches, to be summed, or one value per pair.

    That of a feature with a `reader` takes what this makes of the texts, and the ids of each pair's query and document.
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
        """The value of each parameter that nobody sets."""
        declared = inspect.signature(self.function).parameters
        return {one.name: declared[one.argument or one.name].default for one in self.parameters}

    def having(self, values: Mapping[str, float]) -> Feature:
        """The feature with these values of its parameters, by their names, and the defaults of all others."""
        arguments = {one.argument or one.name: values[one.name] for one in self.parameters if one.name in values}
        return replace(self, function=partial(self.function, **arguments))


def of_terms(name: str, *parameters: Parameter) -> Callable[[Callable[..., np.ndarray]], Feature]:
    """Declares a feature that is a sum over the terms of the query that a document holds."""
    return lambda function: Feature(name, function, sums_terms=True, by_field=True, parameters=parameters)


def of_pairs(
    name: str, *parameters: Parameter, by_field: bool = True
) -> Callable[[Callable[..., np.ndarray]], Feature]:
    """Declares a feature of pairs; `by_field` says whether title and text may have different values."""
    return lambda function: Feature(name, function, sums_terms=False, by_field=by_field, parameters=parameters)


def of_texts(name: str, reader: TextReader) -> Callable[[Callable[..., np.ndarray]], Feature]:
    """Declares a feature of the texts of pairs; features with the same reader have it read them once."""
    return lambda function: Feature(name, function, sums_terms=False, by_field=False, reader=reader)


def features_in(family: str) -> dict[str, Feature]:
    """The features of a family by name."""
    found = [value for value in vars(plugins.load(FAMILIES, family)).values() if isinstance(value, Feature)]
    return {feature.name: feature for feature in found}


def known() -> dict[str, str]:
    """All features: name -> the family that it is in. ValueError where two have the same name."""
    family_of: dict[str, str] = {}
    for family in plugins.load_all(FAMILIES):
        for name in features_in(family):
            if name in family_of:
                raise ValueError(f"feature {name!r} is in the families {family_of[name]} and {family}")
            family_of[name] = family
    return family_of
