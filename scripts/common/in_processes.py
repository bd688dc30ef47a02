"""Work in Python that can be cut into pieces, done by as many processes as the job may use threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from scripts.common.errors import UserError

Piece = TypeVar("Piece")
Done = TypeVar("Done")
AHEAD = 2  # pieces a process that are waiting: none idles, and what is done does not gather


def in_processes(work: Callable[[Piece], Done], pieces: Iterable[Piece], processes: int) -> Iterator[Done]:
    """What `work`, a function of a module, makes of each piece, in order. With one process it is done in this one.

    Raises UserError where one of several is killed.
    """
    if processes == 1:
        yield from map(work, pieces)
        return
    waiting: deque[Future[Done]] = deque()
    try:
        with ProcessPoolExecutor(processes) as pool:
            for piece in pieces:
                waiting.append(pool.submit(work, piece))
                if len(waiting) > AHEAD * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool:
        problem = "was killed, as the system does when memory runs out"
        raise UserError(
            f"one of this job's {processes} processes {problem}: give it more memory or fewer threads"
        ) from None
