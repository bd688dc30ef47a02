"""A model behind an endpoint: it embeds texts, scores pairs or writes queries, and nothing is sent twice.

Texts and pairs are sent one batch per request.

Its checkpoint contains no weights, only `endpoint.json` with the address; the API key comes from the environment. The
answer for each text or pair is stored separately, under the SHA-256 of what is sent, so neither the batches nor a
killed job affect what has to be requested again. Each answer is assigned its share of the tokens and seconds of its
batch.

Of the protocols for embedding texts and scoring pairs, `openai` is OpenAI's `/embeddings`, together with `/rerank` as
in Cohere, Jina and vLLM; `tei` is `/embed` and `/rerank` of Hugging Face's Text Embeddings Inference. Scores are logits
with `tei`, and whatever the endpoint returns with `openai`. A reader raises ValueError for an answer without exactly
one vector per text, or one score per document.

Of a language model that writes queries, one answer is stored per document and draw.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.keys import JsonObject
from ranktrial.common.settings import read_settings
from ranktrial.common.timing import computed_elsewhere
from ranktrial.models.adapters import Role, TextPair
from ranktrial.models.endpoint import Answer, Endpoint, tokens
from ranktrial.models.endpoint_keys import ADDRESS, CONCURRENCY, RETRIES, TIMEOUT
from ranktrial.models.kept_answers import answers_beside, digest, total
from ranktrial.models.model_files import read_object
from ranktrial.models.truncation import first_dimensions


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


Texts = dict[str, str]  # the digest under which an answer is stored -> its text


@dataclass(frozen=True, kw_only=True)
class Address:
    """The address of a model and how it is queried, as stored in the checkpoint."""

    url: Annotated[str, "the endpoint's address, such as https://host/v1"]
    model: Annotated[str, "the model's name at the endpoint"]
    protocol: Annotated[str, "openai or tei"] = "openai"
    key: Annotated[str | None, "the environment variable that holds the key; null: none is sent"] = None
    concurrency: Annotated[int, "requests that are sent side by side"] = CONCURRENCY
    timeout: Annotated[float, "seconds that an answer may take"] = TIMEOUT
    retries: Annotated[int, "further attempts after too many requests or an overload"] = RETRIES
    max_words: Annotated[int | None, "words kept of a text"] = None
    leave_out: Annotated[tuple[str, ...], "parameters of a model that writes that are not sent"] = ()
    price: Annotated[float | None, "of a million tokens"] = None


def write_address(checkpoint: Path, address: JsonObject) -> None:
    """Write a checkpoint that consists of an address."""
    read_settings(Address, address)
    write_json(checkpoint / ADDRESS, address, indent=2, sort_keys=True)


class EndpointModel:
    """A model that is queried through one endpoint; `facts` are recorded with timings and count all answers used."""

    tokenizer = None

    def __init__(self, checkpoint: Path) -> None:
        self.address = read_settings(Address, read_object(checkpoint / ADDRESS), str(checkpoint / ADDRESS))
        how = self.address.timeout, self.address.retries
        self.endpoint = Endpoint(self.address.url, self.address.key, dict(os.environ), *how)
        self.kept = answers_beside()
        self.prompts = {"query": "", "document": ""}
        self.truncate_dim: int | None = None
        self.facts: JsonObject = {"device": f"{self.address.model} at {self.endpoint.url.host}"}
        self._taken: set[str] = set()
        self._tokens: int | None = 0
        self._fresh = 0
        if not self.kept:
            self.endpoint.probe()

    def encode(self, texts: list[str], batch_size: int, role: Role) -> np.ndarray:
        """The texts' vectors, with the role's prompt: float32 of shape (texts, dimensions), of unit length."""
        prompted = [self._filled(self.prompts[role] + self._first_words(text)) for text in texts]
        names = [self._name(text=text) for text in prompted]
        new = self._new(dict(zip(names, prompted, strict=True)))
        self._ask([(batch, self._request(embedding, list(batch.values()))) for batch in _batches(new, batch_size)])
        rows = self._rows(names)
        if len(dimensions := {len(row) for row in rows}) > 1:
            problem = f"vectors of {min(dimensions)} and of {max(dimensions)} dimensions"
            raise UserError(f"{self.endpoint.url.shown}: {problem}; delete {self.kept.file} to ask anew")
        return first_dimensions(np.stack(rows), self.truncate_dim or len(rows[0]), unit=True)

    def score(self, pairs: list[TextPair], batch_size: int) -> np.ndarray:
        """The scores of pairs: float32 of shape (pairs,)."""
        cut = [(self._cut(query), self._cut(document)) for query, document in pairs]
        names = [self._name(query=query, text=document) for query, document in cut]
        by_query: dict[str, Texts] = {}
        for name, (query, document) in zip(names, cut, strict=True):
            by_query.setdefault(query, {})[name] = document
        self._ask(
            [
                (batch, self._request(scoring, query, list(batch.values())))
                for query, documents in by_query.items()
                for batch in _batches(self._new(documents), batch_size)
            ]
        )
        return np.concatenate(self._rows(names))

    def _cut(self, text: str) -> str:
        """The first words of a text that is sent without a prompt."""
        return self._filled(self._first_words(text))

    def _first_words(self, text: str) -> str:
        """The first words of a text, as many as the address states."""
        return " ".join(text.split()[: self.address.max_words]) if self.address.max_words else text

    def _filled(self, text: str) -> str:
        """The text, or a space if it is empty, since endpoints refuse empty texts."""
        return text if text.strip() else " "

    def _name(self, **sent: str) -> str:
        return digest(self.address.url, {"protocol": self.address.protocol, "model": self.address.model, **sent})

    def _request(self, kind: Callable[..., Request], *sent: Any) -> Request:
        return kind(self.address.protocol, self.address.model, *sent)

    def _new(self, texts: Texts) -> Texts:
        """The texts that have not been requested yet."""
        return {name: text for name, text in texts.items() if name not in self.kept}

    def _ask(self, batches: list[tuple[Texts, Request]]) -> None:
        """Send batches concurrently and store the answers."""

        def ask(batch: tuple[Texts, Request]) -> None:
            texts, request = batch
            values, seconds = self.endpoint.post(request.name, request.content, request.read)
            self.kept.add_all(dict(zip(texts, _shares(values, seconds), strict=True)))

        start = time.perf_counter()
        for _ in self.endpoint.side_by_side(ask, batches, self.address.concurrency):
            pass
        computed_elsewhere(0.0, time.perf_counter() - start)
        self._fresh += sum(len(texts) for texts, _ in batches)

    def _rows(self, names: list[str]) -> list[np.ndarray]:
        """The vectors or scores that are stored under these digests."""
        answers = {name: self.kept[name] for name in names}
        computed_elsewhere(sum(answer.seconds for answer in answers.values()), 0.0)
        self._count({name: answer for name, answer in answers.items() if name not in self._taken})
        return [np.frombuffer(base64.b64decode(answers[name].text), "<f4") for name in names]

    def _count(self, taken: dict[str, Answer]) -> None:
        """Add answers to the counts of `facts`."""
        self._taken |= taken.keys()
        self._tokens = total([self._tokens, *(answer.prompt_tokens for answer in taken.values())])
        price = self.address.price
        self.facts |= {
            "calls": len(self._taken),
            "prompt_tokens": self._tokens,
            **({} if self._tokens is None or price is None else {"cost": self._tokens * price / 1e6}),
            "cached_calls": len(self._taken) - self._fresh,
            "retries_made": self.endpoint.retried,
        }


def _batches(texts: Texts, size: int) -> list[Texts]:
    """Split texts into batches of at most `size`."""
    items = list(texts.items())
    return [dict(items[start : start + size]) for start in range(0, len(items), size)]


def _shares(values: Values, seconds: float) -> list[Answer]:
    """One answer per text of a batch, with its share of the batch's tokens and seconds."""
    count = len(values.rows)
    return [
        Answer(
            text=base64.b64encode(row.astype("<f4").tobytes()).decode(),
            prompt_tokens=None if values.tokens is None else (values.tokens + place) // count,
            completion_tokens=0,
            seconds=seconds / count,
        )
        for place, row in enumerate(values.rows)
    ]


SAMPLING: JsonObject = {"temperature": 1, "max_tokens": 64}


class EndpointWriter(EndpointModel):
    """A writer of queries behind one endpoint; its token count includes tokens sent and tokens written."""

    def write(self, prompt: str, documents: list[str], seed: int) -> list[str]:
        """One query per document; a different seed is a different request, also if it is not sent."""
        requests = [self._chat(prompt.replace("{document}", self._cut(document)), seed) for document in documents]
        names = [digest(self.address.url, {**request, "seed": seed}) for request in requests]
        named = dict(zip(names, requests, strict=True))
        new = {name: request for name, request in named.items() if name not in self.kept}

        def ask(name: str) -> None:
            self.kept.add(name, self.endpoint.ask(new[name]))

        for _ in self.endpoint.side_by_side(ask, list(new), self.address.concurrency):
            pass
        self._fresh += len(new)
        answers = {name: self.kept[name] for name in named}
        self._count({name: _with_all_tokens(answer) for name, answer in answers.items() if name not in self._taken})
        return [answers[name].text for name in names]

    def _chat(self, content: str, seed: int) -> JsonObject:
        messages = [{"role": "user", "content": content}]
        parameters = {"seed": seed, **SAMPLING}
        sent = {name: value for name, value in parameters.items() if name not in self.address.leave_out}
        return {"model": self.address.model, "messages": messages, **sent}


def _with_all_tokens(answer: Answer) -> Answer:
    return answer._replace(prompt_tokens=total([answer.prompt_tokens, answer.completion_tokens]))
