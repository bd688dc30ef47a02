"""A model that searches the whole corpus by its vectors, which may be quantised or searched approximately."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from ranktrial.common.errors import shortened
from ranktrial.common.keys import JsonObject, Length, Needs, Not, given
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.index_records import TOKEN_VECTORS, Nearest, Quantised
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import APPROXIMATE
from ranktrial.experiment.systems import _neural
from ranktrial.experiment.systems._neural import ModelSettings, of_model
from ranktrial.models.adapters import adapter, index_of
from ranktrial.models.model_keys import Model

NAME = "retrieve"
MULTIPLIER = 2  # the library's default
OF_TOKENS = r"IVF\d+,(?:PQ\d+|SQ8)"  # faiss index names that are valid for token vectors


def _is_graph(index: str) -> bool:
    return index.startswith("HNSW")


def _has_lists(index: str) -> bool:
    return "IVF" in index


WHOLE_CORPUS = Needs("a search of the whole corpus", path="type", such=NAME.__eq__)
NOT_AGAIN = Not("embeddings.precision: float16", "these are multiplied by the query's own vector at once")


@dataclass(frozen=True, kw_only=True)
class Embeddings:
    """The keys of quantised vectors."""

    precision: Annotated[
        Literal["float32", "float16", "int8", "uint8", "binary", "ubinary"],
        "float32: as encoded; float16: half the size; int8 or uint8: one byte per dimension; binary or ubinary: "
        "one bit per dimension",
    ]
    rescore: Annotated[
        bool | None, "whether the top documents are re-scored with the query's own vector; default true", NOT_AGAIN
    ] = None
    rescore_multiplier: Annotated[
        Length | None,
        f"number of re-scored documents as a multiple of depth; default {MULTIPLIER}",
        NOT_AGAIN,
        Not("embeddings.rescore: false"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Approximate:
    """The keys of an approximate search with faiss."""

    index: Annotated[
        str,
        "faiss's name of the index: HNSW32 (a graph), IVF1024,Flat (lists), IVF1024,SQ8 or IVF1024,PQ48 (lists of "
        "codes), OPQ48,IVF1024,PQ48",
    ]
    efSearch: Annotated[
        Length | None,
        "number of candidates that a search keeps; default 16, and never fewer than depth",
        Needs("an index of HNSW", path="approximate.index", such=_is_graph),
    ] = None
    nprobe: Annotated[
        Length | None,
        "number of lists that a search visits; default 1",
        Needs("an index with IVF", path="approximate.index", such=_has_lists),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Keys(_neural.NeuralKeys):
    embeddings: Annotated[
        Embeddings | None,
        "bi-encoders: precision of the vectors in which the corpus is searched; it is encoded once for all precisions",
        WHOLE_CORPUS,
    ] = None
    approximate: Annotated[
        Approximate | None,
        "bi-encoders and multi-vector models: faiss finds the nearest vectors, or token codes, without comparing "
        "all of them, and misses some; how many is measured",
        WHOLE_CORPUS,
        Not("truncate_dim or embeddings or long_documents: passages", "it searches whole vectors of whole texts"),
    ] = None


REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class Retrieve(_neural.Neural):
    name = NAME
    searches = True
    model_settings = ("type", "max_length", "batch_size")  # PyTorch alone searches, so there is no backend to choose
    by_tokens = False  # it encodes only the queries

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        model = models.get(entry["model"])
        every_pair = "candidates" in entry and model is not None and not adapter(model.type).SEARCHES
        return "rerank" not in entry and not every_pair

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        system = self.with_model(check, name, entry, tasks)
        model_type = check.config.models[str(system.model)].type
        embeddings = _quantised(check, name, entry.embeddings, model_type, system)
        approximate = _approximate(check, name, entry, model_type, system)
        return replace(system, settings=replace(of_model(system), embeddings=embeddings, approximate=approximate))

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        model_type = check.config.models[str(system.model)].type
        if not adapter(model_type).SEARCHES:
            message = f"a {model_type} cannot search a corpus alone; "
            message += "give it 'rerank', or 'candidates: all' (every pair)"
            raise check.fail(f"systems.{system.name}", message)
        super().check(check, system, tasks)

    def encodes_corpus(self, system: System, model: Model) -> bool:
        return True

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {**super().identity(config, system), **_index(system)}

    def ranking_text(self, system: System) -> str:
        settings = of_model(system)
        if near := settings.approximate:
            further = [f", {key} {value}" for key, value in near.parameters.items()]
            return f", searches the corpus approximately (faiss {near.index}{''.join(further)})"
        if not settings.embeddings:
            return ""
        multiplier = settings.embeddings.rescore_multiplier
        again = f", {multiplier} times the depth scored again" if multiplier else ""
        return f", searches the corpus's vectors in {settings.embeddings.precision}{again}"

    def candidates(self, system: System) -> str:
        words, settings = super().candidates(system), of_model(system)
        if settings.approximate:
            return f"{words} by {settings.approximate.index}"
        return f"{words} in {settings.embeddings.precision}" if settings.embeddings else words

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        return {**super().provenance(experiment, system), **_index(system)}


def _index(system: System) -> JsonObject:
    """Return the settings of the index that a system searches instead of its full vectors."""
    settings = of_model(system)
    return given(ModelSettings(embeddings=settings.embeddings, approximate=settings.approximate))


def _quantised(
    check: Checker, name: str, asked: Embeddings | None, model_type: str, system: System
) -> Quantised | None:
    """Return the quantisation of a system's embeddings, or None. Raises UserError if it is impossible."""
    key = f"systems.{name}.embeddings"
    if asked is None:
        return None
    if index_of(model_type) != "vectors":
        raise check.fail(key, f"a {model_type} has an index of its own; only those of bi-encoders are quantised")
    if asked.precision == "float32":
        return None
    if system.passage_length:
        raise check.fail(key, "vectors of passages are not quantised; leave out embeddings, or long_documents")
    again = asked.precision != "float16" if asked.rescore is None else asked.rescore
    multiplier = (asked.rescore_multiplier or MULTIPLIER) if again else 0
    return Quantised(asked.precision, multiplier)


def _approximate(check: Checker, name: str, entry: Keys, model_type: str, system: System) -> Nearest | None:
    """Return the settings of a system's approximate search, or None. Raises UserError if it is impossible."""
    key = f"systems.{name}.approximate"
    asked = entry.approximate
    if asked is None:
        return None
    if index_of(model_type) not in ("vectors", TOKEN_VECTORS):
        problem = "has an index of its own; only the vectors of bi-encoders and multi-vector models are searched so"
        raise check.fail(key, f"a {model_type} {problem}")
    if not re.fullmatch(APPROXIMATE, asked.index):
        expected = "HNSW32, IVF1024,Flat, IVF1024,SQ8, IVF1024,PQ48 or OPQ48,IVF1024,PQ48, with other numbers"
        raise check.fail(
            f"{key}.index", f"{shortened(asked.index)} is none that can be built here; expected {expected}"
        )
    if index_of(model_type) == TOKEN_VECTORS and not re.fullmatch(OF_TOKENS, asked.index):
        problem = "is none for token vectors; expected centroids and residual codes, IVF4096,PQ32 or IVF4096,SQ8"
        raise check.fail(f"{key}.index", f"{asked.index} {problem}")
    return Nearest(asked.index, asked.efSearch, asked.nprobe)


TYPE = Retrieve()
