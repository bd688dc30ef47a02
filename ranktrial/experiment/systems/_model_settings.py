"""The settings of systems with a model: the form of the model, of its vectors and of their index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import INLINE
from ranktrial.experiment.index_records import Export, Nearest, Quantised
from ranktrial.experiment.records import System


@dataclass(frozen=True)
class ModelSettings:
    """Settings of ranking beyond those of the model and its recipe; all are optional."""

    export: Annotated[Export | None, INLINE] = None
    vectors: Literal["corpus"] | None = None  # re-rankers: use document vectors of the whole corpus
    embeddings: Quantised | None = None
    approximate: Nearest | None = None


def of_model(system: System) -> ModelSettings:
    """Return the settings of a system with a model; empty settings for one without."""
    return system.settings if isinstance(system.settings, ModelSettings) else ModelSettings()
