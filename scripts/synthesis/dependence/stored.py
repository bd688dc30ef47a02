"""How the effects of a comparison depend on one another, as meta/{comparison}.json keeps it for later jobs.

Reads and writes nothing: a Dependence becomes a record of plain numbers, and again the same Dependence to the last
digit. Tasks with nothing in common, given seeds and variances of their own have no record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scripts.synthesis.dependence.seeds_part import Luck, SeedSource
from scripts.synthesis.dependence.structure import Dependence

KEY = "dependence"


def as_record(dependence: Dependence | None) -> dict[str, Any] | None:
    """What is kept; None where all that effects have is a variance each."""
    if dependence is None or (dependence.independent and not dependence.lucks and not dependence.shrunk):
        return None
    return {
        "sampling": dependence.sampling.tolist(),
        "degrees": list(dependence.degrees),
        "collections": list(dependence.collections),
        "shrunk": dependence.shrunk,
        "lucks": [
            {
                "source": luck.source.name,
                "seeds": luck.source.seeds,
                "covariance": luck.source.covariance.tolist(),
                "residual": luck.source.residual.tolist(),
                "shares": luck.shares.tolist(),
                "per_unit": luck.per_unit.tolist(),
                "groups": luck.groups.tolist(),
            }
            for luck in dependence.lucks
        ],
    }


def dependence_in(meta: Mapping[str, Any]) -> Dependence | None:
    """The dependence of the tasks with an effect, in their order, from a meta record; None where none is kept."""
    kept = meta.get(KEY)
    if kept is None:
        return None
    lucks = []
    for luck in kept["lucks"]:
        source = SeedSource(luck["source"], luck["seeds"], np.array(luck["covariance"]), np.array(luck["residual"]))
        lucks.append(Luck(source, *(np.array(luck[name]) for name in ("shares", "per_unit", "groups"))))
    sampling, collections = np.array(kept["sampling"]), tuple(kept["collections"])
    return Dependence(sampling, tuple(kept["degrees"]), collections, tuple(lucks), kept["shrunk"])
