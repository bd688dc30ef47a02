"""Feature files from and to LETOR's format (SVMlight format with query ids; MSLR, LETOR 3 and 4, Istella …).

See ranktrial/ir/letor.py for the text file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from ranktrial.common.command_line import job
from ranktrial.ir import letor as text_format
from ranktrial.ir.collection import NOTHING, read_excluded
from ranktrial.ir.feature_file import Features, check_index, feature_names, read_features, writing
from ranktrial.ir.term_counts import TermCounts

BATCH = 50_000  # lines held in memory


def import_features(source: Path, queries: list[Path], features: Path) -> None:
    """Write a LETOR file (plain, gzip or zstd) as a feature file, with the grades of the file.

    The documents that are excluded for a query are left out. Raises UserError without writing a file.
    """
    excluded = read_excluded(queries[0]) if queries else NOTHING
    names, lines = text_format.feature_names(source), 0
    with writing(features, names) as writer:
        rows = (row for row in text_format.read_letor(source) if row.document not in excluded.get(row.query, ()))
        while some := list(islice(rows, BATCH)):
            writer.add(as_features(some, len(names)))
            lines += len(some)
        writer.close({"features": [{"name": name} for name in names], "indices": {}, "source": source.name})
    print(f"{source}: {lines} lines", file=sys.stderr)


def export_features(features: Path, terms: list[Path], letor: Path) -> None:
    """Write a feature file in LETOR format, for other learners.

    `terms` are the term counts of the indices from which it should have been computed: a feature file of another index
    is refused.
    """
    opened = [TermCounts(folder) for folder in terms]
    check_index(features, {one.statistics["fields"]: one.digest() for one in opened})
    text_format.write_letor(letor, feature_names(features), rows_of(features))


def as_features(rows: list[text_format.Row], width: int) -> Features:
    """Lines as rows of a feature file; a feature missing from a line is 0."""
    values = np.zeros((len(rows), width))
    for place, row in enumerate(rows):
        values[place, [number - 1 for number in row.values]] = list(row.values.values())
    return Features([row.query for row in rows], [row.document for row in rows], [row.grade for row in rows], values)


def rows_of(path: Path) -> Iterator[tuple[str, str, int | None, np.ndarray]]:
    """Yield the rows of a feature file."""
    for some in read_features(path):
        yield from zip(some.queries, some.documents, some.grades, some.values, strict=True)


if __name__ == "__main__":
    job(import_features, export_features)
