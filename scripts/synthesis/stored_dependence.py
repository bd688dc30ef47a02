"""How the effects of a comparison depend on one another, as meta/{comparison}.json keeps it for later jobs.

Reads and writes nothing: a Dependence becomes a record of plain numbers, and again the same Dependence to the last
digit. Tasks with nothing in common, given seeds and variances of their own have no record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scripts.statistics.dependence.seeds_part import SeedEffects, SeedSource
from scripts.statistics.dependence.structure import Dependence

KEY = "dependence"


def as_record(dependence: Dependence | None) -> dict[str, Any] | None:
    """What is kept; None where all that effects have is a variance each."""
    if dependence is None or (dependence.independent and not dependence.seed_effects and not dependence.shrunk):
        return None
    return {
        "sampling": dependence.sampling.tolist(),
        "degrees": list(dependence.degrees),
        "collections": list(dependence.collections),
        "shrunk": dependence.shrunk,
        "seed_effects": [
            {
                "source": seed_effect.source.name,
                "seeds": seed_effect.source.seeds,
                "covariance": seed_effect.source.covariance.tolist(),
                "residual": seed_effect.source.residual.tolist(),
                "shares": seed_effect.shares.tolist(),
                "per_unit": seed_effect.per_unit.tolist(),
                "groups": seed_effect.groups.tolist(),
            }
            for seed_effect in dependence.seed_effects
        ],
    }


def dependence_in(meta: Mapping[str, Any]) -> Dependence | None:
    """The dependence of the tasks with an effect, in their order, from a meta record; None where none is kept."""
    kept = meta.get(KEY)
    if kept is None:
        return None
    seed_effects = []
    for one in kept["seed_effects"]:
        source = SeedSource(one["source"], one["seeds"], np.array(one["covariance"]), np.array(one["residual"]))
        seed_effects.append(SeedEffects(source, *(np.array(one[name]) for name in ("shares", "per_unit", "groups"))))
    sampling, collections = np.array(kept["sampling"]), tuple(kept["collections"])
    return Dependence(sampling, tuple(kept["degrees"]), collections, tuple(seed_effects), kept["shrunk"])
