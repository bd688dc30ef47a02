"""Make an index of another form from an encoded corpus: quantised, for approximate search, or codes of token vectors.

Reads the index of the encoded corpus; writes a folder of the form, and the timing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_folder
from ranktrial.common.timing import clock, write_timing
from ranktrial.inference.indices import derived_form, folder_bytes


def make_index(
    vectors: Path, index: Path, timing: Path,
    form: Annotated[str, "form of the index"],
    name: Annotated[str, "what is built: a precision, or faiss's name as HNSW32 or IVF1024,PQ48"],
) -> None:  # fmt: skip
    """Make an index of another form from an encoded corpus; the time is that of building and writing it."""
    made = derived_form(form)
    start = clock()
    with atomic_folder(index) as folder:
        counts = made.build(folder, vectors, name)
    seconds = clock() - start
    size, documents = folder_bytes(index), counts["documents"]
    many = f"{counts['vectors']} tokens" if "vectors" in counts else f"{documents} vectors"
    print(f"{vectors}: {many} in {name}, {size} bytes", file=sys.stderr)
    each = {"bytes_per_document": size / documents} if "vectors" in counts else {}
    write_timing(timing, **counts, seconds=seconds, index_bytes=size, **each, **{made.named: name})


if __name__ == "__main__":
    job(make_index)
