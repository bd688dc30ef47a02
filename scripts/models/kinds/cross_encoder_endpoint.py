"""Cross-encoders behind an endpoint: a query and a document pass the model there, and their score comes back."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.models.endpoint_keys import Remote

if TYPE_CHECKING:
    from scripts.models.adapters import Scorer

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
    """What scores pairs by the model that a checkpoint names; the endpoint decides what it keeps of a pair."""
    from scripts.models.adapters import Scorer
    from scripts.models.endpoint_models import EndpointModel

    model = EndpointModel(folder)
    return Scorer(partial(model.score, batch_size=batch_size), model.facts)
