"""Write a feature file in LETOR format (SVMlight format with query ids), for other learners.

Reads a feature file and, if given, the term counts of the indices from which it should have been computed: a feature
file of another index is refused. Writes a text file (see ranktrial/ir/letor.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ranktrial.common.command_line import parser, run
from ranktrial.ir.feature_file import check_index, feature_names, read_features
from ranktrial.ir.letor import write_letor
from ranktrial.ir.term_counts import TermCounts


def rows(path: Path) -> Iterator[tuple[str, str, int | None, np.ndarray]]:
    """Yield the rows of a feature file."""
    for some in read_features(path):
        yield from zip(some.queries, some.documents, some.grades, some.values, strict=True)


def main() -> None:
    options = parser(__doc__, "features", "terms*", "letor", settings=False).parse_args()
    opened = [TermCounts(folder) for folder in options.terms]
    check_index(options.features, {one.statistics["fields"]: one.digest() for one in opened})
    write_letor(options.letor, feature_names(options.features), rows(options.features))


if __name__ == "__main__":
    run(main)
