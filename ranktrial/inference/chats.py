"""Calls of a language model behind an endpoint of OpenAI's protocol: requests, cached answers, and their costs.

Reads only cached answers; writes new ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from ranktrial.common.keys import JsonObject
from ranktrial.common.settings import given
from ranktrial.models.chat_settings import ChatSettings
from ranktrial.models.endpoint import Answer, Endpoint
from ranktrial.models.endpoint_keys import Price
from ranktrial.models.kept_answers import KeptAnswers, digest, total

Ask = Callable[[JsonObject], tuple[str, Answer]]  # a request -> its digest and the answer


def request_of(messages: list[dict[str, str]], settings: ChatSettings) -> JsonObject:
    """The request for a chat with these messages."""
    sent = {"temperature": settings.temperature, "seed": settings.seed}
    asked = {"model": settings.model, "messages": messages}
    return asked | {name: value for name, value in sent.items() if value is not None}


class Chat:
    """A model whose answers are cached in the folder `resume`; it is probed if none is cached yet."""

    def __init__(self, settings: ChatSettings, resume: Path) -> None:
        self.url = settings.url
        self.endpoint = Endpoint(settings.url, settings.key, os.environ, settings.timeout, settings.retries)
        self.kept = KeptAnswers(resume / "answers.jsonl")
        self.fresh: list[str] = []  # the digests of requests sent by any thread
        if not self.kept:
            self.endpoint.probe()

    def ask(self, request: JsonObject) -> tuple[str, Answer]:
        """The digest of a request and its answer, from the cache if it is there."""
        name = digest(self.url, request)
        answer = self.kept.get(name)
        if answer is None:
            answer = self.endpoint.ask(request)
            self.kept.add(name, answer)
            self.fresh.append(name)
        return name, answer

    def sent(self, answers: int) -> dict[str, int]:
        """The numbers of cached answers among this many, and of further attempts."""
        return {"cached_calls": answers - len(self.fresh), "retries_made": self.endpoint.retried}


def costs(answers: Sequence[Answer], price: Price | None) -> dict[str, int | float | None]:
    """The number of answers, their tokens and, if these and the price are known, their cost."""
    prompt = total([answer.prompt_tokens for answer in answers])
    completion = total([answer.completion_tokens for answer in answers])
    found: dict[str, int | float | None] = {
        "calls": len(answers),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
    }
    if price is not None and prompt is not None and completion is not None:
        found["cost"] = (prompt * price.input + completion * price.output) / 1e6
    return found


def reported_settings(settings: ChatSettings) -> JsonObject:
    """The settings that the timing records."""
    price = {"price": asdict(settings.price)} if settings.price else {}
    return {name: value for name, value in given(settings).items() if name != "key"} | price
