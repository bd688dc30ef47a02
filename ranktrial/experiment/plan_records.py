"""Records of an experiment's plans of the next study; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ranktrial.experiment.sections.study import Assumed


@dataclass(frozen=True)
class Plan:
    """The requirements on the designs of the next study; the target is an effect or a half-width."""

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

    A plan is named after a comparison, whose variances it uses, or has `assumed` variances. `configured` plans are made
    with the other results, all others on demand.
    """

    configured: bool
    plans: Mapping[str, Plan]
