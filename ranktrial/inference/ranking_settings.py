"""The settings of all scripts that rank with a model; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.common.keys import OTHERS, JsonObject
from ranktrial.models.kernels import Kernels


@dataclass(frozen=True, kw_only=True)
class RankingSettings:
    """The model that ranks, and its limits on texts."""

    type: Annotated[str, "type of the model"]
    max_length: Annotated[int, "tokens kept of a text, or of a pair where pairs are scored"]
    batch_size: Annotated[int, "texts or pairs per batch"]
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "name of the run, its last column"]
    max_query_length: Annotated[int | None, "tokens kept of a query, without special ones; null: no limit"] = None
    max_document_length: Annotated[int | None, "tokens kept of a document, without special ones"] = None
    passage_length: Annotated[int | None, "characters a passage, where texts were split; goes into the timing"] = None
    prompts: Annotated[dict[str, str] | None, "put before texts, by role; null: those that the model stores"] = None
    kernels: Kernels = "fast"
    shard: Annotated[list[int] | None, "of the work of several jobs: which part, from 0, and of how many"] = None


@dataclass(frozen=True, kw_only=True)
class PairSettings(RankingSettings):
    """The settings of scripts that may score pairs of texts."""

    backend: Annotated[str, "what computes: torch, or onnx if the type supports it"]
    batch_tokens: Annotated[int | None, "in place of batch_size: tokens per batch, with padding"] = None


@dataclass(frozen=True, kw_only=True)
class RerankingSettings(PairSettings):
    """The settings of re-ranking, whose `depth` is also that of the candidates that are scored."""

    truncate_dim: Annotated[int | None, "first dimensions of each vector that count; null: all of them"] = None


@dataclass(frozen=True, kw_only=True)
class SearchSettings(RankingSettings):
    """The settings of a search."""

    form: Annotated[str, "form of the index"] = "vectors"
    truncate_dim: Annotated[int | None, "first dimensions of each vector that count; null: all of them"] = None
    derived: Annotated[JsonObject, "settings of a derived form, below its key", OTHERS] = field(default_factory=dict)
