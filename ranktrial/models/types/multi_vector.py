"""Multi-vector models (late interaction, as in ColBERT): one vector per token; a document's score is MaxSim.

For each query token, MaxSim takes the highest dot product with any document token; the score is the sum of these
maxima.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ranktrial.common.errors import UserError
from ranktrial.models.encoders import facts, give_prompts, prompts, tokenizer  # noqa: F401
from ranktrial.models.losses import LISTS
from ranktrial.models.teaching import SCORED, has_temperature

if TYPE_CHECKING:
    import numpy as np
    import torch
    from sentence_transformers import MultiVectorEncoder

    from ranktrial.models.adapters import Role, Training
    from ranktrial.models.model_files import ModelConfig
    from ranktrial.models.onnx_export import Exportable
    from ranktrial.models.onnx_token_vectors import OnnxMultiVectorEncoder

    Model: TypeAlias = MultiVectorEncoder | OnnxMultiVectorEncoder

NAME = "multi-vector"
LOADED_BY, PIPELINE_TAG = "MultiVectorEncoder", "sentence-similarity"
SEARCHES = True
INDEX = "token-vectors"
BACKENDS = ("torch",)
EXPORTS = True
DESCRIPTION = (
    "each token of a text becomes a vector, and texts are compared token by token (ColBERT's MaxSim); max_length "
    "applies to a text"
)
LOSSES = {
    "MultiVectorMultipleNegativesRankingLoss": LISTS,
    "CachedMultiVectorMultipleNegativesRankingLoss": LISTS,
}
DISTILLED = {"MultiVectorMarginMSELoss": SCORED, "MultiVectorDistillKLDivLoss": SCORED}
MARGINS: dict[str, str] = {}
HAS_HEAD = False
DEFAULT_LOSS = "MultiVectorMultipleNegativesRankingLoss"
DEFAULT_DISTILLED = "MultiVectorDistillKLDivLoss"

OF_LIBRARY = "config_sentence_transformers.json"
OF_STANFORD = "artifact.metadata"
STANFORD = "HF_ColBERT"  # the architecture that Stanford's ColBERT writes


def load(folder: Path, max_length: int, to_train: bool = False) -> Model:
    """Load a multi-vector model that keeps `max_length` tokens of a text, whatever lengths it stores itself.

    A model that was exported to ONNX is run by onnxruntime. A model loaded `to_train` may be a plain
    encoder: the library then adds a projection, initialised from torch's random state. Raises UserError if the model
    cannot be loaded.
    """
    from ranktrial.models import loading
    from ranktrial.models.onnx_session import FILE
    from ranktrial.models.running import import_library

    if (folder / FILE).is_file():
        from ranktrial.models.onnx_token_vectors import OnnxMultiVectorEncoder

        return OnnxMultiVectorEncoder(folder, max_length)
    config = loading.check(folder)
    if not to_train and not has_projection(folder, config):
        problem = "not a multi-vector model, so the projection of its tokens would be random; give it a recipe"
        raise UserError(f"{folder}: {problem}")
    if STANFORD in (config.get("architectures") or []) and not (folder / OF_STANFORD).is_file():
        raise UserError(f"{folder}: a ColBERT of Stanford's without {OF_STANFORD}, which says how it was trained")
    import_library()
    loading.quiet()
    from sentence_transformers import MultiVectorEncoder

    model = loading.load(MultiVectorEncoder, folder, may_be_new=to_train)
    loading.limit(model, folder, max_length)
    model[0].query_length = model[0].document_length = None
    expansion = getattr(model[0], "query_expansion", None)
    if expansion and expansion["length"] > max_length:
        problem = f"max_length is {max_length}, but this model expands queries to {expansion['length']} tokens"
        raise UserError(f"{folder}: {problem}")
    if not model.prompts.get("document"):
        loading.find_document_prompt(model, folder)
    return model


def has_projection(folder: Path, config: ModelConfig) -> bool:
    """Whether a folder's weights include the projection to token vectors, judging by the library that wrote them."""
    from ranktrial.models.model_files import read_object

    stated = read_object(folder / OF_LIBRARY) if (folder / OF_LIBRARY).is_file() else {}
    return stated.get("model_type") in ("MultiVectorEncoder", "ColBERT") or (
        STANFORD in (config.get("architectures") or [])
    )


def exportable(model: MultiVectorEncoder, folder: Path) -> Exportable:
    """The part of a loaded model that is exported to ONNX: from tokens to their vectors; the mask is stored separately.

    Raises UserError for a model that merges token vectors, which the graph cannot do.
    """
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from sentence_transformers.multi_vector_encoder.modules.token_pooling import BaseTokenPooling

    from ranktrial.models.onnx_export import Exportable

    masks = [module for module in model if isinstance(module, MultiVectorMask)]
    if len(masks) != 1 or any(isinstance(module, BaseTokenPooling) for module in model):
        raise UserError("cannot be exported to ONNX: it merges tokens, or does not say which count (MultiVectorMask)")
    (mask,) = masks
    skipped = [] if mask._skiplist_ids is None else mask._skiplist_ids.tolist()
    return Exportable(
        model=model,
        compute=lambda whole, features: whole(features, task="document")["token_embeddings"],
        features=model.preprocess(["a text", "and another one"], task="document"),
        tokenizer=model.tokenizer if tokenizer(model) else None,
        record={
            "prompts": prompts(model),
            "similarity": model.similarity_fn_name,
            "skipped": {role: skipped for role in mask.skiplist_tasks},
            "kept": mask.keep_only_token_ids,
            "expansion": _expansion(model),
        },
    )


def _expansion(model: MultiVectorEncoder) -> dict[str, Any] | None:
    """The settings by which a model expands short queries, as onnx_token_vectors reads them; None if it does not."""
    stated = getattr(model[0], "query_expansion", None)
    if not stated:
        return None
    named, known = stated["token"], model.tokenizer
    default = known.eos_token_id if known.mask_token_id is None else known.mask_token_id
    token = default if named is None else known.convert_tokens_to_ids(named)
    return {**{key: stated[key] for key in ("strategy", "length", "attend")}, "token": token}


def warm_up(model: Model, batch_size: int) -> None:
    """Encode one batch."""
    encode(model, ["warm-up"] * batch_size, batch_size, "query")


def training() -> Training:
    """The library's trainer and losses for multi-vector models; the losses use the token vectors and their mask."""
    from sentence_transformers import MultiVectorEncoderTrainer, MultiVectorEncoderTrainingArguments
    from sentence_transformers.multi_vector_encoder import losses, scoring

    from ranktrial.models.adapters import Training
    from ranktrial.models.distillation import Scaled, scale_of, softened
    from ranktrial.models.prompts import of_columns

    def loss(
        name: str,
        model: MultiVectorEncoder,
        margin: float | None = None,
        temperature: float | None = None,
        scale: float | None = None,
    ) -> torch.nn.Module:
        if name in DISTILLED:
            maxsim = scoring.colbert_kd_scores if has_temperature(name) else scoring.colbert_scores_pairwise
            scored = Scaled(maxsim, scale_of(model, scale))
            made = getattr(losses, name)(model, similarity_fct=scored, **softened(temperature))
        else:
            made = getattr(losses, name)(model)
        return made

    return Training(
        trainer=MultiVectorEncoderTrainer,
        arguments=MultiVectorEncoderTrainingArguments,
        loss=loss,
        outputs=("token_embeddings", "attention_mask"),
        prompts=lambda model, columns: of_columns(prompts(model), columns),
    )


def encode(model: Model, texts: list[str], batch_size: int, role: Role) -> list[np.ndarray]:
    """Encode texts as queries or documents: for each text, the vectors of its tokens that count.

    Returns one float32 array of shape (tokens, dimensions) per text. MaxSim of dot products is the model's similarity:
    if that is the mean over a query's tokens, the query's vectors are divided by their number. Raises UserError if the
    model yields NaN or infinity.
    """
    import numpy as np

    from ranktrial.models.onnx_token_vectors import OnnxMultiVectorEncoder
    from ranktrial.models.running import autocast, finite

    if isinstance(model, OnnxMultiVectorEncoder):
        encoded = model.encode(texts, batch_size, role)
    else:
        encoder = {"query": model.encode_query, "document": model.encode_document}[role]
        with autocast():
            encoded = encoder(texts, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True)
    vectors = [finite(rows.astype(np.float32, copy=False)) for rows in encoded]
    if not all(map(len, vectors)):
        raise UserError(f"a {role} has no token that this model compares; it skips all of its tokens")
    if role == "query" and model.similarity_fn_name == "meanmaxsim":
        return [rows / np.float32(len(rows)) for rows in vectors]
    return vectors
