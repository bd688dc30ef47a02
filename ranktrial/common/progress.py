"""Progress of long loops: a line on stderr every few seconds, readable in a terminal and in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
INTERVAL = 10.0  # seconds


class Progress:
    """Counts towards `total`; prints `label: 40/120 33% [00:20<00:40, 2.0/s]` at most every INTERVAL seconds."""

    def __init__(self, label: str, total: int, unit: str = "it") -> None:
        self.label, self.total, self.unit = label, total, unit
        self.done = 0
        self.start = self.printed = time.monotonic()

    def add(self, count: int = 1) -> None:
        """Count `count` more as done."""
        self.done += count
        now = time.monotonic()
        if now - self.printed >= INTERVAL:
            from tqdm import tqdm  # the library without its extras has none, and loads indices to list them

            self.printed = now
            line = tqdm.format_meter(self.done, self.total, now - self.start, ncols=0, unit=self.unit)
            print(f"{self.label}: {line.strip()}", file=sys.stderr, flush=True)


def track(items: Iterable[T], label: str, total: int, unit: str = "it") -> Iterator[T]:
    """Yield `items` while printing progress."""
    progress = Progress(label, total, unit)
    for item in items:
        yield item
        progress.add()
