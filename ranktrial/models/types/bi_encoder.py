"""Bi-encoders: queries and documents are encoded separately and compared by cosine or dot product."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ranktrial.common.errors import UserError
from ranktrial.models.encoders import facts, give_prompts, prompts, tokenizer  # noqa: F401
from ranktrial.models.losses import LISTS, PAIRS, TRIPLETS, with_margin
from ranktrial.models.teaching import SCORED

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer

    from ranktrial.models.adapters import Role, Training
    from ranktrial.models.onnx_export import Exportable
    from ranktrial.models.onnx_texts import OnnxBiEncoder

    Model: TypeAlias = SentenceTransformer | OnnxBiEncoder

NAME = "bi-encoder"
LOADED_BY, PIPELINE_TAG = "SentenceTransformer", "sentence-similarity"
SEARCHES = True
BACKENDS = ("torch", "onnx")
EXPORTS = True
BY_TOKENS = True
DESCRIPTION = "each text becomes a vector, and vectors are compared; max_length applies to a text"
LOSSES = {
    "MultipleNegativesRankingLoss": LISTS,
    "CachedMultipleNegativesRankingLoss": LISTS,
    "TripletLoss": TRIPLETS,
    "ContrastiveLoss": PAIRS,
    "OnlineContrastiveLoss": PAIRS,
    "CosineSimilarityLoss": PAIRS,
    "CoSENTLoss": PAIRS,
    "AnglELoss": PAIRS,
}
DISTILLED = {"MarginMSELoss": SCORED, "DistillKLDivLoss": SCORED}
# Losses whose similarity can be the dot product; the others are defined by cosines or distances.
BY_DOT = {
    "MultipleNegativesRankingLoss": "dot_score",
    "CachedMultipleNegativesRankingLoss": "dot_score",
    "CoSENTLoss": "pairwise_dot_score",
}
MARGINS = {"TripletLoss": "triplet_margin", "ContrastiveLoss": "margin", "OnlineContrastiveLoss": "margin"}
HAS_HEAD = False
MATRYOSHKA = True
DEFAULT_LOSS = "MultipleNegativesRankingLoss"
DEFAULT_LOSS_OF_PASSAGES = "ContrastiveLoss"
DEFAULT_DISTILLED = "DistillKLDivLoss"


def load(folder: Path, max_length: int, to_train: bool = False) -> Model:
    """Load a bi-encoder that keeps `max_length` tokens of a text, with torch, or onnxruntime if it is an ONNX file.

    The configuration refuses to train an ONNX model. Raises UserError if the model cannot be loaded, or for a static
    embedding `to_train`: its tokens, which are in no rows of texts, cannot be split into micro-batches.
    """
    from ranktrial.models import loading
    from ranktrial.models.model_files import is_static
    from ranktrial.models.onnx_session import FILE
    from ranktrial.models.running import import_library

    if (folder / FILE).is_file():
        from ranktrial.models.onnx_texts import OnnxBiEncoder

        return OnnxBiEncoder(folder, max_length)
    loading.check(folder, may_be_static=True)
    if to_train and is_static(folder):
        raise UserError(f"{folder}: a static embedding (StaticEmbedding) cannot be trained here; leave out the recipe")
    import_library()
    loading.quiet()
    from sentence_transformers import SentenceTransformer

    model = loading.load(SentenceTransformer, folder)
    if model.similarity_fn_name not in ("cosine", "dot"):
        raise UserError(f"{folder}: its similarity is {model.similarity_fn_name}; only cosine and dot can be searched")
    loading.limit(model, folder, max_length)
    loading.find_document_prompt(model, folder)
    return model


def truncate(model: Model, dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
    """Truncate a model's vectors to their first dimensions; return a function that truncates stored full vectors.

    If the similarity is the cosine, the truncated vectors are normalised to unit length again, as the library does.
    Raises UserError if the model's vectors have fewer dimensions.
    """
    from ranktrial.models.onnx_texts import OnnxBiEncoder
    from ranktrial.models.truncation import check_dimensions, first_dimensions

    in_onnx = isinstance(model, OnnxBiEncoder)
    if not in_onnx:
        check_dimensions(dimensions, model.get_embedding_dimension() or dimensions)
    model.truncate_dim = dimensions
    unit = in_onnx or model.similarity_fn_name == "cosine"
    return partial(first_dimensions, dimensions=dimensions, unit=unit)


def exportable(model: SentenceTransformer, folder: Path) -> Exportable:
    """The part of a loaded model that is exported to ONNX: all from tokens to vector, so nothing is pooled afterwards.

    Raises UserError if its pooling leaves out the prompt, which a graph that sees only tokens cannot identify.
    """
    from ranktrial.models.onnx_export import Exportable
    from ranktrial.models.onnx_texts import write_pooling

    if any(getattr(module, "include_prompt", True) is False for module in model) and any(prompts(model).values()):
        raise UserError("cannot be exported to ONNX: its pooling leaves out the prompt's tokens (include_prompt)")
    write_pooling(folder, "none")
    return Exportable(
        model=model,
        compute=lambda whole, features: whole(features)["sentence_embedding"],
        features=model.preprocess(["a text", "and another one"]),
        tokenizer=model.tokenizer if tokenizer(model) else None,
        record={"prompts": prompts(model), "similarity": model.similarity_fn_name},
    )


def warm_up(model: SentenceTransformer, batch_size: int) -> None:
    """Encode one batch."""
    encode(model, ["warm-up"] * batch_size, batch_size, "query")


def training() -> Training:
    """The library's trainer and losses for bi-encoders; the losses use a text's vector."""
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments, util
    from sentence_transformers.sentence_transformer import losses

    from ranktrial.models.adapters import Training
    from ranktrial.models.distillation import similarity_of, softened
    from ranktrial.models.prompts import of_columns

    def loss(
        name: str,
        model: SentenceTransformer,
        margin: float | None = None,
        temperature: float | None = None,
        scale: float | None = None,
    ) -> torch.nn.Module:
        if name in DISTILLED:
            made = getattr(losses, name)(model, similarity_fct=similarity_of(model, scale), **softened(temperature))
        elif name in BY_DOT and model.similarity_fn_name == "dot":  # the similarity by which the model ranks
            made = getattr(losses, name)(model, similarity_fct=getattr(util, BY_DOT[name]), scale=1.0)
        else:
            made = getattr(losses, name)(model, **with_margin(MARGINS, name, margin))
        return made

    return Training(
        trainer=SentenceTransformerTrainer,
        arguments=SentenceTransformerTrainingArguments,
        loss=loss,
        outputs=("sentence_embedding",),
        prompts=lambda model, columns: of_columns(prompts(model), columns),
    )


def encode(model: Model, texts: list[str], batch_size: int, role: Role) -> np.ndarray:
    """Encode texts as queries or documents.

    Returns float32 of shape (texts, dimensions), normalised to unit length if the model's similarity is the cosine, so
    that the dot product is always the model's similarity. Raises UserError if the model yields NaN or infinity.
    """
    import numpy as np

    from ranktrial.models.onnx_texts import OnnxBiEncoder
    from ranktrial.models.running import autocast, finite
    from ranktrial.models.token_batches import in_batches

    if isinstance(model, OnnxBiEncoder):
        return model.encode(texts, batch_size, role)
    encoder = {"query": model.encode_query, "document": model.encode_document}[role]
    unit = model.similarity_fn_name == "cosine"
    compute = partial(encoder, show_progress_bar=False, normalize_embeddings=unit)
    with autocast():
        embeddings = in_batches(model, compute, texts, batch_size, prompts(model)[role])
    return finite(embeddings.astype(np.float32, copy=False))
