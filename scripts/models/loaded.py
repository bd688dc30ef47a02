"""A checkpoint loaded as a job asks for it: with its prompts, and to be trained or to rank.

One that ranks computes as fast as it can where it is on a processor.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from scripts.models.adapters import Adapter, Scorer
from scripts.models.prompts import refuse_prompts
from scripts.models.running import device, is_module


class Prompted(Protocol):
    """The settings of a script that loads a model: the prompts by role, those of the model where they name none."""

    @property
    def max_length(self) -> int: ...
    @property
    def prompts(self) -> dict[str, str] | None: ...


def load_prompted(kind: Adapter, folder: Path, settings: Prompted, to_train: bool = False) -> Any:
    """Load a model, with the prompts that the settings give in place of those it stores; "" is none.

    Raises UserError for a prompt of a kind that takes none, or for anything but a query and a document.
    """
    model = kind.load(folder, settings.max_length, to_train)
    refuse_prompts(kind, settings.prompts)
    if settings.prompts:
        kind.give_prompts(model, settings.prompts)
    if not to_train:
        rank_fast(model)
        if getattr(settings, "batch_tokens", None):
            model.batch_tokens = settings.batch_tokens
    return model


class Scoring(Prompted, Protocol):
    """The settings of a script that scores pairs."""

    @property
    def batch_size(self) -> int: ...
    @property
    def backend(self) -> str: ...
    @property
    def batch_tokens(self) -> int | None: ...


def load_scorer(kind: Adapter, folder: Path, settings: Scoring) -> Scorer:
    """Load a model that scores pairs, with the prompts that the settings give.

    Raises UserError for a prompt of a kind that takes none, or of texts that have none.
    """
    refuse_prompts(kind, settings.prompts)
    prompts = {"prompts": settings.prompts} if settings.prompts else {}
    how = (settings.max_length, settings.batch_size, settings.backend, settings.batch_tokens)
    return kind.load_scorer(folder, *how, **prompts)


def rank_fast(model: Any) -> None:
    """Let a loaded model, which is not trained any more, compute as fast as it can where it is on a processor."""
    if is_module(model) and device() == "cpu":
        from scripts.models.processor import speed_up

        speed_up(model)
