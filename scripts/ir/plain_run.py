"""Reads runs that are written as nearly all are, a block of lines at a time, in less than half the time.

Such a run has six columns of printable ASCII with one space between them, whole numbers as ranks, decimal scores of 32
bits, and each document once a query. Of any other nothing is said here: `scripts/ir/trec.py` judges it line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np

from scripts.common.reading import DAMAGE, open_text

BLOCK = 1 << 16  # characters: what is made of them stays in the processor's cache
LONGEST_LINE = 1 << 16  # characters; longer ones are read with care
LARGEST_SCORE = float(np.finfo(np.float32).max)  # trec_eval holds scores as 32-bit floats


def read_plain_run(path: Path) -> dict[str, dict[str, float]] | None:
    """Query id -> document id -> score; None for a file that is not such a run."""
    run: dict[str, dict[str, float]] = {}
    try:
        for block in _blocks(path):
            if not _add(block, run):
                return None
    except (*DAMAGE, ValueError):  # also of float()
        return None
    return run


def _blocks(path: Path) -> Iterator[str]:
    """The text in pieces of whole lines. Raises ValueError where a line is too long for that."""
    with open_text(path) as file:
        while text := file.read(BLOCK):
            text += file.readline(LONGEST_LINE)
            if not text.endswith("\n"):
                if file.read(1):
                    raise ValueError(f"a line of more than {LONGEST_LINE} characters")
                text += "\n"
            yield text


def _add(text: str, run: dict[str, dict[str, float]]) -> bool:
    """Add the lines of a block to the run; False for lines of another form. Raises ValueError where a score is none."""
    if not text.isascii() or not text.replace("\n", "").isprintable():
        return False
    # Each end of a line becomes a field of its own, so that a line of five columns is not mended by one of seven.
    fields = text.replace("\n", " \n ").split(" ")
    fields.pop()
    lines = text.count("\n")
    if len(fields) != 7 * lines or fields[6::7] != ["\n"] * lines or "" in fields:
        return False
    queries, documents, ranks, numerals = (fields[column::7] for column in (0, 2, 3, 4))
    if not "".join(ranks).isdecimal() or any("_" in numeral for numeral in numerals):
        return False
    scores = list(map(float, numerals))
    if not np.abs(scores).max() <= LARGEST_SCORE:  # nor where one is not a number
        return False
    start = 0
    for query, group in groupby(queries):
        end = start + sum(1 for _ in group)
        found = run.setdefault(query, {})
        before = len(found)
        found.update(zip(documents[start:end], scores[start:end], strict=True))
        if len(found) != before + end - start:
            return False
        start = end
    return True
