"""Training with limited memory, and in processes: a batch passes in parts, with the gradients of the whole batch.

The texts of a batch pass through the model in groups of `micro_batch`; each group's activations are discarded and
recomputed in the backward pass (gradient checkpointing: Chen et al. 2016, Training Deep Nets with Sublinear Memory
Cost). The loss gets the outputs of the whole batch, so it does not change, not even for losses with in-batch negatives,
for which GradCache does the same (Gao et al. 2021, Scaling Deep Contrastive Learning Batch Size under Memory Limited
Setup). Only the random draws of dropout differ. The cost is one more forward pass, about a third of the time.

Processes share a batch: each passes a part of the texts through the model and receives all outputs.

Every process computes the loss of the whole batch from these, so any loss has the same value as in one process,
including losses with in-batch negatives. Gradients are returned to the process that encoded the text, and gradients of
the weights are summed over the processes. Only random draws differ from a single process: those of dropout and of
losses that sample negatives. The random state stored in checkpoints is shared by all, so a training can be resumed with
another number of processes. Chen et al. 2020 (SimCLR) share a batch's negatives in this way; as with micro-batches, the
batch is split at the outputs (Gao et al. 2021).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import distributed
from torch.utils.checkpoint import checkpoint

from ranktrial.common.errors import UserError


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


SHORT = ("out of memory", "can't allocate memory", "not enough memory")


def is_short_of_memory(error: BaseException) -> bool:
    """Whether an error states that the device or the machine is out of memory."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in message for words in SHORT)


def by_groups(forward: Callable, size: int, kept: tuple[str, ...], features: dict, **others) -> dict:
    """The outputs `kept` of `forward` for the features of a batch, computed for `size` texts at a time."""
    count, of_texts = by_text(features)

    def of_group(group: dict) -> dict:
        outputs = forward(dict(group), **others)  # copied, since a model may change its input, which is used again
        return {name: outputs[name] for name in kept if name in outputs}

    groups = []
    for first in range(0, count, size):
        group = features | {name: value[first : first + size] for name, value in of_texts.items()}
        groups.append(checkpoint(of_group, group, use_reentrant=False))
    return {name: torch.cat([outputs[name] for outputs in groups]) for name in groups[0]}


def grouped(model: torch.nn.Module, size: int | None, kept: tuple[str, ...]) -> AbstractContextManager:
    """Within this context, the model processes its input in groups of `size` texts; all at once if `size` is None.

    Only the outputs `kept`, which the loss uses, are returned.
    """
    if size is None:
        return nullcontext()
    return passing(model, lambda forward: partial(by_groups, forward, size, kept))


def checkpoint_activations(model: torch.nn.Module) -> None:
    """Enable gradient checkpointing: only each layer's input is kept in training, and the rest is recomputed.

    Raises UserError for an architecture that does not support it.
    """
    whole = model.transformers_model
    try:
        whole.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
    except (AttributeError, ValueError):
        raise UserError(f"gradient_checkpointing: a {type(whole).__name__} cannot; leave it out") from None


class MicroBatch:
    """The number of texts that pass through the model at once (None: the whole batch); halved when out of memory.

    `kept` are the model outputs that the loss uses.
    """

    def __init__(self, size: int | None, batch_size: int, kept: tuple[str, ...]) -> None:
        self.size, self.batch_size, self.kept = size, batch_size, kept

    def step(self, model: torch.nn.Module, take: Callable[[], torch.Tensor], number: int) -> torch.Tensor:
        """Take a training step (`number` is for messages), and repeat it with half as many texts while out of memory.

        A failed step leaves neither gradients nor a changed random state. Raises UserError if a single text does not
        fit into memory.
        """
        state = random_state()
        while True:
            try:
                with grouped(model, self.size, self.kept), shared(model, self.kept):
                    return take()
            except RuntimeError as error:
                if not is_short_of_memory(error):
                    raise
                if in_parallel():  # the other processes would wait while this one repeats the step
                    raise UserError(f"out of memory at step {number}: set micro_batch, or use more gpus") from None
            self.halve(number)
            model.zero_grad(set_to_none=True)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            set_random_state(state)

    def halve(self, number: int) -> None:
        """Halve the number of texts from now on. Raises UserError if it is already one."""
        before = min(self.size or self.batch_size, self.batch_size)
        if before == 1:
            reason = "not enough memory to train on one text at a time: lower max_length, or take a larger device"
            raise UserError(reason)
        self.size = (before + 1) // 2
        print(
            f"out of memory at step {number}: {self.size} texts at a time instead of {before}, "
            f"the batch of {self.batch_size} stays the same",
            file=sys.stderr,
            flush=True,
        )


def random_state() -> tuple:
    """The state of torch's random number generators on this machine's CPU and devices."""
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_available() else None


def set_random_state(state: tuple) -> None:
    """Restore a state of torch's random number generators."""
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state_all(state[1])
