"""Quantised vectors of a corpus: an index of codes, searched exactly, with rescoring of the best documents.

The codes are those of sentence-transformers' `quantize_embeddings`: int8 and uint8 divide each dimension's range in the
corpus into 255 steps, binary and ubinary keep its sign, eight dimensions per byte. Queries are quantised with the
ranges of the corpus. (float16 rounds only the corpus: its dot products are with the query's own vector.) Search is that
of the library's `semantic_search_faiss` and `semantic_search_usearch`: by the dot product of codes, or the number of
equal signs; then the best `rescore_multiplier` times k documents are scored by the dot product of the query's own
vector with their codes, mapped back to the ranges (signs: ones and zeros).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.inference.shards import part
from ranktrial.inference.vectors import check_dimensions, open_rows

CODES, RANGES = "codes.npy", "ranges.npy"
ROWS = 32768  # vectors quantised or scored at a time
SIGNED, BINARY, RANGED = ("int8", "binary"), ("binary", "ubinary"), ("int8", "uint8")


def ranges_of(embeddings: np.ndarray) -> np.ndarray:
    """The minimum and maximum of each dimension: float32 of shape (2, dimensions)."""
    parts = [embeddings[first : first + ROWS] for first in range(0, len(embeddings), ROWS)]
    least, most = [part.min(axis=0) for part in parts], [part.max(axis=0) for part in parts]
    return np.vstack([np.min(least, axis=0), np.max(most, axis=0)]).astype(np.float32)


def codes_of(vectors: np.ndarray, precision: str, ranges: np.ndarray | None) -> np.ndarray:
    """The codes of vectors (n, dimensions): int8 or uint8 (signs in an eighth of the width), or float16.

    Raises UserError if a number exceeds float16.
    """
    if precision == "float16":
        if np.abs(vectors).max(initial=0) > np.finfo(np.float16).max:
            raise UserError(
                "a vector has numbers beyond 65,504, which float16 cannot represent; leave embeddings in float32"
            )
        return vectors.astype(np.float16)
    from sentence_transformers.util.quantization import quantize_embeddings

    return np.asarray(quantize_embeddings(vectors, precision=precision, ranges=ranges))  # type: ignore[call-overload]


def write_index(folder: Path, embeddings: np.ndarray, precision: str) -> None:
    """Write codes and ranges into an empty folder, in parts of the corpus."""
    ranges = ranges_of(embeddings) if precision in RANGED else None
    if ranges is not None:
        np.save(folder / RANGES, ranges)
    shape = len(embeddings), code_width(embeddings.shape[1], precision)
    codes = np.lib.format.open_memmap(folder / CODES, "w+", type_of(precision), shape)
    for first in range(0, len(embeddings), ROWS):
        part = np.array(embeddings[first : first + ROWS])
        codes[first : first + len(part)] = codes_of(part, precision, ranges)
    codes.flush()


def code_width(dimensions: int, precision: str) -> int:
    """The numbers of a code: one per dimension, or one per eight signs."""
    return (dimensions + 7) // 8 if precision in BINARY else dimensions


def type_of(precision: str) -> type:
    """The NumPy type of the codes."""
    return np.float16 if precision == "float16" else np.int8 if precision in SIGNED else np.uint8


@dataclass(frozen=True)
class QuantisedIndex:
    """An opened index; `codes` stay on disk."""

    codes: np.ndarray
    ranges: np.ndarray | None
    precision: str

    def numbers(self, codes: np.ndarray, width: int) -> np.ndarray:
        """Codes as the numbers of the search's dot product: the codes themselves, or -1 and 1 for signs; float64.

        (float16 becomes float32.) Sums of products of such integers are exact in float64, but not in float32.
        """
        if self.precision in BINARY:
            return bits(codes, self.precision, width) * 2.0 - 1.0
        return codes.astype(np.float64 if self.precision in RANGED else np.float32)

    def asked(self, queries: np.ndarray) -> np.ndarray:
        """The queries' factor of the dot product: `numbers` of their codes, or for float16 the queries themselves."""
        if self.precision == "float16":
            return queries.astype(np.float32, copy=False)
        return self.numbers(codes_of(queries, self.precision, self.ranges), queries.shape[1])

    def restored(self, rows: np.ndarray, width: int) -> np.ndarray:
        """The vectors for rescoring: codes mapped back to the ranges, ones and zeros for signs."""
        codes = np.asarray(self.codes[rows])
        if self.ranges is None:
            return bits(codes, self.precision, width).astype(np.float64)
        steps = (self.ranges[1] - self.ranges[0]) / 255
        steps = np.where(steps == 0, 1, steps)
        return (codes.astype(np.float64) + (128 if self.precision in SIGNED else 0)) * steps + self.ranges[0]


def bits(codes: np.ndarray, precision: str, width: int) -> np.ndarray:
    """The signs in codes, without the padding of the last byte: uint8 of shape (n, width)."""
    packed = codes.view(np.uint8) ^ 0x80 if precision in SIGNED else codes
    return np.unpackbits(packed, axis=-1)[..., :width]


def open_index(folder: Path, rows: int, precision: str) -> QuantisedIndex:
    """Open the index of a corpus of this size. Raises UserError if it is damaged or of another corpus."""
    codes = open_rows(folder / CODES, rows)
    ranges = open_rows(folder / RANGES, 2) if precision in RANGED else None
    if codes.dtype != type_of(precision):
        raise UserError(f"{folder}: its codes are {codes.dtype}, not those of {precision}; quantise again")
    return QuantisedIndex(codes, ranges, precision)


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
