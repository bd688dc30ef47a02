"""Sharing a batch between processes: each passes a part of the texts through the model and receives all outputs.

Every process computes the loss of the whole batch from these, so any loss has the same value as in one process,
including losses with in-batch negatives. Gradients are returned to the process that encoded the text, and gradients of
the weights are summed over the processes. Only random draws differ from a single process: those of dropout and of
losses that sample negatives. The random state stored in checkpoints is shared by all, so a training can be resumed with
another number of processes. Chen et al. 2020 (SimCLR) share a batch's negatives in this way; as with micro-batches (see
memory.py), the batch is split at the outputs (Gao et al. 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import distributed

from ranktrial.training.batch_parts import by_text, passing


def in_parallel() -> bool:
    """Whether this process is one of several in a training."""
    return distributed.is_initialized()


class _OfAll(torch.autograd.Function):
    """The rows of all processes, in order, of which this process contributes its own `rows`."""

    @staticmethod
    def forward(context: Any, rows: torch.Tensor, bounds: list[int]) -> torch.Tensor:
        rank = distributed.get_rank()
        context.own = slice(bounds[rank], bounds[rank + 1])
        counts = [last - first for first, last in pairwise(bounds)]
        sent = rows.new_zeros((max(counts), *rows.shape[1:]))  # all processes send the same number of rows
        sent[: len(rows)] = rows
        received = [torch.empty_like(sent) for _ in counts]
        distributed.all_gather(received, sent)
        return torch.cat([part[:count] for part, count in zip(received, counts, strict=True)])

    @staticmethod
    def backward(context: Any, gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradients[context.own].contiguous(), None


def of_all(forward: Callable, kept: tuple[str, ...], features: dict, **others) -> dict:
    """The outputs `kept` of `forward` for the features of a batch, of which each process computes a part."""
    count, of_texts = by_text(features)
    rank, processes = distributed.get_rank(), distributed.get_world_size()
    bounds = [count * number // processes for number in range(processes + 1)]
    first, texts = bounds[rank], bounds[rank + 1] - bounds[rank]
    # A process without a text computes one so that it has gradients, which are zero.
    part = {name: value[first : first + max(texts, 1)] for name, value in of_texts.items()}
    with _own_random_numbers(rank):
        outputs = forward(features | part, **others)
    return {name: _OfAll.apply(outputs[name][:texts], bounds) for name in kept if name in outputs}


def shared(model: torch.nn.Module, kept: tuple[str, ...]) -> AbstractContextManager:
    """Within this context, the texts passed to the model are shared between all processes, if there are several.

    Only the outputs `kept`, which the loss uses, are returned.
    """
    if not in_parallel():
        return nullcontext()
    return passing(model, lambda forward: partial(of_all, forward, kept))


def add_gradients(model: torch.nn.Module) -> None:
    """Set the gradients of the model's weights to the sum over all processes, if there are several."""
    if in_parallel():
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        for added in [distributed.all_reduce(gradient, async_op=True) for gradient in gradients]:
            added.wait()


@contextmanager
def _own_random_numbers(rank: int) -> Iterator[None]:
    """Within this context, draw different random numbers in each process; afterwards, all draw the same ones again."""
    seed = int(torch.randint(1 << 62, (1,)))
    with torch.random.fork_rng():
        torch.manual_seed(seed + rank)
        yield
