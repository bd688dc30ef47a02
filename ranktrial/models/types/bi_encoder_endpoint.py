"""Bi-encoders behind an endpoint, which embeds the texts; the vectors are compared by cosine here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.common.keys import JsonObject
from ranktrial.models.encoders import give_prompts, prompts  # noqa: F401
from ranktrial.models.endpoint_keys import Remote

if TYPE_CHECKING:
    import numpy as np

    from ranktrial.models.adapters import Role
    from ranktrial.models.endpoint_models import EndpointModel

NAME = "bi-encoder-endpoint"
SEARCHES = True
REMOTE = True
BACKENDS = ("torch",)
DESCRIPTION = "a bi-encoder behind an endpoint, which embeds texts; no max_length"
LOSSES: dict[str, str] = {}
Keys = Remote


def load(folder: Path, max_length: int, to_train: bool = False) -> EndpointModel:
    """The model that a checkpoint names; the endpoint decides how much of a text is kept."""
    from ranktrial.models.endpoint_models import EndpointModel

    return EndpointModel(folder)


def facts(model: EndpointModel) -> JsonObject:
    """What is recorded with timings about the answers used so far."""
    return model.facts


def truncate(model: EndpointModel, dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
    """Truncate a model's vectors to their first dimensions; return a function that truncates stored full vectors."""
    from ranktrial.models.truncation import first_dimensions

    model.truncate_dim = dimensions
    return partial(first_dimensions, dimensions=dimensions, unit=True)


def encode(model: EndpointModel, texts: list[str], batch_size: int, role: Role) -> np.ndarray:
    """The texts' vectors, of unit length."""
    return model.encode(texts, batch_size, role)
