"""A model that scores every pair of query and document of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import Not
from ranktrial.experiment.records import System
from ranktrial.experiment.systems import _neural
from ranktrial.models.adapters import adapter
from ranktrial.models.model_keys import Model

NAME = "score_all"


@dataclass(frozen=True, kw_only=True)
class Keys(_neural.NeuralKeys):
    candidates: Annotated[
        Literal["all"] | None,
        "documents scored by a system without rerank; a cross-encoder needs it, and then scores every pair of "
        "query and document",
        Not("rerank", "all documents or those of a first stage"),
    ] = None


REFERENCES = _neural.REFERENCES
PLAIN_LISTS = _neural.PLAIN_LISTS


class ScoreAll(_neural.Neural):
    name = NAME
    searches = True

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        model = models.get(entry["model"])
        scores_pairs = model is not None and not adapter(model.type).SEARCHES
        return "candidates" in entry and "rerank" not in entry and scores_pairs

    def ranking_text(self, system: System) -> str:
        return ", scores all pairs of a query and a document"


TYPE = ScoreAll()
