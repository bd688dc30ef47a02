"""How several processes share a batch: each takes a part of its texts through the model and has all their outputs.

Every process computes the loss of the whole batch from these, so that any loss is what it is in one process, also
where the texts of a batch are each other's negatives. Gradients reach the process that a text passed through, and those
of the weights are added up over the processes. Only what is drawn at random differs from one process, by dropout and by
losses that draw negatives; the random state that checkpoints keep is one for all, so that another number can go on.
Chen et al. 2020 (SimCLR) share a batch's negatives so; as with micro-batches (see memory.py) the outputs are where the
batch is cut (Gao et al. 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import distributed

from scripts.training.batch_parts import by_text, passing


def in_parallel() -> bool:
    """Whether this process is one of several of a training."""
    return distributed.is_initialized()


class _OfAll(torch.autograd.Function):
    """The rows of all processes, in order, of which this one's come from its own `rows`."""

    @staticmethod
    def forward(context: Any, rows: torch.Tensor, bounds: list[int]) -> torch.Tensor:
        rank = distributed.get_rank()
        context.own = slice(bounds[rank], bounds[rank + 1])
        counts = [last - first for first, last in pairwise(bounds)]
        sent = rows.new_zeros((max(counts), *rows.shape[1:]))  # all send equally many
        sent[: len(rows)] = rows
        received = [torch.empty_like(sent) for _ in counts]
        distributed.all_gather(received, sent)
        return torch.cat([part[:count] for part, count in zip(received, counts, strict=True)])

    @staticmethod
    def backward(context: Any, gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradients[context.own].contiguous(), None


def of_all(forward: Callable, kept: tuple[str, ...], features: dict, **others) -> dict:
    """The outputs `kept` that `forward` gives for the features of a batch, a part of it in each process."""
    count, of_texts = by_text(features)
    rank, processes = distributed.get_rank(), distributed.get_world_size()
    bounds = [count * number // processes for number in range(processes + 1)]
    first, texts = bounds[rank], bounds[rank + 1] - bounds[rank]
    # A process without a text takes one for the sake of its gradients, which are zeros.
    part = {name: value[first : first + max(texts, 1)] for name, value in of_texts.items()}
    with _own_random_numbers(rank):
        outputs = forward(features | part, **others)
    return {name: _OfAll.apply(outputs[name][:texts], bounds) for name in kept if name in outputs}


def shared(model: torch.nn.Module, kept: tuple[str, ...]) -> AbstractContextManager:
    """Within the block the texts that the model is given are shared by all processes, where there are several.

    Of its outputs those `kept` remain, which the loss uses.
    """
    if not in_parallel():
        return nullcontext()
    return passing(model, lambda forward: partial(of_all, forward, kept))


def add_gradients(model: torch.nn.Module) -> None:
    """Give the model's weights the sum of all processes' gradients, where there are several."""
    if in_parallel():
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        for added in [distributed.all_reduce(gradient, async_op=True) for gradient in gradients]:
            added.wait()


@contextmanager
def _own_random_numbers(rank: int) -> Iterator[None]:
    """Draw other random numbers than the other processes within the block, and the same as they after it."""
    seed = int(torch.randint(1 << 62, (1,)))
    with torch.random.fork_rng():
        torch.manual_seed(seed + rank)
        yield
