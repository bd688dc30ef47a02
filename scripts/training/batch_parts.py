"""How a batch passes a model in parts: groups of texts in turn (memory.py), or in processes (parallel.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


def by_text(features: dict) -> tuple[int, dict[str, torch.Tensor]]:
    """How many texts the features are of, and those among them that have one row per text."""
    tensors = {name: value for name, value in features.items() if torch.is_tensor(value) and value.ndim}
    count = len(next(iter(tensors.values())))
    return count, {name: value for name, value in tensors.items() if len(value) == count}


@contextmanager
def passing(model: torch.nn.Module, in_parts: Callable[[Callable], Callable]) -> Iterator[None]:
    """Within the block a batch passes the model as the function does that `in_parts` makes of the model's own."""
    forward, own = model.forward, "forward" in vars(model)
    model.forward = in_parts(forward)
    try:
        yield
    finally:
        if own:
            model.forward = forward
        else:
            del model.forward
