"""The settings of encoding a corpus and of exporting a checkpoint to ONNX; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.models.batch_sizes import BATCHES, texts_per_batch
from ranktrial.models.kernels import Kernels


@dataclass(frozen=True, kw_only=True)
class EncodingSettings:
    """The model that encodes, its limits on texts, and the part of the corpus."""

    type: Annotated[str, "type of the model, one that searches"]
    max_length: Annotated[int, "tokens kept of a text"]
    batch_size: Annotated[int, "texts per batch"]
    max_document_length: Annotated[int | None, "tokens kept of a document, without special ones"] = None
    prompts: Annotated[dict[str, str] | None, "put before documents, by role; null: those that the model stores"] = None
    batch_tokens: Annotated[int | None, "in place of batch_size: tokens per batch, with padding"] = None
    kernels: Kernels = "fast"
    shard: Annotated[list[int] | None, "which one from 0 and of how many is encoded; null: the whole corpus"] = None

    @property
    def max_query_length(self) -> None:
        """Unused, since no query is encoded here."""

    @property
    def chunk(self) -> int:
        """The number of documents encoded at a time: a few batches."""
        return BATCHES * texts_per_batch(self.batch_size, self.batch_tokens, self.max_length)


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    """The model that is exported, and how."""

    type: Annotated[str, "type of the model, one that can be exported"]
    max_length: Annotated[int, "tokens kept of a text or a pair"]
    precision: Annotated[Literal["fp32", "int8"], "of the weights"]
    kernels: Kernels = "fast"
