"""The rankings and the documents of a task as chunks of the page's data; writes them.

A chunk is small enough to be read between two frames, and large enough that there are a few thousand files at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.keys import JsonObject
from ranktrial.explorer import budget, packed, texts
from ranktrial.explorer.rankings import Numbering, Rankings, query_record
from ranktrial.explorer.task_data import Data

RAW = 150_000  # characters of a chunk before it is packed
_OF_DOCUMENT, _OF_LINE, _OF_RANK = 9, 11, 3  # characters of a number, of a ranked document with its score, of a rank


def size_of(record: JsonObject) -> int:
    """The approximate number of characters of a query's record."""
    lines = sum(_OF_LINE * len(run[0]) + _OF_RANK * len(run[2]) for run in record["runs"].values())
    return _OF_DOCUMENT * len(record["documents"]) + len(record["text"]) + lines


def gathered(records: Iterable[JsonObject]) -> Iterator[list[JsonObject]]:
    """The records in groups of about RAW characters each, at least one per group."""
    group: list[JsonObject] = []
    size = 0
    for record in records:
        if group and size + size_of(record) > RAW:
            yield group
            group, size = [], 0
        group.append(record)
        size += size_of(record)
    if group:
        yield group


def write_rankings(
    place: Path, data: Data, rankings: Rankings, of_queries: dict[str, str], numbering: Numbering
) -> tuple[list[int], int]:
    """Write all rankings; return the position of the first query of each chunk, and the total bytes."""
    ids = list(rankings.ids)
    records = (
        query_record(rankings, query, ids, data.qrels[query], numbering) | {"text": of_queries.get(query, "")}
        for query in rankings.queries
    )
    firsts, first, used = [], 0, 0
    for group in gathered(records):
        used += packed.write(place, f"rankings-{len(firsts)}", group)
        firsts.append(first)
        first += len(group)
    return firsts, used


def chosen_texts(
    shown: dict[str, texts.Shown], ids: Sequence[str], best: Sequence[int], depth: int, room: float
) -> budget.TextLimits:
    """The texts that fit."""
    lengths = [len(shown[document].text) if document in shown else 0 for document in ids]
    return budget.text_limits(np.array(best), np.array(lengths), depth, room)


def document_records(
    shown: dict[str, texts.Shown], ids: Sequence[str], best: Sequence[int], limits: budget.TextLimits | None
) -> list[list[Any]]:
    """Each document as the page reads it: its id; title and text, and the full length if it was cut."""
    return [_document(document, shown.get(document), rank, limits) for document, rank in zip(ids, best, strict=True)]


def _document(document: str, of_it: texts.Shown | None, rank: int, limits: budget.TextLimits | None) -> list[Any]:
    if limits is None or of_it is None or rank > limits.rank:
        return [document]
    text = of_it.text[: limits.length]
    cut = [of_it.length] if len(text) < of_it.length else []
    return [document, of_it.title[: limits.length], text, *cut]


def write_documents(place: Path, records: list[list[Any]]) -> int:
    """Write the documents; return the number per chunk."""
    characters = sum(len(part) for record in records for part in record if isinstance(part, str))
    per_chunk = max(1, RAW * len(records) // max(1, characters))
    for number, first in enumerate(range(0, len(records), per_chunk)):
        packed.write(place, f"documents-{number}", records[first : first + per_chunk])
    return per_chunk
