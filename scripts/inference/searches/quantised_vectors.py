"""Retrieve with a model with one vector per text, from an index of quantised vectors (see quantised.py).

Reads a checkpoint, the corpus with its quantised index, and queries; writes a TREC run of the `depth` best
documents per query, found by exact search of the codes, optionally with rescoring, and the timing. Ties are kept and
ranked as in trec_eval: by descending id. A shard is a part of the index; with rescoring, which may need any part of it,
it is a part of the queries.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated

import numpy as np

from ranktrial.common.command_line import run
from ranktrial.experiment.index_records import Quantised
from ranktrial.inference import searching
from ranktrial.inference.index_files import folder_bytes
from ranktrial.inference.quantised import open_index, search_codes
from ranktrial.inference.searching import EACH, answer, requested
from ranktrial.inference.shards import rows_of_shard
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.running import device


@dataclass(frozen=True)
class Settings(searching.Settings):
    embeddings: Annotated[Quantised, "how the index is quantised"] = field(kw_only=True)


def main() -> None:
    asked = requested(__doc__, Settings)
    folder, how = asked.options.index, asked.settings.embeddings
    of_queries = asked.settings.shard if how.rescore_multiplier else None
    of_index = None if how.rescore_multiplier else asked.settings.shard
    index = open_index(folder, len(asked.documents), how.precision)

    def find(texts: list[list[str]], wanted: slice = EACH) -> tuple[np.ndarray, np.ndarray]:
        encoded = asked.encode([text for (text,) in texts])[wanted]
        return search_codes(encoded, index, asked.places, asked.fetched, how.rescore_multiplier, device(), of_index)

    wanted = slice(*rows_of_shard(len(asked.queries), 1, of_queries))
    sizes = {"index_bytes": folder_bytes(folder), "weights_bytes": weights_bytes(asked.options.checkpoint)}
    answer(asked, find, wanted, **sizes, embeddings=asdict(how))


if __name__ == "__main__":
    run(main)
