"""Import external features: a LETOR file (MSLR, LETOR 3 and 4, Istella …) becomes a feature file.

Reads a text file in LETOR format (see ranktrial/ir/letor.py), plain, gzip or zstd, and the task's queries if it has
them; writes a feature file with the grades of the file, without the documents that are excluded for a query.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import numpy as np

from ranktrial.common.command_line import parser, run
from ranktrial.ir.collection import read_excluded
from ranktrial.ir.exclusion import NOTHING, Excluded
from ranktrial.ir.feature_file import Features, writing
from ranktrial.ir.letor import Row, feature_names, read_letor

BATCH = 50_000  # lines held in memory


def as_features(rows: list[Row], width: int) -> Features:
    """Lines as rows of a feature file; a feature missing from a line is 0."""
    values = np.zeros((len(rows), width))
    for place, row in enumerate(rows):
        values[place, [number - 1 for number in row.values]] = list(row.values.values())
    return Features([row.query for row in rows], [row.document for row in rows], [row.grade for row in rows], values)


def import_letor(source: Path, path: Path, excluded: Excluded = NOTHING) -> int:
    """Write the feature file of a LETOR file and return its number of rows. Raises UserError without writing a file."""
    names = feature_names(source)
    lines = 0
    with writing(path, names) as writer:
        rows = (row for row in read_letor(source) if row.document not in excluded.get(row.query, ()))
        while some := list(islice(rows, BATCH)):
            writer.add(as_features(some, len(names)))
            lines += len(some)
        writer.close({"features": [{"name": name} for name in names], "indices": {}, "source": source.name})
    return lines


def main() -> None:
    options = parser(__doc__, "source", "queries*", "features").parse_args()
    excluded = read_excluded(options.queries[0]) if options.queries else NOTHING
    print(f"{options.source}: {import_letor(options.source, options.features, excluded)} lines", file=sys.stderr)


if __name__ == "__main__":
    run(main)
