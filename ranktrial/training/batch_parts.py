"""Passing a batch through a model in parts: sequential groups of texts (memory.py), or processes (parallel.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


def by_text(features: dict) -> tuple[int, dict[str, torch.Tensor]]:
    """The number of texts in the features, and those tensors that have one row per text."""
    tensors = {name: value for name, value in features.items() if torch.is_tensor(value) and value.ndim}
    count = len(next(iter(tensors.values())))
    return count, {name: value for name, value in tensors.items() if len(value) == count}


@contextmanager
def passing(model: torch.nn.Module, in_parts: Callable[[Callable], Callable]) -> Iterator[None]:
    """Within this context, the model's forward function is replaced by `in_parts(forward)`."""
    forward, own = model.forward, "forward" in vars(model)
    model.forward = in_parts(forward)
    try:
        yield
    finally:
        if own:
            model.forward = forward
        else:
            del model.forward
