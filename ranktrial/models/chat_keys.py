"""The keys of a chat endpoint: which language model is queried, and how. Reads and writes no files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import Label, Rule, Seed
from ranktrial.models.endpoint_keys import CONCURRENCY, RETRIES, TIMEOUT, Money, Service, url_of, variable_of


@dataclass(frozen=True, kw_only=True)
class Price:
    """Price per million tokens."""

    input: Annotated[Money, "price of the tokens that are sent"]
    output: Annotated[Money, "price of the tokens in the answers"]


@dataclass(frozen=True, kw_only=True)
class ChatEndpoint(Service):
    """The endpoint at which a language model is queried, and its parameters."""

    model: Annotated[Label, "the model's name at the endpoint"]
    temperature: Annotated[float | None, "sampling temperature; default 0", Rule(minimum=0, maximum=2)] = None
    seed: Annotated[Seed | None, "seed sent with each request; default 0"] = None
    leave_out: Annotated[
        tuple[Literal["temperature", "seed"], ...] | None,
        "parameters that are not sent, for a model that refuses them",
        Rule(unique_items=True),
    ] = None
    price: Annotated[
        Price | None, "price per million tokens, in any currency; the cost of the answers is then reported"
    ] = None


def chat_settings(endpoint: ChatEndpoint) -> dict[str, Any]:
    """The parameters of the requests with all defaults; None for a parameter that is not sent."""
    left_out = endpoint.leave_out or ()
    return {
        "url": url_of(endpoint),
        "model": endpoint.model,
        "key": variable_of(endpoint),
        "temperature": None if "temperature" in left_out else endpoint.temperature or 0,
        "seed": None if "seed" in left_out else endpoint.seed or 0,
        "concurrency": endpoint.concurrency or CONCURRENCY,
        "timeout": endpoint.timeout or TIMEOUT,
        "retries": RETRIES if endpoint.retries is None else endpoint.retries,
        "price": endpoint.price,
    }
