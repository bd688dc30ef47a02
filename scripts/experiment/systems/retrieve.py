"""A model that searches the whole corpus by its vectors, which may be quantised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.results_paths import INDEX_PRECISIONS
from scripts.experiment.systems import _neural
from scripts.models.adapters import adapter, index_of

NAME = "retrieve"
MULTIPLIER = 2  # the library's
KEYS: dict[str, dict[str, Any]] = {
    **_neural.KEYS,
    "embeddings": {
        "description": "of a bi-encoder: the precision in which the corpus is searched; it is encoded once for all",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "precision": {
                "description": "float32: as encoded; int8 or uint8: a byte a dimension; binary or ubinary: a bit",
                "enum": ["float32", *INDEX_PRECISIONS],
            },
            "rescore": {
                "description": "whether the best are scored again by the query's own vector; default true",
                "type": "boolean",
            },
            "rescore_multiplier": {
                "description": f"how many times depth are scored again; default {MULTIPLIER}",
                "$ref": "#/$defs/length",
            },
        },
    },
}
REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class Retrieve(_neural.Neural):
    name = NAME
    searches = True
    model_settings = ("type", "max_length", "batch_size")  # PyTorch alone searches, so there is no backend to choose

    def implied(self, config: dict[str, Any], entry: dict[str, Any]) -> bool:
        model = config["models"].get(entry["model"])
        every_pair = "candidates" in entry and model is not None and not adapter(model["type"]).SEARCHES
        return "rerank" not in entry and not every_pair

    def resolve(self, check: Checker, name: str, entry: dict[str, Any], tasks: dict[str, Task]) -> System:
        system = super().resolve(check, name, entry, tasks)
        quantised = _quantised(check, name, entry, check.config["models"][entry["model"]]["type"], system)
        return replace(system, settings=system.settings | quantised)

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        kind_of_model = check.config["models"][system.model]["type"]
        if not adapter(kind_of_model).SEARCHES:
            message = f"a {kind_of_model} cannot search a corpus alone; "
            message += "give it 'rerank', or 'candidates: all' (every pair)"
            raise check.fail(f"systems.{system.name}", message)
        super().check(check, system, tasks)

    def encodes_corpus(self, system: System, model: dict[str, Any]) -> bool:
        return True

    def identity(self, config: dict[str, Any], system: System) -> dict[str, Any]:
        return {**super().identity(config, system), "embeddings": system.settings.get("embeddings")}

    def ranking_in_words(self, system: System) -> str:
        told = system.settings.get("embeddings")
        if not told:
            return ""
        again = f", {told['rescore_multiplier']} times the depth scored again" if told["rescore_multiplier"] else ""
        return f", searches the corpus's vectors in {told['precision']}{again}"

    def candidates(self, system: System) -> str:
        told = system.settings.get("embeddings")
        return f"{super().candidates(system)} in {told['precision']}" if told else super().candidates(system)

    def provenance(self, experiment: Experiment, system: System) -> dict[str, Any]:
        told = system.settings.get("embeddings")
        return {**super().provenance(experiment, system), **({"embeddings": told} if told else {})}


def _quantised(check: Checker, name: str, entry: dict[str, Any], kind: str, system: System) -> dict[str, Any]:
    """How a system's embeddings are quantised; empty where they are not. Raises UserError where that cannot be."""
    given, key = entry.get("embeddings", {"precision": "float32"}), f"systems.{name}.embeddings"
    if "embeddings" in entry and index_of(kind) != "vectors":
        raise check.fail(key, f"a {kind} has an index of its own; only those of bi-encoders are quantised")
    if "precision" not in given:
        raise check.fail(key, f"key 'precision' is missing; expected float32, {', '.join(INDEX_PRECISIONS)}")
    if given["precision"] == "float32":
        return {}
    if system.passage_length:
        raise check.fail(key, "vectors of passages are not quantised; leave out embeddings, or long_documents")
    again = given.get("rescore", True)
    if not again and "rescore_multiplier" in given:
        problem = "nothing is scored again with rescore: false; leave out one of both"
        raise check.fail(f"{key}.rescore_multiplier", problem)
    multiplier = given.get("rescore_multiplier", MULTIPLIER) if again else 0
    return {"embeddings": {"precision": given["precision"], "rescore_multiplier": multiplier}}


KIND = Retrieve()
