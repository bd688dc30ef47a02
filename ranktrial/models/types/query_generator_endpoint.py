"""Language models behind an OpenAI-compatible endpoint that write queries for documents. They do not rank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.models.endpoint_keys import Remote

if TYPE_CHECKING:
    from ranktrial.models.endpoint_models import EndpointWriter

NAME = "query-generator-endpoint"
SEARCHES = False
REMOTE = True
WRITES = True
BACKENDS = ("torch",)
DESCRIPTION = "a query-generator behind an endpoint (/chat/completions of OpenAI's protocol)"
LOSSES: dict[str, str] = {}
Keys = Remote


def load_writer(folder: Path, max_length: int, batch_size: int) -> EndpointWriter:
    """A writer of queries for the model that a checkpoint names."""
    from ranktrial.models.endpoint_models import EndpointWriter

    return EndpointWriter(folder)
