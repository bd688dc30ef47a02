"""Build an index for approximate search (see approximate.py) from a corpus's encoding.

Reads the embeddings of a corpus; writes a faiss index and the timing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_path
from scripts.common.timing import clock, write_timing
from scripts.inference.approximate import build, write_index
from scripts.inference.vectors import open_matrix


@dataclass(frozen=True)
class Settings:
    index: Annotated[str, "faiss's name of it, as HNSW32 or IVF1024,PQ48"]


def main() -> None:
    options = parser(__doc__, "embeddings", "index", "timing", settings=Settings).parse_args()
    vectors = open_matrix(options.embeddings)
    start = clock()
    index = build(vectors, options.settings.index)
    seconds = clock() - start
    with atomic_path(options.index) as path:
        size = write_index(index, path)
    print(f"{options.embeddings}: {len(vectors)} vectors in {options.settings.index}, {size} bytes", file=sys.stderr)
    write_timing(
        options.timing, documents=len(vectors), seconds=seconds, index_bytes=size, approximate=options.settings.index
    )


if __name__ == "__main__":
    run(main)
