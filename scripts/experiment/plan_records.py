"""The plans of a next study as an experiment asks for them; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scripts.experiment.sections.study import Assumed


@dataclass(frozen=True)
class Plan:
    """What is asked of the designs of a next study; an effect or a half-width is the target."""

    power: float
    queries: tuple[int, ...]
    collections: tuple[int, ...]
    seeds: tuple[int, ...]
    alpha: float
    effect: float | None = None
    half_width: float | None = None
    assumed: Assumed | None = None


@dataclass(frozen=True)
class StudyPlans:
    """The plans of the next study, by name.

    A plan has the name of a comparison, whose variances it takes, or `assumed` ones. `configured` plans are made with
    the other results, and all others on demand.
    """

    configured: bool
    plans: Mapping[str, Plan]
