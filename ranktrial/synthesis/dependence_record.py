"""The dependence part of meta/{comparison}.json: seeds, clusters of queries, covariance of the tasks' effects.

Reads and writes nothing. `seeds` has one record per role (control, treatment, or difference if both rank with the same
checkpoints): its source and status, the number of seeds, the degrees of freedom, the part of the summary's variance,
and the standard deviation between seeds (of one checkpoint's mean over the tasks) with its interval. `dependence` is
the whole dependence in numbers, for the jobs that fit the same effects again (records/dependence.py).
"""

from __future__ import annotations

import math
from typing import TypedDict

import numpy as np

from ranktrial.records.comparison import Covariance, DependenceRecord, SeedsRecord, SeedsSpread, as_record
from ranktrial.statistics.comparison import Comparison
from ranktrial.statistics.dependence import is_diagonal
from ranktrial.statistics.method import RANDOM
from ranktrial.statistics.seeds import SeedEffects, sd_interval
from ranktrial.synthesis.comparing import Settings


class DependenceFields(TypedDict, total=False):
    """The fields of a MetaRecord about dependence."""

    seeds: dict[str, SeedsRecord] | str
    covariance: Covariance
    collections: dict[str, int]
    dependence: DependenceRecord | None
    clusters: dict[str, int]
    clusters_as_independent: list[str]


def dependence_record(found: Comparison, settings: Settings) -> DependenceFields:
    """The fields that exist for this comparison."""
    record: DependenceFields = {"seeds": _seeds(found, settings)} if settings.seed_sources else {}
    tasks = list(found.synthesis.weights)
    dependence = found.dependence
    if dependence and not is_diagonal(dependence.sampling):
        record["covariance"] = Covariance(tasks, dependence.sampling.tolist())
    if dependence and len(set(dependence.collections)) < len(tasks):
        record["collections"] = dict(zip(tasks, dependence.collections, strict=True))
    observed = {task: result.observed for task, result in found.tasks.items()}
    record["dependence"] = as_record(dependence)
    record["clusters"] = {task: one.clusters for task, one in observed.items() if one.clusters}
    record["clusters_as_independent"] = [task for task, one in observed.items() if one.as_independent]
    return record


def _seeds(found: Comparison, settings: Settings) -> dict[str, SeedsRecord] | str:
    if settings.seeds != RANDOM:
        return settings.seeds
    weights = np.array(list(found.synthesis.weights.values()))
    of_tasks = found.dependence.seed_effects if found.dependence else ()
    seed_effects = dict(zip(found.seed_effects, of_tasks, strict=False))
    return {
        role: SeedsRecord(seeds.status, seeds.system, _spread(seed_effects.get(role), weights, settings.alpha))
        for role, seeds in settings.seed_sources.items()
    }


def _spread(seed_effect: SeedEffects | None, weights: np.ndarray, alpha: float) -> SeedsSpread | None:
    if seed_effect is None or not len(weights):
        return None
    spread = seed_effect.spread(weights)
    sd, df = math.sqrt(spread.variance), spread.df
    variance = sum(seed_effect.variances(weights))
    return SeedsSpread(seed_effect.source.seeds, df, variance, sd, sd_interval(sd, df, alpha))
