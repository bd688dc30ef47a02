"""Whose seeds the luck in a comparison's effects is known from: a system's own, those of another that it borrows, or
none.

Reads and writes nothing. A system with several seeds on some task shows its luck itself. One that was trained once
borrows that of a sibling, which the experiment's plan names (experiment/seed_sources.py); where control and treatment
rank with the same checkpoints, luck is that of their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scripts.experiment.seeds_of import BORROWED, DIFFERENCE, OWN, SeedsOf
from scripts.synthesis.dependence.seeds_part import Luck, SeedSource, seed_source, shares_of

Values = Mapping[str, np.ndarray]  # by task, each of shape (queries, seeds)


def lucks_of(
    sources: Mapping[str, SeedsOf],
    control: Values,
    treatment: Values,
    siblings: Mapping[str, Values],
    per_unit: Mapping[str, float],
    checkpoints: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Luck]:
    """The luck by role (control, treatment or difference) where it is known; `per_unit` by task, in the tasks' order.

    `sources` names the roles that are trained. `siblings` are the values of systems that others borrow from.
    `checkpoints` tells by role and task what was trained, of the roles whose tasks have checkpoints of their own.
    """
    tasks = list(per_unit)
    values = {"control": control, "treatment": treatment}
    if DIFFERENCE in sources:
        values[DIFFERENCE] = {task: treatment[task] - control[task] for task in tasks}
    lucks = {}
    for role, seeds in sources.items():
        source = _source(role, seeds, values[role], siblings, tasks)
        if source is not None:
            counts = [values[role][task].shape[1] for task in tasks]
            scale = np.array(list(per_unit.values()))
            lucks[role] = Luck(source, shares_of(counts), scale, _groups(role, tasks, checkpoints or {}))
    return lucks


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
