"""A model that scores every pair of a query and a document of the corpus."""

from __future__ import annotations

from typing import Any

from scripts.experiment.records import System
from scripts.experiment.systems import _neural
from scripts.models.adapters import adapter

NAME = "score_all"
KEYS: dict[str, dict[str, Any]] = {
    **_neural.KEYS,
    "candidates": {
        "description": "what a system without rerank scores; a cross-encoder needs it, as it then scores every pair",
        "enum": ["all"],
    },
}
REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class ScoreAll(_neural.Neural):
    name = NAME
    searches = True

    def implied(self, config: dict[str, Any], entry: dict[str, Any]) -> bool:
        model = config["models"].get(entry["model"])
        scores_pairs = model is not None and not adapter(model["type"]).SEARCHES
        return "candidates" in entry and "rerank" not in entry and scores_pairs

    def ranking_text(self, system: System) -> str:
        return ", scores all pairs of a query and a document"


KIND = ScoreAll()
