"""Join the shards of an index (see encode.py) into the same index that one job would make.

Reads the shards in their order with their timings, and the checkpoint that made them; writes the index, chunk by chunk,
and a timing: seconds are the sum over the shards, memory is their maximum.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.files import atomic_folder
from ranktrial.common.timing import write_timing
from ranktrial.inference.indices import folder_bytes, index_form
from ranktrial.inference.shards import joined


@dataclass(frozen=True)
class Settings:
    index: Annotated[str, "form of the index"]


def main() -> None:
    names = ("checkpoint", "shards*", "timings*", "index", "timing")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    form = index_form(options.settings.index)
    with atomic_folder(options.index) as folder:
        chunks = chain.from_iterable(form.open_shard(shard, options.checkpoint) for shard in options.shards)
        written = form.write_index(folder, chunks, options.checkpoint)
        index_bytes = folder_bytes(folder)
    whole = joined([json.loads(path.read_text()) for path in options.timings], added=["documents"])
    print(f"{options.index}: {whole['documents']} documents in {whole['shards']} shards", file=sys.stderr)
    speed = {"documents_per_second": whole["documents"] / whole["seconds"], "index_bytes": index_bytes}
    write_timing(options.timing, **whole | form.facts(written) | speed)


if __name__ == "__main__":
    run(main)
