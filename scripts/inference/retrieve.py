"""Retrieve with a model that gives each text a vector, such as a bi-encoder.

Reads a checkpoint, the corpus with its embeddings, and queries; writes a TREC run of the `depth` documents with the
highest similarity per query, found by exact search, and the timing. Documents of equal score are kept and ranked as
trec_eval ranks them: by descending id. Corpus and queries may be files of passages, the corpus that of the embeddings.
These may be quantised (see quantised.py), where texts are whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.inference.quantised import index_bytes, open_index, search_codes
from scripts.inference.vectors import open_embeddings, passage_counts
from scripts.ir.collection import passages_of
from scripts.ir.trec import Run, write_run
from scripts.models.adapters import adapter
from scripts.models.cutting import cutting_encoder
from scripts.models.model_files import weights_bytes
from scripts.models.prompts import load_prompted, prompts_of, told
from scripts.models.running import computed_by, device
from scripts.models.truncation import Rows, TruncatedRows, truncation

FLOAT = 4  # bytes of a number of the embeddings


@dataclass(frozen=True)
class Quantised:
    precision: Annotated[str, "of the index"]
    rescore_multiplier: Annotated[int, "how many times depth are scored again; 0: none"]


@dataclass(frozen=True)
class Settings:
    type: Annotated[str, "kind of the model, one that searches"]
    max_length: Annotated[int, "tokens kept of a text"]
    batch_size: Annotated[int, "texts a batch"]
    depth: Annotated[int, "documents a query that are kept"]
    tag: Annotated[str, "name of the run, its last column"]
    max_query_length: Annotated[int | None, "tokens kept of a query, without special ones; null: no limit"] = None
    max_document_length: Annotated[int | None, "as the embeddings were made; goes into the timing"] = None
    passage_length: Annotated[int | None, "characters a passage, where texts were split; goes into the timing"] = None
    truncate_dim: Annotated[int | None, "first dimensions of each vector that count; null: all of them"] = None
    prompts: Annotated[dict[str, str] | None, "put before texts, by role; null: those that the model stores"] = None
    embeddings: Annotated[Quantised | None, "how the index is quantised; null: it is not"] = None


def search_all(
    find: Callable[[list[list[str]]], tuple[np.ndarray, np.ndarray]],
    queries: dict[str, list[str]],
    ids: list[str],
    batch_size: int,
) -> tuple[Run, dict[str, Any]]:
    """The run of all queries, and what its timing says of them.

    `find` gives for queries (lists of passages) the scores and the numbers of the best documents, which index `ids`. A
    first batch warms it up.
    """
    texts = list(queries.values())
    find(texts[:batch_size])
    start = clock()
    scores, rows = find(texts)
    seconds = clock() - start
    singles = single_seconds(lambda text: find([text]), texts)
    ranked = {
        query: {ids[row]: score for row, score in zip(rows[n].tolist(), scores[n].tolist(), strict=True)}
        for n, query in enumerate(queries)
    }
    print(f"{len(queries)} queries, {len(queries) / seconds:.1f} a second", file=sys.stderr)
    speed = {"seconds": seconds, "queries_per_second": len(queries) / seconds, "latency_ms": latency(singles)}
    return ranked, {"queries": len(queries), "documents": len(ids), **speed}


def main() -> None:
    names = ("checkpoint", "corpus", "embeddings", "queries", "run", "timing")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = options.settings
    queries = passages_of(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    counts = passage_counts(options.corpus)
    ids, passages = list(counts), np.array(list(counts.values()))
    if settings.embeddings:
        index = open_index(options.embeddings, len(ids), settings.embeddings.precision)
        index_size = index_bytes(options.embeddings)
    else:
        documents: Rows = open_embeddings(options.embeddings, sum(counts.values()))
    kind = adapter(settings.type)
    model = load_prompted(kind, options.checkpoint, settings)
    if settings.truncate_dim and not settings.embeddings:
        documents = TruncatedRows(documents, truncation(kind, model, settings.truncate_dim))
    encode = cutting_encoder(kind, model, settings)

    from scripts.inference.exact import precedence, search

    places = precedence(ids)

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = encode([passage for text in texts for passage in text], settings.batch_size, "query")
        if settings.embeddings:
            multiplier = settings.embeddings.rescore_multiplier
            return search_codes(encoded, index, places, settings.depth, multiplier, device())
        split = (np.array([len(text) for text in texts]), passages)
        return search(encoded, documents, places, settings.depth, device(), split)

    ranked, figures = search_all(find, queries, ids, settings.batch_size)
    write_run(options.run, ranked, settings.tag)
    facts = told(settings, prompts_of(kind, model))
    del facts["type"]  # so that timings keep the keys that they have always had
    if settings.embeddings:
        facts["embeddings"] = asdict(settings.embeddings)
        sizes = {"index_bytes": index_size}
    else:
        sizes = {"dimensions": documents.shape[1], "index_bytes": len(documents) * documents.shape[1] * FLOAT}
    sizes["weights_bytes"] = weights_bytes(options.checkpoint)
    write_timing(options.timing, **figures, **sizes, **computed_by(kind, model), **facts)


if __name__ == "__main__":
    run(main)
