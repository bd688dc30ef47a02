"""The protocols for embedding texts and scoring pairs: requests, and readers that validate the answers.

`openai` is OpenAI's `/embeddings`, together with `/rerank` as in Cohere, Jina and vLLM; `tei` is `/embed` and `/rerank`
of Hugging Face's Text Embeddings Inference. Scores are logits with `tei`, and whatever the endpoint returns with
`openai`. A reader raises ValueError for an answer without exactly one vector per text, or one score per document.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ranktrial.common.keys import JsonObject
from ranktrial.models.endpoint import tokens


class Values(NamedTuple):
    """The vectors or scores of an answer, float32 with one row each, and the number of tokens that it reports."""

    rows: np.ndarray
    tokens: int | None


class Request(NamedTuple):
    """The path below the address, the content to send, and the function that reads the answer."""

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
    """The values of a list of objects, in the order of their `index`, which each has once."""
    try:
        numbered = [(entry["index"], entry[value]) for entry in (answer[place] if place else answer)]
    except (KeyError, TypeError):
        numbered = []
    by_index = {index: found for index, found in numbered if type(index) is int}
    if len(numbered) != count or set(by_index) != set(range(count)):
        raise ValueError(f"an answer that does not have one {value} for each of {count} texts, by its index")
    return [by_index[index] for index in range(count)]


def _vectors(vectors: Any, count: int, answer: Any = None) -> Values:
    """Validate vectors: one per text, all of the same dimension."""
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
    """Convert numbers of one shape to float32; all must be finite."""
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
    """The number of tokens sent; `total_tokens` if the endpoint reports no other count."""
    prompt = tokens(answer, "prompt_tokens")
    return tokens(answer, "total_tokens") if prompt is None else prompt
