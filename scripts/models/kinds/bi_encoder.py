"""Bi-encoders: queries and documents become vectors apart from each other, compared by cosine or dot product."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.common.errors import UserError
from scripts.models.losses import LISTS, PAIRS, TRIPLETS, with_margin

if TYPE_CHECKING:
    import numpy as np
    from sentence_transformers import SentenceTransformer

    from scripts.models.adapters import Role, Training

NAME = "bi-encoder"
SEARCHES = True
BACKENDS = ("torch",)
DESCRIPTION = "each text becomes a vector, and vectors are compared; max_length is of a text"
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
MARGINS = {"TripletLoss": "triplet_margin", "ContrastiveLoss": "margin", "OnlineContrastiveLoss": "margin"}
HAS_HEAD = False
DEFAULT_LOSS = "MultipleNegativesRankingLoss"
DEFAULT_LOSS_OF_PASSAGES = "ContrastiveLoss"


def load(folder: Path, max_length: int, to_train: bool = False) -> SentenceTransformer:
    """Load a bi-encoder that keeps `max_length` tokens of a text; whether it is `to_train` makes no difference.

    Raises UserError where that cannot be done.
    """
    from scripts.models import loading
    from scripts.models.running import import_library

    loading.check(folder)
    import_library()
    loading.quiet()
    from sentence_transformers import SentenceTransformer

    model = loading.load(SentenceTransformer, folder)
    if model.similarity_fn_name not in ("cosine", "dot"):
        raise UserError(f"{folder}: its similarity is {model.similarity_fn_name}; only cosine and dot can be searched")
    loading.limit(model, folder, max_length)
    if "document" not in loading.stored_prompts(folder):
        # encode_document looks for these names too, but finds `document` first, which the library has set to "".
        names = [name for name in ("passage", "corpus") if name in model.prompts]
        model.prompts["document"] = model.prompts[names[0]] if names else ""
    return model


def prompts(model: SentenceTransformer) -> dict[str, str]:
    """What encode_query and encode_document put before a text."""
    return {"query": model.prompts["query"], "document": model.prompts["document"]}


def give_prompts(model: SentenceTransformer, prompts: dict[str, str]) -> None:
    """Set the prompts that encode_query and encode_document put, which the model stores when it is saved."""
    model.prompts.update(prompts)


def tokenizer(model: SentenceTransformer) -> Any:
    """The model's tokenizer, of the library tokenizers."""
    from scripts.models import loading

    return loading.fast_tokenizer(model)


def warm_up(model: SentenceTransformer, batch_size: int) -> None:
    """Encode one batch."""
    encode(model, ["warm-up"] * batch_size, batch_size, "query")


def training() -> Training:
    """The library's trainer of bi-encoders and its losses, which use a text's vector."""
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer import losses

    from scripts.models.adapters import Training
    from scripts.models.prompts import of_columns

    return Training(
        trainer=SentenceTransformerTrainer,
        arguments=SentenceTransformerTrainingArguments,
        loss=lambda name, model, margin=None: getattr(losses, name)(model, **with_margin(MARGINS, name, margin)),
        outputs=("sentence_embedding",),
        prompts=lambda model, columns: of_columns(prompts(model), columns),
    )


def encode(model: SentenceTransformer, texts: list[str], batch_size: int, role: Role) -> np.ndarray:
    """Encode texts as queries or documents.

    Returns float32 of shape (texts, dimensions), of unit length where the model's similarity is the cosine: so the dot
    product is the model's similarity in any case. Raises UserError where the model yields NaN or infinity.
    """
    import numpy as np

    from scripts.models.running import autocast, finite

    encoder = {"query": model.encode_query, "document": model.encode_document}[role]
    with autocast():
        embeddings = encoder(
            texts,
            batch_size=batch_size,
            show_progress_bar=False,
            normalize_embeddings=model.similarity_fn_name == "cosine",
        )
    return finite(embeddings.astype(np.float32, copy=False))
