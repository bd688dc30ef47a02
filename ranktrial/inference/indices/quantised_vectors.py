"""Quantised vectors of a corpus: an index of codes (`codes.npy`, with `ranges.npy`), made from its vectors.

The codes are those of sentence-transformers' `quantize_embeddings`: int8 and uint8 divide each dimension's range in the
corpus into 255 steps, binary and ubinary keep its sign, eight dimensions per byte. Queries are quantised with the
ranges of the corpus. (float16 rounds only the corpus: its dot products are with the query's own vector.) Search is that
of the library's `semantic_search_faiss` and `semantic_search_usearch`: by the dot product of codes, or the number of
equal signs; then the best `rescore_multiplier` times k documents are scored by the dot product of the query's own
vector with their codes, mapped back to the ranges (signs: ones and zeros).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.keys import Length, Not
from ranktrial.inference.indices import Array, DerivedForm, Mistake, check_size, read_arrays, vectors

NAME = "quantised-vectors"
MULTIPLIER = 2  # the library's default
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
        np.save(folder / "ranges.npy", ranges)
    shape = len(embeddings), code_width(embeddings.shape[1], precision)
    codes = np.lib.format.open_memmap(folder / "codes.npy", "w+", type_of(precision), shape)
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
    ranged = {"ranges": Array(np.float32, 2)} if precision in RANGED else {}
    codes, *ranges = read_arrays(folder, {"codes": Array(type_of(precision), 2), **ranged}, "quantise")
    check_size(folder, len(codes), rows, "quantise")
    return QuantisedIndex(codes, ranges[0] if ranges else None, precision)


NOT_AGAIN = Not("embeddings.precision: float16", "these are multiplied by the query's own vector at once")


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys of quantised vectors."""

    precision: Annotated[
        Literal["float32", "float16", "int8", "uint8", "binary", "ubinary"],
        "float32: as encoded; float16: half the size; int8 or uint8: one byte per dimension; binary or ubinary: "
        "one bit per dimension",
    ]
    rescore: Annotated[
        bool | None,
        "whether the top documents are re-scored with the query's own vector; default true",
        NOT_AGAIN,
    ] = None
    rescore_multiplier: Annotated[
        Length | None,
        f"number of re-scored documents as a multiple of depth; default {MULTIPLIER}",
        NOT_AGAIN,
        Not("embeddings.rescore: false"),
    ] = None


@dataclass(frozen=True)
class Quantised:
    """The quantisation of vectors."""

    precision: Annotated[str, "of the index"]
    rescore_multiplier: Annotated[int, "how many times depth are scored again; 0: none"]

    @property
    def name(self) -> str:
        return self.precision


class QuantisedVectors(DerivedForm):
    key, keys, settings, made_from = "embeddings", Keys, Quantised, vectors.NAME
    description = (
        "bi-encoders: precision of the vectors in which the corpus is searched; it is encoded once for all precisions"
    )
    refusal = "has an index of its own; only those of bi-encoders are quantised"
    named = "embeddings_precision"
    smaller = True

    def resolve(self, keys: Keys, passages: bool) -> Quantised | None:
        if keys.precision == "float32":
            return None
        if passages:
            raise Mistake("", "vectors of passages are not quantised; leave out embeddings, or long_documents")
        again = keys.precision != "float16" if keys.rescore is None else keys.rescore
        return Quantised(keys.precision, (keys.rescore_multiplier or MULTIPLIER) if again else 0)

    def by_documents(self, settings: Quantised) -> bool:
        return not settings.rescore_multiplier  # rescoring may need any document

    def text(self, settings: Quantised) -> str:
        multiplier = settings.rescore_multiplier
        again = f", {multiplier} times the depth scored again" if multiplier else ""
        return f", searches the corpus's vectors in {settings.precision}{again}"

    def build(self, folder: Path, source: Path, name: str) -> dict[str, int]:
        embeddings = vectors.read(source)
        write_index(folder, embeddings, name)
        return {"documents": len(embeddings)}


FORM = QuantisedVectors()
