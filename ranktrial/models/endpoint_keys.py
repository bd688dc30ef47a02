"""The keys of an endpoint: where a served model is queried, and how. Reads and writes no files.

They are separate from the client because the configuration is checked with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import JsonObject, Label, Length, Rule, Seed, given
from ranktrial.common.urls import service

KEY = "OPENAI_API_KEY"
CONCURRENCY, TIMEOUT, RETRIES = 4, 120.0, 5
HOW_ASKED = ("key", "concurrency", "timeout", "retries", "price")  # keys that do not affect the answers
ADDRESS = "endpoint.json"  # replaces the weights in the checkpoint of a model behind an endpoint
Money = Annotated[float, Rule(minimum=0, maximum=1_000_000)]


@dataclass(frozen=True, kw_only=True)
class Service:
    """The address of a model, and how it is queried."""

    url: Annotated[str, "base URL, such as https://host/v1"]
    key: Annotated[
        str | None, f"environment variable that holds the API key; default {KEY}; none over http or with protocol tei"
    ] = None
    concurrency: Annotated[
        int | None, f"number of concurrent requests; default {CONCURRENCY}", Rule(minimum=1, maximum=64)
    ] = None
    timeout: Annotated[
        float | None, f"timeout for an answer in seconds; default {TIMEOUT:g}", Rule(minimum=1, maximum=3600)
    ] = None
    retries: Annotated[
        int | None,
        f"number of further attempts after rate limiting or overload; default {RETRIES}",
        Rule(minimum=0, maximum=20),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint(Service):
    """An endpoint that embeds texts or scores pairs."""

    protocol: Annotated[
        Literal["openai", "tei"],
        "openai: /embeddings, and /rerank as in Cohere, Jina and vLLM; tei: /embed and /rerank of Text Embeddings "
        "Inference",
    ] = "openai"
    max_words: Annotated[Length | None, "words kept per text; default all, and the endpoint truncates"] = None
    leave_out: Annotated[
        tuple[Literal["temperature", "max_tokens", "seed"], ...] | None,
        "query-generator-endpoint: parameters that are not sent, for a model that refuses them",
        Rule(unique_items=True),
    ] = None
    price: Annotated[Money | None, "price per million tokens, in any currency"] = None


@dataclass(frozen=True, kw_only=True)
class Remote:
    """The additional key of a type whose models are served by an endpoint."""

    endpoint: Annotated[
        ModelEndpoint | None, "where the model is served (docs/models.md); `weights` is its name there"
    ] = None


def is_served(model: Any) -> bool:
    """Whether a model of a configuration is behind an endpoint."""
    return getattr(model, "endpoint", None) is not None


def asked_of(model: Any) -> JsonObject:
    """The keys that determine the answers of a model behind an endpoint (it has no max_length); else empty."""
    if not is_served(model):
        return {}
    return {**given(model.endpoint, *HOW_ASKED), "url": url_of(model.endpoint), "max_length": None}


def url_of(endpoint: Service) -> str:
    """The base address of requests."""
    return service(endpoint.url).written.rstrip("/")


def variable_of(endpoint: Service) -> str | None:
    """The environment variable that holds the API key; None if no key is sent."""
    of_openai = getattr(endpoint, "protocol", "openai") == "openai" and service(endpoint.url).scheme == "https"
    return endpoint.key or (KEY if of_openai else None)


def address_of(model: Any) -> JsonObject:
    """The address and request parameters of a model behind an endpoint, as passed to a job."""
    endpoint: ModelEndpoint = model.endpoint
    return {**given(endpoint), "url": url_of(endpoint), "key": variable_of(endpoint), "model": model.weights}


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
        Price | None,
        "price per million tokens, in any currency; the cost of the answers is then reported",
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
