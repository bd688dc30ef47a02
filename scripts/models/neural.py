"""Bi-encoders and cross-encoders: loaded quietly from a folder and from nowhere else, run on the device there is.

A CUDA device computes in bf16 where it can; a processor in fp32. Nothing here reaches for the network or runs code
that comes with a model.
"""

from __future__ import annotations

import logging
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scripts.common.errors import UserError
from scripts.models.model_files import backbone, check_weights, read_object

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

# The libraries read these while they are imported, so they are set before any of them is.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")
if "OMP_NUM_THREADS" in os.environ:
    os.environ.setdefault("RAYON_NUM_THREADS", os.environ["OMP_NUM_THREADS"])  # the tokenizers' threads
# Threads that wait for each other must not spin: where other work takes a core, that makes training five times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# One job, one device: with several in sight the trainer would split batches between them.
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]

COUNT_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet")  # positions start after the padding token's id


def device() -> str:
    """`cuda` where there is such a device, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def precision() -> str:
    """`bf16` on a CUDA device that computes in it, else `fp32`."""
    import torch

    bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    return "bf16" if bf16 else "fp32"


def autocast() -> AbstractContextManager:
    """The context in which models compute in the device's precision."""
    import torch

    return torch.autocast("cuda", torch.bfloat16) if precision() == "bf16" else nullcontext()


def quiet() -> None:
    """Silence the libraries' progress bars, load reports and advice."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


def check(folder: Path) -> dict:
    """Check that a folder is a whole model in safetensors; returns its config.json. Raises UserError if it is not."""
    from safetensors import SafetensorError, safe_open

    if not folder.is_dir():
        raise UserError(f"{folder}: no such model folder")
    inner = backbone(folder)
    config = read_object(inner / "config.json")
    weights = check_weights(inner)
    if not weights:
        raise UserError(f"{folder}: not a model, it has no weights (model.safetensors)")
    for file in weights:
        try:
            with safe_open(file, "np"):
                pass
        except SafetensorError as error:
            raise UserError(f"{file}: damaged weights ({error})") from None
    return config


def has_head(config: dict) -> bool:
    """Whether a model's weights include the head that scores a pair; without it a cross-encoder must be trained."""
    endings = ("ForSequenceClassification", "ForCausalLM")
    return any(name.endswith(endings) for name in config.get("architectures") or [])


def load_bi_encoder(folder: Path, max_length: int) -> SentenceTransformer:
    """Load a bi-encoder that keeps `max_length` tokens of a text. Raises UserError where that cannot be done."""
    check(folder)
    quiet()
    from sentence_transformers import SentenceTransformer

    model = _load(SentenceTransformer, folder)
    if model.similarity_fn_name not in ("cosine", "dot"):
        raise UserError(f"{folder}: its similarity is {model.similarity_fn_name}; only cosine and dot can be searched")
    return _limit(model, folder, max_length)


def load_cross_encoder(folder: Path, max_length: int, fresh_head: bool = False) -> CrossEncoder:
    """Load a cross-encoder with one output that keeps `max_length` tokens of a pair.

    Raises UserError where that cannot be done, as with weights without a scoring head unless `fresh_head` allows one
    drawn from torch's random state.
    """
    config = check(folder)
    if not fresh_head and not has_head(config):
        raise UserError(f"{folder}: its weights have no scoring head, so scores would be random; give it a recipe")
    quiet()
    from sentence_transformers import CrossEncoder

    labels = len(config.get("id2label") or "1") if has_head(config) else 1
    if labels != 1:
        raise UserError(f"{folder}: a cross-encoder with {labels} outputs; one with a single score is wanted")
    return _limit(_load(CrossEncoder, folder, num_labels=1), folder, max_length)


def _load(kind: type, folder: Path, **options):
    try:
        model = kind(str(folder), device=device(), local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:  # whatever the libraries raise at a model that is damaged or needs its own code
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"{folder}: cannot be loaded: {said}") from None
    if device() == "cpu":
        from scripts.models.processor import speed_up

        speed_up(model)
    return model


def _limit(model, folder: Path, max_length: int):
    config = model.transformers_model.config
    most = getattr(config, "max_position_embeddings", None) or max_length
    if config.model_type in COUNT_FROM_PADDING:
        most -= config.pad_token_id + 1
    if max_length > most:
        raise UserError(f"{folder}: max_length is {max_length}, but this model takes at most {most} tokens")
    model.max_seq_length = max_length
    return model


def encode(model: SentenceTransformer, texts: list[str], batch_size: int, role: str) -> np.ndarray:
    """Encode texts as `role` (`query` or `document`, for models that tell them apart).

    Returns float32 of shape (texts, dimensions), of unit length where the model's similarity is the cosine: so the dot
    product is the model's similarity in any case. Raises UserError where the model yields NaN or infinity.
    """
    encoder = {"query": model.encode_query, "document": model.encode_document}[role]
    with autocast():
        embeddings = encoder(
            texts,
            batch_size=batch_size,
            show_progress_bar=False,
            normalize_embeddings=model.similarity_fn_name == "cosine",
        )
    return finite(embeddings.astype(np.float32, copy=False))


def finite(values: np.ndarray) -> np.ndarray:
    """The values. Raises UserError where one is NaN or infinite, which no ranking can hold."""
    if not np.isfinite(values).all():
        raise UserError("the model yields no finite numbers: its weights are damaged, or its training diverged")
    return values
