"""The seed effects in a comparison, estimated from a system's own seeds or those of another that it borrows.

Reads and writes nothing. A system with several seeds on some task has its own estimate. One that was trained once
borrows that of a sibling, which the experiment's plan names (experiment/seed_sources.py); where control and treatment
rank with the same checkpoints, the seed effect is that of their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scripts.experiment.seeds_of import BORROWED, DIFFERENCE, OWN, SeedsOf
from scripts.synthesis.dependence.seeds_part import SeedEffects, SeedSource, seed_source, shares_of

Values = Mapping[str, np.ndarray]  # by task, each of shape (queries, seeds)


def seed_effects_of(
    sources: Mapping[str, SeedsOf],
    control: Values,
    treatment: Values,
    siblings: Mapping[str, Values],
    per_unit: Mapping[str, float],
    checkpoints: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, SeedEffects]:
    """The seed effects by role (control, treatment or difference) where known; `per_unit` by task, in the tasks' order.

    `sources` names the roles that are trained. `siblings` are the values of systems that others borrow from.
    `checkpoints` names by role and task what was trained, of the roles whose tasks have checkpoints of their own.
    """
    tasks = list(per_unit)
    values = {"control": control, "treatment": treatment}
    if DIFFERENCE in sources:
        values[DIFFERENCE] = {task: treatment[task] - control[task] for task in tasks}
    seed_effects = {}
    for role, seeds in sources.items():
        source = _source(role, seeds, values[role], siblings, tasks)
        if source is not None:
            counts = [values[role][task].shape[1] for task in tasks]
            scale = np.array(list(per_unit.values()))
            seed_effects[role] = SeedEffects(source, shares_of(counts), scale, _groups(role, tasks, checkpoints or {}))
    return seed_effects


def _groups(role: str, tasks: Sequence[str], checkpoints: Mapping[str, Mapping[str, str]]) -> np.ndarray:
    """A number for each task, the same for those that the same checkpoints rank."""
    roles = ("control", "treatment") if role == DIFFERENCE else (role,)
    trained = [tuple(checkpoints.get(own, {}).get(task, "") for own in roles) for task in tasks]
    numbers = {names: number for number, names in enumerate(dict.fromkeys(trained))}
    return np.array([numbers[names] for names in trained])


def _source(
    role: str, seeds: SeedsOf, own: Values, siblings: Mapping[str, Values], tasks: Sequence[str]
) -> SeedSource | None:
    if seeds.status == OWN:
        return seed_source(seeds.system or role, own, tasks)
    if seeds.status == BORROWED and seeds.system is not None:
        return seed_source(seeds.system, siblings[seeds.system], tasks)
    return None
