"""Quantise the vectors of a corpus (see quantised.py): an index of another precision from the same encoding.

Reads the vectors of a corpus; writes a folder with their codes, and the timing. The ranges of int8 and uint8 are those
of the whole corpus.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.command_line import parser, run
from ranktrial.common.files import atomic_folder
from ranktrial.common.timing import clock, write_timing
from ranktrial.inference.index_files import folder_bytes
from ranktrial.inference.quantised import write_index
from ranktrial.inference.vectors import VECTORS, open_matrix


@dataclass(frozen=True)
class Settings:
    precision: Annotated[Literal["float16", "int8", "uint8", "binary", "ubinary"], "of the index"]


def main() -> None:
    options = parser(__doc__, "vectors", "index", "timing", settings=Settings).parse_args()
    settings: Settings = options.settings
    vectors = open_matrix(options.vectors / VECTORS)
    start = clock()
    with atomic_folder(options.index) as folder:
        write_index(folder, vectors, settings.precision)
    seconds = clock() - start
    size = folder_bytes(options.index)
    print(f"{options.vectors}: {len(vectors)} vectors in {settings.precision}, {size} bytes", file=sys.stderr)
    write_timing(
        options.timing,
        documents=len(vectors),
        seconds=seconds,
        index_bytes=size,
        embeddings_precision=settings.precision,
    )


if __name__ == "__main__":
    run(main)
