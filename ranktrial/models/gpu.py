"""What a CUDA device changes for models: batches that fill it, and no wait for it between their batches.

A processor queues work for a GPU far ahead of it, as long as nothing asks for a result. Each question ("is any token of
this batch padding?") stops the queue until all work before it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ranktrial.models.batch_sizes import BATCHES, texts_per_batch
from ranktrial.models.kernels import fast

MOST_TOKENS = 1 << 16  # of a batch; larger ones are not faster on any GPU
GROUPS = 4  # of batches that are passed at a time: the tokens of one are read while the GPU computes another
SHARE = 16  # of the memory, a sixteenth is for the activations of a batch
BYTES = 64  # of activations per token and dimension of a layer that are alive at once, the feed-forward among them


def filling_tokens(memory: int, width: int) -> int:
    """The number of tokens in a batch that fills a GPU of `memory` bytes for a model of this width: a power of two."""
    fitting = memory // SHARE // (BYTES * max(width, 1))
    return min(MOST_TOKENS, 1 << max(fitting.bit_length() - 1, 0))


def on_gpu(model: Any) -> bool:
    """Whether a loaded torch model computes on a CUDA device."""
    return model.device.type == "cuda"


@contextmanager
def waiting() -> Iterator[None]:
    """Within this context, a result is asked for on purpose, also while torch refuses to wait for a GPU by accident."""
    if not torch.cuda.is_initialized():
        yield
        return
    mode = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("default")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)


def fill(model: Any) -> None:
    """Give a loaded torch model that ranks on a GPU batches that fill it, if the fast kernels are enabled."""
    if not fast() or not on_gpu(model):
        return
    whole = model.transformers_model  # None for a static embedding
    width = getattr(whole.config.get_text_config(), "hidden_size", None) if whole else None
    if width:
        memory = torch.cuda.get_device_properties(model.device).total_memory
        model.batch_tokens = filling_tokens(memory, width)


def at_once(model: Any, size: int) -> int:
    """The number of texts or pairs to pass to a loaded model at a time: `size`, or more on a GPU."""
    tokens = getattr(model, "batch_tokens", None)
    if not tokens or not on_gpu(model):
        return size
    return max(size, GROUPS * BATCHES * texts_per_batch(1, tokens, model.max_seq_length))


@contextmanager
def unread_masks(model: Any) -> Iterator[None]:
    """Within this context, masks on a GPU are applied without looking whether they mask anything.

    transformers leaves out a mask without padding, for which it waits for the GPU once per batch. Results are the same.
    """
    if not on_gpu(model):
        yield
        return
    from transformers import masking_utils

    names = ("_ignore_bidirectional_mask_sdpa", "_ignore_causal_mask_sdpa")
    library = {name: getattr(masking_utils, name) for name in names if hasattr(masking_utils, name)}

    def unread(decide: Any) -> Any:
        def decided(padding_mask: torch.Tensor | None, *others: Any, **options: Any) -> bool:
            return False if padding_mask is not None else decide(padding_mask, *others, **options)

        return decided

    for name, decide in library.items():
        setattr(masking_utils, name, unread(decide))
    try:
        yield
    finally:
        for name, decide in library.items():
            setattr(masking_utils, name, decide)
