"""The seed effects in a comparison, estimated from a system's own seeds or borrowed from another system.

Reads and writes nothing. A system with several seeds on some task has its own estimate. A system that was trained once
borrows that of another system. If control and treatment rank with the same checkpoints, the seed effect is that of
their difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ranktrial.statistics.dependence.seeds_part import SeedEffects, seed_source, shares_of

CONTROL, TREATMENT = "control", "treatment"
DIFFERENCE = "difference"  # role of control and treatment that rank with the same checkpoints

Values = Mapping[str, np.ndarray]  # by task, each of shape (queries, seeds)


@dataclass(frozen=True)
class SeedsFrom:
    """The source of the seed variance of a role: the `values` of another system, or its own (None).

    `checkpoints` names the training for each task, if tasks have separate trainings: seed effects of different
    trainings are independent.
    """

    name: str
    values: Values | None = None
    checkpoints: Mapping[str, Hashable] = field(default_factory=dict)


def own_seeds(control: Values, treatment: Values) -> dict[str, SeedsFrom]:
    """The roles with several seeds on some task, each with its own."""
    values = {CONTROL: control, TREATMENT: treatment}
    return {role: SeedsFrom(role) for role, own in values.items() if any(x.shape[1] > 1 for x in own.values())}


def seed_effects_of(
    sources: Mapping[str, SeedsFrom], control: Values, treatment: Values, per_unit: Mapping[str, float]
) -> dict[str, SeedEffects]:
    """The known seed effects by role (control, treatment or difference); `per_unit` by task, in the tasks' order.

    `sources` names the roles that are trained.
    """
    tasks = list(per_unit)
    values = {CONTROL: control, TREATMENT: treatment}
    if DIFFERENCE in sources:
        values[DIFFERENCE] = {task: treatment[task] - control[task] for task in tasks}
    scale = np.array(list(per_unit.values()))
    seed_effects = {}
    for role, seeds in sources.items():
        own = values[role]
        source = seed_source(seeds.name, own if seeds.values is None else seeds.values, tasks)
        if source is not None:
            shares = shares_of([own[task].shape[1] for task in tasks])
            seed_effects[role] = SeedEffects(source, shares, scale, _groups(seeds, tasks))
    return seed_effects


def _groups(seeds: SeedsFrom, tasks: Sequence[str]) -> np.ndarray:
    """A number for each task, the same for tasks ranked by the same checkpoints."""
    trained = [seeds.checkpoints.get(task) for task in tasks]
    numbers = {names: number for number, names in enumerate(dict.fromkeys(trained))}
    return np.array([numbers[names] for names in trained])
