"""The stages of training behind a recipe: the chain of trainings that starts from a model's own weights.

Reads and writes nothing. Sources, pseudo-labels and few-shot training are identified by these chains, not by the names
of recipes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ranktrial.experiment.sections.recipe import BM25 as BM25
from ranktrial.experiment.sections.recipe import GENERATED, Recipe

ALL = "all"
HUMAN = "human"
PERMUTED = "permuted"
SCRATCH, PSEUDO_LABELS = "scratch", "pseudo-labels"


class Stage(NamedTuple):
    """One training: its dataset, labels, and number of queries."""

    dataset: str
    labels: str
    queries: int | str
    beside: tuple[str, ...] = ()  # further datasets of the same training

    @property
    def datasets(self) -> tuple[str, ...]:
        """All datasets of the training."""
        return (self.dataset, *self.beside)


Chain = tuple[Stage, ...]


def chain(recipes: Mapping[str, Recipe], recipe: str | None) -> Chain:
    """Return the trainings behind a recipe, in order; empty for a model without training."""
    if recipe is None or recipe not in recipes:
        return ()
    entry = recipes[recipe]
    first, *others = entry.datasets
    stage = Stage(first, entry.labels, entry.queries, tuple(others))
    return (*chain(recipes, entry.start_from), stage)


def called(stages: Chain, target: str | None = None, labels: Mapping[str, str] | None = None) -> str:
    """Return a chain as text, as a starting point on `target`: scratch, pseudo-labels, or its training datasets.

    `labels` maps datasets to labels; without them, the names in the configuration are used.
    """
    if not stages:
        return SCRATCH
    return ", then ".join(_stage(stage, target, labels or {}) for stage in stages)


def _stage(stage: Stage, target: str | None, labels: Mapping[str, str]) -> str:
    name = " + ".join(labels.get(dataset, dataset) for dataset in stage.datasets)
    if stage.labels == PERMUTED:
        name = f"permuted labels of {name}"
    elif stage.labels == GENERATED:
        name = f"generated queries of {name}"
    elif stage.labels != HUMAN:
        name = PSEUDO_LABELS if stage.datasets == (target,) else f"{PSEUDO_LABELS} of {name}"
    return name if stage.queries == ALL else f"{name} ({stage.queries} queries)"
