"""Retrieve with a model that gives each token a vector, such as a ColBERT.

Reads a checkpoint, the corpus with its index, and queries; writes a TREC run of the `depth` documents with the highest
MaxSim per query, and the timing. The search is exact: all documents are compared, a part of the index at a time, so
memory does not grow with it. Documents of equal score are kept and ranked as trec_eval ranks them: by descending id.
"""

from __future__ import annotations

import numpy as np

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import write_timing
from scripts.inference.retrieve import Settings, search_all
from scripts.inference.token_index import open_index
from scripts.inference.vectors import passage_counts
from scripts.ir.collection import passages_of
from scripts.ir.trec import write_run
from scripts.models.adapters import adapter
from scripts.models.cutting import cutting_encoder
from scripts.models.prompts import load_prompted, prompts_of, told
from scripts.models.running import computed_by, device


def main() -> None:
    names = ("checkpoint", "corpus", "index", "queries", "run", "timing")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = options.settings
    queries = passages_of(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    ids = list(passage_counts(options.corpus))
    index = open_index(options.index, len(ids), options.checkpoint)
    kind = adapter(settings.type)
    model = load_prompted(kind, options.checkpoint, settings)
    encode = cutting_encoder(kind, model, settings)

    from scripts.inference.exact import precedence, search

    places = precedence(ids)

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = encode([text for (text,) in texts], settings.batch_size, "query")
        split = (np.array([len(rows) for rows in encoded]), index.counts)
        return search(np.concatenate(encoded), index.vectors, places, settings.depth, device(), split)

    ranked, facts = search_all(find, queries, ids, settings.batch_size)
    write_run(options.run, ranked, settings.tag)
    told_of = told(settings, prompts_of(kind, model))
    write_timing(options.timing, **facts, **computed_by(kind, model), **told_of)


if __name__ == "__main__":
    run(main)
