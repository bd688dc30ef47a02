"""Concurrent batches: on a CPU, each thread of a job computes whole batches of a torch model.

Threads that share a batch wait for each other at every operation, which takes a fifteenth of the time with two threads.
The batches are the same, and each is computed by one thread (unless there are many threads), so a job with several
threads gives the same result as a job with one, bit for bit.
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

MOST = 4  # concurrent batches, since each takes memory; with more threads, several share a batch
LEAST = 2  # batches per worker; with fewer, some workers would wait for the last batch


def each_batch(
    model: Any, compute: Callable[[list[Text]], Result], texts: Sequence[Text], batches: Sequence[np.ndarray]
) -> list[Result]:
    """The results of `compute` for all batches, given as indices of texts; `model` is the library model that it runs.

    On a device other than the CPU, or with one thread or few batches, they run sequentially.
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
        torch.set_num_threads(threads)  # new threads start with the number that was set last


def _workers(model: Any) -> int:
    """The number of batches that a model computes concurrently."""
    return min(torch.get_num_threads(), MOST) if model.device.type == "cpu" else 1


@contextmanager
def replaced(model: Any, preprocess: Callable[..., Any]) -> Iterator[None]:
    """Replace a library model's `preprocess` by this function within the context."""
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
    """Let only one thread at a time use a model's tokenizer, since padding and truncation are its state."""
    whole, lock = model.preprocess, Lock()

    def preprocess(*arguments: Any, **options: Any) -> Any:
        with lock:
            return whole(*arguments, **options)

    with replaced(model, preprocess):
        yield
