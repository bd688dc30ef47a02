"""Search of quantised vectors, exactly, with rescoring of the best documents (see indices/quantised_vectors.py).

Ties are kept and ranked as in trec_eval: by descending id. A shard is a part of the index; with rescoring, which may
need any part of it, it is a part of the queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from ranktrial.inference.indices import folder_bytes
from ranktrial.inference.indices.quantised_vectors import BINARY, ROWS, QuantisedIndex, code_width, open_index
from ranktrial.inference.searching import EACH, Request, answer
from ranktrial.inference.shards import part, rows_of_shard
from ranktrial.inference.vectors import check_dimensions
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.running import device


def search(asked: Request) -> None:
    """Write the run and the timing of a search."""
    how, shard = asked.derived, asked.settings.shard
    of_queries, of_index = (shard, None) if how.rescore_multiplier else (None, shard)
    index = open_index(asked.index, len(asked.documents), how.precision)

    def find(texts: list[list[str]], wanted: slice = EACH) -> tuple[np.ndarray, np.ndarray]:
        encoded = asked.encode([text for (text,) in texts])[wanted]
        return search_codes(encoded, index, asked.places, asked.fetched, how.rescore_multiplier, device(), of_index)

    wanted = slice(*rows_of_shard(len(asked.queries), 1, of_queries))
    sizes = {"index_bytes": folder_bytes(asked.index), "weights_bytes": weights_bytes(asked.checkpoint)}
    answer(asked, find, wanted, **sizes, embeddings=asdict(how))


def search_codes(
    queries: np.ndarray,
    index: QuantisedIndex,
    places: np.ndarray,
    depth: int,
    multiplier: int,
    device: str,
    shard: list[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The `depth` best documents of each query, of shape (queries, dimensions): their scores and numbers.

    `places` are as from exact.precedence. With a `multiplier` of 0 there is no rescoring: the scores are of codes. With
    a `shard` (see shards.py) and no rescoring, only the documents of its parts of the index are compared.
    """
    import torch

    from ranktrial.inference.exact import QUERIES, Scoring, blocks, merged

    width = queries.shape[1]
    check_dimensions(code_width(width, index.precision), index.codes.shape[1])
    vectors = torch.from_numpy(index.asked(queries)).to(device)

    def scorings() -> Iterator[Scoring]:
        for rows, _ in part(list(blocks(np.ones(len(index.codes), np.int64), ROWS)), shard):
            chunk = torch.from_numpy(index.numbers(np.array(index.codes[rows]), width)).to(device)

            def score(of_queries: slice, chunk: Any = chunk) -> Any:
                products = vectors[of_queries] @ chunk.T
                return (products + width) / 2 if index.precision in BINARY else products

            yield rows, score

    asked = [rows for rows, _ in blocks(np.ones(len(queries), np.int64), QUERIES)]
    scores, found = merged(scorings(), asked, torch.from_numpy(places).to(device), depth * max(multiplier, 1))
    if not multiplier:
        return scores, found
    return _again(lambda query, rows: index.restored(rows, width) @ queries[query], found, places, depth)


def _again(
    score: Callable[[int, np.ndarray], np.ndarray], found: np.ndarray, places: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """The best `depth` of the found documents by new scores; ties by the smaller place."""
    kept_scores, kept_rows = [], []
    for query, rows in enumerate(found):
        scores = score(query, rows)
        order = np.lexsort((places[rows], -scores))[:depth]
        kept_scores.append(scores[order])
        kept_rows.append(rows[order])
    return np.array(kept_scores), np.array(kept_rows)
