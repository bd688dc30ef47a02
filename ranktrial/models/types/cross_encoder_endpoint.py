"""Cross-encoders behind an endpoint, which scores pairs of a query and a document."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.models.endpoint_keys import Remote

if TYPE_CHECKING:
    from ranktrial.models.adapters import Scorer

NAME = "cross-encoder-endpoint"
SEARCHES = False
REMOTE = True
BACKENDS = ("torch",)
DESCRIPTION = "a cross-encoder behind an endpoint, which scores pairs; no max_length"
LOSSES: dict[str, str] = {}
Keys = Remote


def load_scorer(
    folder: Path, max_length: int, batch_size: int, backend: str, batch_tokens: int | None = None
) -> Scorer:
    """A Scorer of pairs for the model that a checkpoint names; the endpoint decides how much of a pair is kept."""
    from ranktrial.models.adapters import Scorer
    from ranktrial.models.endpoint_models import EndpointModel

    model = EndpointModel(folder)
    return Scorer(partial(model.score, batch_size=batch_size), model.facts)
