"""Join the shards of an encoded corpus (see encode.py) into its embeddings.

Reads the shards in their order and their timings; writes the NumPy file that one job would have written, a part at a
time, and a timing: seconds are the sum over the shards, memory is that of the largest.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_path
from scripts.common.timing import write_timing
from scripts.inference.shards import joined
from scripts.inference.vectors import open_matrix, write_rows

ROWS = 65_536  # copied at a time


def join(shards: list[Path], embeddings: Path) -> int:
    """Write the rows of all shards into one file; returns their number. Raises UserError where they do not fit."""
    matrices = [open_matrix(path) for path in shards]
    if len({matrix.shape[1] for matrix in matrices}) > 1:
        raise UserError(f"{shards[0].parent}: its shards have different dimensions; delete them and encode again")
    count = sum(map(len, matrices))
    parts = (matrix[first : first + ROWS] for matrix in matrices for first in range(0, len(matrix), ROWS))
    with atomic_path(embeddings) as temporary:
        write_rows(temporary, count, matrices[0].shape[1], parts)
    return count


def main() -> None:
    options = parser(__doc__, "shards*", "timings*", "embeddings", "timing", settings=False).parse_args()
    count = join(options.shards, options.embeddings)
    timings = [json.loads(path.read_text()) for path in options.timings]
    whole = joined(timings, added=["documents"])
    if whole["documents"] != count:
        raise UserError(f"{options.embeddings}: {count} rows of {whole['documents']} documents; encode again")
    print(f"{options.embeddings}: {count} documents in {len(timings)} shards", file=sys.stderr)
    write_timing(options.timing, **whole | {"documents_per_second": count / whole["seconds"]})


if __name__ == "__main__":
    run(main)
