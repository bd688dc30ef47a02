"""Query likelihood with Dirichlet smoothing, by Lucene: how likely a document's language model makes the query."""

from __future__ import annotations

from typing import Any

from scripts.experiment.systems._lexical import Lexical, Similarity, keys, plain_lists

NAME = "query-likelihood"
SIMILARITY = Similarity(
    NAME, "query likelihood", {"mu": 1000.0}, {"mu": [100.0, 250.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0]}
)
MU = {"type": "number", "minimum": 0.001, "maximum": 1000000}
KEYS: dict[str, dict[str, Any]] = {
    **keys(SIMILARITY, {"mu": MU}),
    "mu": {"description": "query-likelihood: how much the collection's language model counts; default 1000", **MU},
}
REFERENCES: dict[tuple[str, ...], str] = {}
PLAIN_LISTS = plain_lists(SIMILARITY)
KIND = Lexical(SIMILARITY)
