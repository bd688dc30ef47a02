"""Reading ahead: another thread makes the next item while the current one is processed outside of Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items in order, with one beyond the current in memory. Exceptions of `items` are raised here."""
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, iterator, end)
        while (item := waiting.result()) is not end:
            waiting = reader.submit(next, iterator, end)
            yield item  # type: ignore[misc]  # no end
