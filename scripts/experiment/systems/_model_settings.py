"""The settings of systems with a model: in which form the model, its vectors and their index rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from scripts.common.keys import INLINE
from scripts.experiment.index_records import Export, Nearest, Quantised
from scripts.experiment.records import System


@dataclass(frozen=True)
class ModelSettings:
    """What a model ranks by, beside what it and its recipe say; all of it is optional."""

    export: Annotated[Export | None, INLINE] = None
    vectors: Literal["corpus"] | None = None  # a re-ranker's: the documents' are those of the whole corpus
    embeddings: Quantised | None = None
    approximate: Nearest | None = None


def of_model(system: System) -> ModelSettings:
    """The settings of a system with a model; those of one without ask for nothing."""
    return system.settings if isinstance(system.settings, ModelSettings) else ModelSettings()
