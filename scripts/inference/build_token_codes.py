"""Code the token vectors of a corpus (see token_codes.py): a smaller index from the same encoding.

Reads the index of token vectors; writes a folder with their codes, and the timing.
"""

from __future__ import annotations

import sys

from ranktrial.common.command_line import parser, run
from ranktrial.common.files import atomic_folder
from ranktrial.common.timing import clock, write_timing
from ranktrial.inference.index_files import folder_bytes
from ranktrial.inference.indices.token_vectors import read
from ranktrial.inference.token_codes import write_index
from scripts.inference.build_approximate_index import Settings


def main() -> None:
    options = parser(__doc__, "vectors", "index", "timing", settings=Settings).parse_args()
    name = options.settings.index
    vectors, counts = read(options.vectors)
    start = clock()
    with atomic_folder(options.index) as folder:
        write_index(folder, vectors, counts, name)
    seconds = clock() - start
    size = folder_bytes(options.index)
    print(f"{options.vectors}: {len(vectors)} tokens in {name}, {size} bytes", file=sys.stderr)
    write_timing(
        options.timing,
        documents=len(counts),
        vectors=len(vectors),
        seconds=seconds,
        index_bytes=size,
        bytes_per_document=size / len(counts),
        approximate=name,
    )


if __name__ == "__main__":
    run(main)
