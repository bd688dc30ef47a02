"""Reading ahead: the next item is made by another thread while the one before is worked on, outside of Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items in their order, of which one beyond the current is in memory. What `items` raises is raised here."""
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, iterator, end)
        while (item := waiting.result()) is not end:
            waiting = reader.submit(next, iterator, end)
            yield item  # type: ignore[misc]  # no end
