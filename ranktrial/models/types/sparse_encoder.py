"""Sparse encoders (learned sparse retrieval, such as SPLADE): a text becomes a sparse vector of term weights.

A document's score is the dot product of its weights and the query's, so only documents that share a term are found.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ranktrial.common.errors import UserError
from ranktrial.models.encoders import facts, give_prompts, prompts, tokenizer  # noqa: F401
from ranktrial.models.losses import LISTS
from ranktrial.models.teaching import SCORED

if TYPE_CHECKING:
    import scipy.sparse
    import torch
    from sentence_transformers import SparseEncoder

    from ranktrial.models.adapters import Role, Training
    from ranktrial.models.onnx_export import Exportable
    from ranktrial.models.onnx_sparse import OnnxSparseEncoder

    Model: TypeAlias = SparseEncoder | OnnxSparseEncoder

NAME = "sparse-encoder"
LOADED_BY, PIPELINE_TAG = "SparseEncoder", "feature-extraction"
SEARCHES = True
INDEX = "terms"
BACKENDS = ("torch",)
EXPORTS = True
DESCRIPTION = "each text becomes a vector of term weights, most of them 0 (SPLADE); max_length applies to a text"
LOSSES = {"SpladeLoss": LISTS}
DISTILLED = {"SparseMarginMSELoss": SCORED, "SparseDistillKLDivLoss": SCORED}
MARGINS: dict[str, str] = {}
REGULARIZED = ("SpladeLoss", *DISTILLED)
HAS_HEAD = False
DEFAULT_LOSS = "SpladeLoss"
DEFAULT_DISTILLED = "SparseDistillKLDivLoss"

DOCUMENT_WEIGHT, QUERY_WEIGHT = 3e-5, 5e-5  # the defaults of the library's trainer


def load(folder: Path, max_length: int, to_train: bool = False) -> Model:
    """Load a sparse encoder that keeps `max_length` tokens of a text, with onnxruntime if it was exported to ONNX.

    It needs a masked-language-model head, whose vocabulary provides the terms, even if it is loaded `to_train`. Queries
    may pass through modules of their own, such as term weights that need no inference. Raises UserError if the model
    cannot be loaded.
    """
    from ranktrial.models import loading
    from ranktrial.models.onnx_session import FILE
    from ranktrial.models.running import import_library

    if (folder / FILE).is_file():
        from ranktrial.models.onnx_sparse import OnnxSparseEncoder

        return OnnxSparseEncoder(folder, max_length)
    config = loading.check(folder, with_routes=True)
    if not any(name.endswith("ForMaskedLM") for name in config.get("architectures") or []):
        problem = "its weights have no head that predicts masked words (…ForMaskedLM), whose vocabulary the terms are"
        raise UserError(f"{folder}: no sparse encoder: {problem}")
    import_library()
    loading.quiet()
    from sentence_transformers import SparseEncoder

    model = loading.load(SparseEncoder, folder)
    if model.similarity_fn_name != "dot":
        raise UserError(f"{folder}: its similarity is {model.similarity_fn_name}; only dot can be searched")
    vocabularies = [module.tokenizer.get_vocab() for module in loading.routed_modules(model)]
    if any(vocabulary != vocabularies[0] for vocabulary in vocabularies):
        raise UserError(f"{folder}: no sparse encoder: its queries and documents have different vocabularies")
    loading.limit(model, folder, max_length)
    loading.find_document_prompt(model, folder)
    return model


def exportable(model: SparseEncoder, folder: Path) -> Exportable:
    """The part of a loaded model that is exported to ONNX: everything from tokens to term weights.

    Raises UserError for a model whose queries pass through modules of their own, or that limits the number of terms per
    text.
    """
    from ranktrial.models import loading
    from ranktrial.models.onnx_export import Exportable

    if loading.routed_modules(model):
        raise UserError("cannot be exported to ONNX: its queries pass modules of their own (a Router)")
    if model.max_active_dims:
        raise UserError("cannot be exported to ONNX: it keeps only so many terms of a text (max_active_dims)")
    return Exportable(
        model=model,
        compute=lambda whole, features: whole(features)["sentence_embedding"],
        features=model.preprocess(["a text", "and another one"]),
        tokenizer=model.tokenizer if tokenizer(model) else None,
        record={"prompts": prompts(model), "terms": model.get_embedding_dimension()},
    )


def warm_up(model: Model, batch_size: int) -> None:
    """Encode one batch."""
    encode(model, ["warm-up"] * batch_size, batch_size, "query")


def training() -> Training:
    """The library's trainer and losses for sparse encoders; the losses use a text's term weights.

    SpladeLoss combines the loss of in-batch negatives, or of a teacher's scores, with the expected cost of a search
    (FLOPS), whose weights for documents and queries rise over the first third of the steps.
    """
    from sentence_transformers import SparseEncoderTrainer, SparseEncoderTrainingArguments
    from sentence_transformers.sparse_encoder import losses

    from ranktrial.models.adapters import Training
    from ranktrial.models.distillation import similarity_of, softened
    from ranktrial.models.prompts import of_columns

    def loss(
        name: str,
        model: SparseEncoder,
        margin: float | None = None,
        document_regularizer_weight: float = DOCUMENT_WEIGHT,
        query_regularizer_weight: float = QUERY_WEIGHT,
        temperature: float | None = None,
        scale: float | None = None,
    ) -> torch.nn.Module:
        if name in DISTILLED:
            inner = getattr(losses, name)(model, similarity_fct=similarity_of(model, scale), **softened(temperature))
        else:
            inner = losses.SparseMultipleNegativesRankingLoss(model)
        return losses.SpladeLoss(
            model,
            inner,
            document_regularizer_weight=document_regularizer_weight,
            query_regularizer_weight=query_regularizer_weight,
        )

    return Training(
        trainer=SparseEncoderTrainer,
        arguments=SparseEncoderTrainingArguments,
        loss=loss,
        outputs=("sentence_embedding",),
        prompts=lambda model, columns: of_columns(prompts(model), columns),
    )


def encode(model: Model, texts: list[str], batch_size: int, role: Role) -> scipy.sparse.csr_array:
    """Encode texts as queries or documents.

    Returns float32 of shape (texts, vocabulary terms); the dot product is the model's similarity. Raises UserError if
    the model yields NaN, infinity or a negative weight.
    """
    import numpy as np
    import scipy.sparse

    from ranktrial.models.onnx_sparse import OnnxSparseEncoder
    from ranktrial.models.running import autocast, finite

    if isinstance(model, OnnxSparseEncoder):
        return model.encode(texts, batch_size, role)
    encoder = {"query": model.encode_query, "document": model.encode_document}[role]
    with autocast():
        encoded = encoder(texts, batch_size=batch_size, show_progress_bar=False, save_to_cpu=True)
    encoded = encoded.float().coalesce()
    weights = finite(encoded.values().numpy())
    if (weights < 0).any():
        raise UserError("the model yields weights of terms below 0, which no sparse encoder does")
    rows, terms = encoded.indices().numpy()
    matrix = scipy.sparse.csr_array((weights, (rows, terms)), shape=tuple(encoded.shape), dtype=np.float32)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
