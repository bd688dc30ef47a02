"""Reads runs in the most common form, a block of lines at a time, in less than half the time.

Such a run has six columns of printable ASCII separated by one space, integers as ranks, decimal scores within 32 bits,
and each document once per query. Any other run is left to `ranktrial/ir/trec.py`, which reads it line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from ranktrial.common.reading import DAMAGE, open_bytes

BLOCK = 1 << 20  # bytes read at a time
LONGEST_LINE = 1 << 16  # bytes; longer ones are read line by line
LARGEST_SCORE = float(np.finfo(np.float32).max)  # trec_eval stores scores as 32-bit floats
_PLAIN = bytes(range(ord("!"), ord("~") + 1)) + b" \n"
_EMPTY = (b"  ", b"\n ", b" \n", b"\n\n")  # an empty column or line
_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")


def read_plain_run(path: Path) -> dict[str, dict[str, float]] | None:
    """Query id -> document id -> score; None for a file that does not have this form."""
    run: dict[str, dict[str, float]] = {}
    try:
        for block in _blocks(path):
            padded = b"\n" + block
            if block.translate(None, _PLAIN) or any(gap in padded for gap in _EMPTY) or not _add(block, run):
                return None
    except (*DAMAGE, ValueError):  # also of pyarrow
        return None
    return run


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines. Raises ValueError if a line is too long."""
    with open_bytes(path) as file:
        while block := file.read(BLOCK):
            block += file.readline(LONGEST_LINE)
            if not block.endswith(b"\n"):
                if file.read(1):
                    raise ValueError(f"a line of more than {LONGEST_LINE} bytes")
                block += b"\n"
            yield block


def _add(block: bytes, run: dict[str, dict[str, float]]) -> bool:
    """Add the lines of a block to the run; False for lines of another form, or ValueError from pyarrow."""
    import pyarrow as arrow  # importing takes longer than reading a small run
    from pyarrow import csv

    text = arrow.dictionary(arrow.int32(), arrow.string())  # a repeated text becomes one Python string
    table = csv.read_csv(
        arrow.BufferReader(block),
        csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=_COLUMNS),
        csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
        csv.ConvertOptions(
            include_columns=["query", "document", "rank", "score"],
            column_types=dict.fromkeys(_COLUMNS, text) | {"score": arrow.float64()},
            null_values=[],
        ),
    )
    queries, documents, ranks = (table[name].combine_chunks() for name in ("query", "document", "rank"))
    scores = table["score"].to_numpy()
    if not "".join(ranks.dictionary.to_pylist()).isdecimal() or not np.abs(scores).max() <= LARGEST_SCORE:
        return False  # also if one is not a number
    names = np.array(documents.dictionary.to_pylist(), dtype=object)[documents.indices.to_numpy()].tolist()
    numbers, query = scores.tolist(), queries.indices.to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(query)) + 1).tolist(), len(query)]
    for start, end in pairwise(bounds):
        found = run.setdefault(queries.dictionary[query[start]].as_py(), {})
        before = len(found)
        found.update(zip(names[start:end], numbers[start:end], strict=True))
        if len(found) != before + end - start:
            return False
    return True
