"""Scores of pairs by a cross-encoder, in torch or ONNX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scripts.inference.aggregate import max_sim
from scripts.models.neural import autocast, finite, load_cross_encoder, precision

CHUNK = 1024  # pairs scored between two lines of progress; sorted by length among themselves, to pad less

TextPair = tuple[str, str]  # a query (or a passage of it), a document (or a passage of it)
PassagesPair = tuple[list[str], list[str]]  # the passages of a query, the passages of a document


class Scorer(NamedTuple):
    """`score` gives the logits of pairs of texts: float32 of shape (pairs,). `facts` say, for the timing, by what."""

    score: Callable[[list[TextPair]], np.ndarray]
    facts: dict


def load_scorer(checkpoint: Path, settings: dict) -> Scorer:
    """The cross-encoder of a checkpoint. The settings' keys used are backend, max_length and batch_size."""
    if settings["backend"] == "onnx":
        from scripts.inference.onnx_pairs import OnnxCrossEncoder

        model = OnnxCrossEncoder(checkpoint, settings["max_length"])
        return Scorer(partial(model.score, batch_size=settings["batch_size"]), model.facts)
    loaded = load_cross_encoder(checkpoint, settings["max_length"])
    return Scorer(partial(score_pairs, loaded, batch_size=settings["batch_size"]), {"precision": precision()})


def score_pairs(model, pairs: list[TextPair], batch_size: int) -> np.ndarray:
    """A torch cross-encoder's logits for pairs of texts: float32 of shape (pairs,), all finite."""
    import torch

    with autocast():
        scores = model.predict(pairs, batch_size=batch_size, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    return finite(scores.astype(np.float32, copy=False))


def aggregated(score: Callable[[list[TextPair]], np.ndarray], pairs: list[PassagesPair]) -> list[float]:
    """The score of each query and document from those of their passages, which `score` gets all at once."""
    values = score([one for query, document in pairs for one in product(query, document)])
    found, first = [], 0
    for query, document in pairs:
        last = first + len(query) * len(document)
        found.append(max_sim(values[first:last].reshape(len(query), -1), np.array([len(document)])).item())
        first = last
    return found


def chunks(pairs: Iterable[tuple[str, PassagesPair]], size: int = CHUNK) -> Iterator[list[tuple[str, PassagesPair]]]:
    """Named pairs in lists of about `size` pairs of passages: whole queries and documents, at least one."""
    chunk: list[tuple[str, PassagesPair]] = []
    count = 0
    for name, (query, document) in pairs:
        chunk.append((name, (query, document)))
        count += len(query) * len(document)
        if count >= size:
            yield chunk
            chunk, count = [], 0
    if chunk:
        yield chunk


def passage_pairs(chunk: list[tuple[str, PassagesPair]]) -> int:
    """How many pairs of passages a chunk holds."""
    return sum(len(query) * len(document) for _, (query, document) in chunk)
