"""The protocols by which texts are embedded and pairs are scored: what is sent, and what counts as an answer.

`openai` is OpenAI's `/embeddings`, and `/rerank` as Cohere, Jina and vLLM have it beside that; `tei` is `/embed` and
`/rerank` of Hugging Face's Text Embeddings Inference. Scores are logits by `tei`, whatever the endpoint gives by
`openai`. A reader raises ValueError for an answer that does not have one vector per text, or one score per document.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from scripts.common.keys import JsonObject
from scripts.models.endpoint import tokens


class Values(NamedTuple):
    """The vectors or scores of an answer, a row each and float32, and the tokens that it counts."""

    rows: np.ndarray
    tokens: int | None


class Request(NamedTuple):
    """What is sent, to which place below the address, and what reads the answer."""

    name: str
    content: JsonObject
    read: Callable[[Any], Values]


def embedding(protocol: str, model: str, texts: list[str]) -> Request:
    """The request for the vectors of texts."""
    if protocol == "tei":
        content: JsonObject = {"inputs": texts, "normalize": True, "truncate": True}
        return Request("embed", content, partial(_vectors, count=len(texts)))
    content = {"model": model, "input": texts, "encoding_format": "float"}
    read = partial(_listed, place="data", value="embedding", count=len(texts))
    return Request("embeddings", content, lambda answer: _vectors(read(answer), len(texts), answer))


def scoring(protocol: str, model: str, query: str, documents: list[str]) -> Request:
    """The request for the scores of documents for a query."""
    count = len(documents)
    if protocol == "tei":
        content: JsonObject = {"query": query, "texts": documents, "raw_scores": True, "truncate": True}
        return Request("rerank", content, lambda answer: _scores(_listed(answer, None, "score", count), None))
    content = {"model": model, "query": query, "documents": documents, "top_n": count}
    read = partial(_listed, place="results", value="relevance_score", count=count)
    return Request("rerank", content, lambda answer: _scores(read(answer), answer))


def _listed(answer: Any, place: str | None, value: str, count: int) -> list[Any]:
    """The values of a list of objects, by the index that each states."""
    try:
        by_index = {entry["index"]: entry[value] for entry in (answer[place] if place else answer)}
    except (KeyError, TypeError):
        by_index = {}
    if set(by_index) != set(range(count)):
        raise ValueError(f"an answer that does not have one {value} for each of {count} texts, by its index")
    return [by_index[index] for index in range(count)]


def _vectors(vectors: Any, count: int, answer: Any = None) -> Values:
    """Vectors of one dimension, one per text."""
    rows = _floats(vectors)
    if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise ValueError(f"an answer of shape {rows.shape}; expected one vector for each of {count} texts")
    return Values(rows, _counted(answer))


def _scores(scores: list[Any], answer: Any) -> Values:
    rows = _floats(scores)
    if rows.ndim != 1:
        raise ValueError("an answer whose scores are no numbers")
    return Values(rows, _counted(answer))


def _floats(values: Any) -> np.ndarray:
    """Numbers of one shape, all finite."""
    try:
        numbers = np.array(values)
    except ValueError:
        raise ValueError("an answer with vectors of different dimensions") from None
    if numbers.dtype.kind not in "fi":
        raise ValueError("an answer with something else than numbers")
    with np.errstate(over="ignore"):
        numbers = numbers.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError("an answer with a number that 32 bits cannot represent")
    return numbers


def _counted(answer: Any) -> int | None:
    """The tokens that were sent; `total_tokens` where an endpoint has no other count."""
    prompt = tokens(answer, "prompt_tokens")
    return tokens(answer, "total_tokens") if prompt is None else prompt
