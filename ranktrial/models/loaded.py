"""Loading a checkpoint for a job: with the job's prompts, for training or for ranking.

For ranking on a CPU, it is set up to compute as fast as possible.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from ranktrial.models.adapters import Adapter, Scorer
from ranktrial.models.prompts import refuse_prompts
from ranktrial.models.running import device, is_module


class Prompted(Protocol):
    """The settings of a script that loads a model; `prompts` by role replace those of the model if given."""

    @property
    def max_length(self) -> int: ...
    @property
    def prompts(self) -> dict[str, str] | None: ...


def load_prompted(model_type: Adapter, folder: Path, settings: Prompted, to_train: bool = False) -> Any:
    """Load a model with the prompts of the settings in place of those that it stores; "" means no prompt.

    Raises UserError if the model type takes no prompts, or for a role other than query and document.
    """
    model = model_type.load(folder, settings.max_length, to_train)
    refuse_prompts(model_type, settings.prompts)
    if settings.prompts:
        model_type.give_prompts(model, settings.prompts)
    if not to_train:
        rank_fast(model)
        size_batches(model_type, model, getattr(settings, "batch_tokens", None))
    return model


class Scoring(Prompted, Protocol):
    """The settings of a script that scores pairs."""

    @property
    def batch_size(self) -> int: ...
    @property
    def backend(self) -> str: ...
    @property
    def batch_tokens(self) -> int | None: ...


def load_scorer(model_type: Adapter, folder: Path, settings: Scoring) -> Scorer:
    """Load a model that scores pairs, with the prompts of the settings.

    Raises UserError if the model type takes no prompts, or for a role that has none.
    """
    refuse_prompts(model_type, settings.prompts)
    prompts = {"prompts": settings.prompts} if settings.prompts else {}
    how = (settings.max_length, settings.batch_size, settings.backend, settings.batch_tokens)
    return model_type.load_scorer(folder, *how, **prompts)


def size_batches(model_type: Adapter, model: Any, batch_tokens: int | None) -> None:
    """Give a model batches of so many tokens; None: as many as fill a GPU, and batches of texts on a processor."""
    if batch_tokens:
        model.batch_tokens = batch_tokens
    elif is_module(model) and getattr(model_type, "BY_TOKENS", False):
        from ranktrial.models.gpu import fill

        fill(model)


def rank_fast(model: Any) -> None:
    """Speed up a loaded model that is not trained any further, if it runs on the CPU."""
    if is_module(model) and device() == "cpu":
        from ranktrial.models.processor import speed_up

        speed_up(model)
