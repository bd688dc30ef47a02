"""List the query-document pairs that a teacher has to score: exactly those in a training's examples.

Reads the file of examples (negatives.py, mine.py). Writes a TREC run with each query's positives and negatives in the
order of the file; its scores decrease by one and have no meaning.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.ir.trec import Run, write_run
from ranktrial.training.examples import Row, read_table

TAG = "examples"


def paired(rows: list[Row]) -> Run:
    """The documents of each query, positives first, with scores that keep their order."""
    documents: dict[str, dict[str, None]] = {}
    for row in rows:
        documents.setdefault(row.query, {})[row.positive] = None
    for row in rows:
        documents[row.query][row.negative] = None
    return {
        query: {name: float(len(names) - place) for place, name in enumerate(names)}
        for query, names in documents.items()
    }


def collect_pairs(negatives: Path, pairs: Path) -> None:
    """List the query-document pairs that a teacher has to score: exactly those in a training's examples."""
    found = paired(read_table(negatives).rows)
    write_run(pairs, found, TAG)
    print(f"{sum(map(len, found.values()))} documents of {len(found)} queries are to be scored", file=sys.stderr)


if __name__ == "__main__":
    job(collect_pairs)
