"""Batches side by side: on a processor each of a job's threads takes whole batches of a model of torch.

Threads that share a batch wait for each other at every operation in it, which is a fifteenth of the time of two. The
batches are the same ones, and each is computed by one thread (where there are few threads), so a job with several of
them gives what a job with one gives, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import torch

Text = TypeVar("Text", str, tuple[str, str])
Result = TypeVar("Result")

MOST = 4  # batches at a time, as each takes memory; where there are more threads, some share a batch
LEAST = 2  # batches a worker: with fewer, some would wait for the last one


def each_batch(
    model: Any, compute: Callable[[list[Text]], Result], texts: Sequence[Text], batches: Sequence[np.ndarray]
) -> list[Result]:
    """What `compute` makes of each batch, which is the places of some texts; `model` is what it runs, of the library.

    On a device other than the processor, with one thread or few batches, they pass one after the other.
    """

    def of(batch: np.ndarray) -> Result:
        return compute([texts[place] for place in batch])

    threads, workers = torch.get_num_threads(), _workers(model)
    if workers == 1 or len(batches) < LEAST * workers:
        return [of(batch) for batch in batches]
    pool = ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(threads // workers,))
    try:
        with _tokenizing_in_turn(model), pool:
            return list(pool.map(of, batches))
    finally:
        torch.set_num_threads(threads)  # threads that come later begin with the number that was set last


def _workers(model: Any) -> int:
    """How many batches a model computes at a time."""
    return min(torch.get_num_threads(), MOST) if model.device.type == "cpu" else 1


@contextmanager
def replaced(model: Any, preprocess: Callable[..., Any]) -> Iterator[None]:
    """Let a model of the library make its batches by this function, as long as the context lasts."""
    previous = vars(model).get("preprocess")
    model.preprocess = preprocess
    try:
        yield
    finally:
        del model.preprocess
        if previous is not None:
            model.preprocess = previous


@contextmanager
def _tokenizing_in_turn(model: Any) -> Iterator[None]:
    """Let one thread at a time use a model's tokenizer, which keeps padding and truncation as a state."""
    whole, lock = model.preprocess, Lock()

    def preprocess(*arguments: Any, **options: Any) -> Any:
        with lock:
            return whole(*arguments, **options)

    with replaced(model, preprocess):
        yield
