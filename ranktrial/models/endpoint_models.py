"""A model behind an endpoint: it embeds texts and scores pairs, one batch per request, and no text is sent twice.

Its checkpoint contains no weights, only `endpoint.json` with the address; the API key comes from the environment. The
answer for each text or pair is stored separately, under the SHA-256 of what is sent, so neither the batches nor a
killed job affect what has to be requested again. Each answer is assigned its share of the tokens and seconds of its
batch.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.keys import JsonObject
from ranktrial.common.settings import read_settings
from ranktrial.common.timing import computed_elsewhere
from ranktrial.models import endpoint_protocols as protocols
from ranktrial.models.adapters import Role, TextPair
from ranktrial.models.endpoint import Answer, Endpoint
from ranktrial.models.endpoint_keys import ADDRESS, CONCURRENCY, RETRIES, TIMEOUT
from ranktrial.models.endpoint_protocols import Request, Values
from ranktrial.models.kept_answers import answers_beside, digest, total
from ranktrial.models.model_files import read_object
from ranktrial.models.truncation import first_dimensions

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
        self._ask(
            [(batch, self._request(protocols.embedding, list(batch.values()))) for batch in _batches(new, batch_size)]
        )
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
                (batch, self._request(protocols.scoring, query, list(batch.values())))
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
