"""Settings of jobs that ask a language model behind an endpoint of OpenAI's protocol; nothing is read or written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.models.endpoint_keys import CONCURRENCY, RETRIES, TIMEOUT, Price


@dataclass(frozen=True, kw_only=True)
class ChatSettings:
    """The model and how it is called."""

    url: Annotated[str, "the endpoint's address, such as https://host/v1"]
    model: Annotated[str, "the model's name at the endpoint"]
    key: Annotated[str | None, "the environment variable that holds the key; null: none is sent"] = None
    temperature: Annotated[float | None, "sent with each request; null: it is not"] = None
    seed: Annotated[int | None, "sent with each request; null: it is not"] = None
    concurrency: Annotated[int, "queries that are asked about side by side"] = CONCURRENCY
    timeout: Annotated[float, "seconds that an answer may take"] = TIMEOUT
    retries: Annotated[int, "further attempts after too many requests, an overload or a lost connection"] = RETRIES
    price: Annotated[Price | None, "of tokens; null: unknown"] = None


@dataclass(frozen=True, kw_only=True)
class WindowSettings(ChatSettings):
    """The windows over a list of documents that the model orders."""

    window: Annotated[int, "documents that are ordered at a time"]
    step: Annotated[int, "places that the window moves, from the back to the front"]
    passes: Annotated[int, "how often the whole list is gone through"]
    max_words: Annotated[int, "words kept of a document"]
