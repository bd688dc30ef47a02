"""The settings of one fine-tuning: the training keys of a recipe, and the required settings of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.models.kernels import Kernels
from ranktrial.models.losses import REGULARIZERS
from ranktrial.models.teaching import KEYS
from ranktrial.models.training_keys import Evaluation, Training


@dataclass(frozen=True, kw_only=True)
class DevEvaluation(Evaluation):
    """The settings for evaluating the model on dev, and its batch size."""

    batch_size: Annotated[int, "texts or pairs per batch, at most"]


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """The settings of fine_tune.py."""

    type: Annotated[str, "type of the model"]
    max_length: Annotated[int, "tokens that the model keeps of a text or of a pair"]
    seed: Annotated[int, "of fresh weights, of the batches' order and of dropout"]
    evaluate: Annotated[DevEvaluation | None, "how it is evaluated on dev"] = None
    datasets: Annotated[tuple[str, ...] | None, "the names of several that are learnt from; null: there is one"] = None
    draw: Annotated[Literal["once", "epoch"], "epoch: each epoch has rows of its own"] = "once"
    max_query_length: Annotated[int | None, "tokens kept of a query, before it is paired; null: no limit"] = None
    max_document_length: Annotated[int | None, "tokens kept of a document, before it is paired"] = None
    prompts: Annotated[dict[str, str] | None, "put before texts, by role; null: those that the model stores"] = None
    prompts_by_dataset: Annotated[
        tuple[dict[str, str], ...] | None, "the same for each of several datasets in their order, where they differ"
    ] = None
    kernels: Kernels = "fast"

    @property
    def of_loss(self) -> dict[str, float]:
        """Extra arguments of the loss other than its margin; empty if it keeps its defaults."""
        given = {name: getattr(self, name) for name in (*REGULARIZERS, *KEYS)}
        return {name: value for name, value in given.items() if value is not None}
