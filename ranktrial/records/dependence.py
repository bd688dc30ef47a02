"""The dependence of a comparison's effects, as plain numbers for jobs that fit the same effects again.

A Dependence is converted to a record and back to the same Dependence, to the last digit. Independent tasks with seeds
taken as given have no record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranktrial.statistics.dependence.seeds_part import SeedEffects, SeedSource
from ranktrial.statistics.dependence.structure import Dependence


@dataclass(frozen=True)
class SeedEffectsRecord:
    """The seed effects of one system (statistics/dependence/seeds_part.py)."""

    source: str
    seeds: int
    covariance: list[list[float]]
    residual: list[list[float]]
    shares: list[list[float]]
    per_unit: list[float]
    groups: list[float]


@dataclass(frozen=True)
class DependenceRecord:
    """The dependence of effects (statistics/dependence/structure.py)."""

    sampling: list[list[float]]
    degrees: list[float]
    collections: list[int]
    shrunk: bool
    seed_effects: tuple[SeedEffectsRecord, ...]


def as_record(dependence: Dependence | None) -> DependenceRecord | None:
    """The record; None if effects are independent and have only their variances."""
    if dependence is None or (dependence.independent and not dependence.seed_effects and not dependence.shrunk):
        return None
    return DependenceRecord(
        sampling=dependence.sampling.tolist(),
        degrees=list(dependence.degrees),
        collections=list(dependence.collections),
        shrunk=dependence.shrunk,
        seed_effects=tuple(map(_seed_effects, dependence.seed_effects)),
    )


def _seed_effects(found: SeedEffects) -> SeedEffectsRecord:
    return SeedEffectsRecord(
        source=found.source.name,
        seeds=found.source.seeds,
        covariance=found.source.covariance.tolist(),
        residual=found.source.residual.tolist(),
        shares=found.shares.tolist(),
        per_unit=found.per_unit.tolist(),
        groups=found.groups.tolist(),
    )


def from_record(kept: DependenceRecord | None) -> Dependence | None:
    """The dependence of the tasks with an effect, in their order; None if there is no record."""
    if kept is None:
        return None
    seed_effects = []
    for one in kept.seed_effects:
        source = SeedSource(one.source, one.seeds, np.array(one.covariance), np.array(one.residual))
        seed_effects.append(SeedEffects(source, *map(np.array, (one.shares, one.per_unit, one.groups))))
    sampling, collections = np.array(kept.sampling), tuple(kept.collections)
    return Dependence(sampling, tuple(kept.degrees), collections, tuple(seed_effects), kept.shrunk)
