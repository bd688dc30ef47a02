"""Join the shards of an index that is a folder (see index_corpus.py) into the index that one job would have made.

Reads the shards in their order with their timings, and the checkpoint that made them; writes the index, a chunk at a
time, and a timing: seconds are the sum over the shards, memory is that of the largest.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import chain
from types import ModuleType
from typing import Annotated, Literal

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_folder
from scripts.common.timing import write_timing
from scripts.inference import term_index, token_index
from scripts.inference.shards import joined

FORMS: dict[str, ModuleType] = {"terms": term_index, "token-vectors": token_index}


@dataclass(frozen=True)
class Settings:
    index: Annotated[Literal["terms", "token-vectors"], "form of the index"]


def main() -> None:
    names = ("checkpoint", "shards*", "timings*", "index", "timing")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    form = FORMS[options.settings.index]
    with atomic_folder(options.index) as folder:
        chunks = chain.from_iterable(form.open_shard(shard, options.checkpoint) for shard in options.shards)
        written = form.write_index(folder, chunks, options.checkpoint)
        index_bytes = sum(file.stat().st_size for file in folder.iterdir())
    whole = joined([json.loads(path.read_text()) for path in options.timings], added=["documents"])
    print(f"{options.index}: {whole['documents']} documents in {whole['shards']} shards", file=sys.stderr)
    speed = {"documents_per_second": whole["documents"] / whole["seconds"], "index_bytes": index_bytes}
    write_timing(options.timing, **whole | form.facts(written) | speed)


if __name__ == "__main__":
    run(main)
