"""Query likelihood with Dirichlet smoothing in Lucene: the probability of the query in a document's language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ranktrial.common.keys import Needs, Rule
from ranktrial.experiment.systems._lexical import Lexical, LexicalKeys, Similarity, grid_of, plain_lists

NAME = "query-likelihood"
SIMILARITY = Similarity(
    NAME, "query likelihood", {"mu": 1000.0}, {"mu": [100.0, 250.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0]}
)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameter of query likelihood."""

    mu: Annotated[
        Annotated[float, Rule(minimum=0.001, maximum=1_000_000)] | None,
        "query-likelihood: mu of Dirichlet smoothing, the weight of the collection's language model; default 1000",
    ] = None


Grid: Any = grid_of(Parameters)


@dataclass(frozen=True, kw_only=True)
class Keys(Parameters, LexicalKeys):
    tune: Annotated[bool | None, "query-likelihood: choose mu on the dev split, then the parameters of feedback"] = None
    grid: Annotated[
        Grid | None, "query-likelihood: the values tried when tuning, and the measure that decides", Needs("tune: true")
    ] = None


PLAIN_LISTS = plain_lists(SIMILARITY)
TYPE = Lexical(SIMILARITY)
