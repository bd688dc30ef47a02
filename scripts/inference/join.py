"""Join the shards of an index (see encode.py) into the same index that one job would make.

Reads the shards in their order with their timings, and the checkpoint that made them; writes the index, chunk by chunk,
and a timing: seconds are the sum over the shards, memory is their maximum.
"""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_folder
from ranktrial.common.timing import write_timing
from ranktrial.inference.indices import folder_bytes, index_form
from ranktrial.inference.shards import joined


def join_index(
    checkpoint: Path, shards: list[Path], timings: list[Path], index: Path, timing: Path,
    form: Annotated[str, "of the index"],
) -> None:  # fmt: skip
    """Join the shards of an index (see encode.py) into the same index that one job would make."""
    kind = index_form(form)
    with atomic_folder(index) as folder:
        chunks = chain.from_iterable(kind.open_shard(shard, checkpoint) for shard in shards)
        written = kind.write_index(folder, chunks, checkpoint)
        index_bytes = folder_bytes(folder)
    whole = joined([json.loads(path.read_text()) for path in timings], added=["documents"])
    print(f"{index}: {whole['documents']} documents in {whole['shards']} shards", file=sys.stderr)
    speed = {"documents_per_second": whole["documents"] / whole["seconds"], "index_bytes": index_bytes}
    write_timing(timing, **whole | kind.facts(written) | speed)


if __name__ == "__main__":
    job(join_index)
