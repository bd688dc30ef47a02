"""Build an index for approximate search (see approximate.py) from a corpus's encoding.

Reads the index of vectors of a corpus; writes a folder with a faiss index, and the timing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.files import atomic_folder
from ranktrial.common.timing import clock, write_timing
from ranktrial.inference.approximate import build, write_index
from ranktrial.inference.index_files import folder_bytes
from ranktrial.inference.vectors import VECTORS, open_matrix


@dataclass(frozen=True)
class Settings:
    index: Annotated[str, "faiss's name of it, as HNSW32 or IVF1024,PQ48"]


def main() -> None:
    options = parser(__doc__, "vectors", "index", "timing", settings=Settings).parse_args()
    vectors = open_matrix(options.vectors / VECTORS)
    start = clock()
    index = build(vectors, options.settings.index)
    seconds = clock() - start
    with atomic_folder(options.index) as folder:
        write_index(index, folder)
    size = folder_bytes(options.index)
    print(f"{options.vectors}: {len(vectors)} vectors in {options.settings.index}, {size} bytes", file=sys.stderr)
    write_timing(
        options.timing, documents=len(vectors), seconds=seconds, index_bytes=size, approximate=options.settings.index
    )


if __name__ == "__main__":
    run(main)
