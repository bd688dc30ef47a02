"""The basis of a plan: the variances of a finished comparison, or those that the configuration assumes.

Reads and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.study_design import AssumedBasis, FoundBasis
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.power.designs import Components, Design, Hours, SeedVariance
from ranktrial.study_design.components import Task, components_of, seed_variance_of, tasks_of
from ranktrial.study_design.costs import devices, hours_of

Values = dict[str, pd.DataFrame]  # by task: query x seed


@dataclass(frozen=True)
class Assumed:
    """Standard deviations and hours assumed in the configuration."""

    effect: Annotated[str, "a name to print"]
    query_sd: float
    collection_sd: float
    trained: int
    seed_sd: float
    seed_by_collection_sd: float
    seed_by_query_sd: float
    training_hours: float | None = None
    collection_hours: float | None = None
    query_hours: float | None = None


@dataclass(frozen=True)
class Systems:
    """The systems of a comparison, by their names in paths."""

    control: str
    treatment: str
    trained: Annotated[list[str], "those whose seeds vary"]
    given: Annotated[list[str], "those whose runs come from elsewhere"]
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )


class Basis(NamedTuple):
    """The basis of a plan.

    `described` is its text in tables and figure, `present` the design of the comparison, `tau2_high` the upper limit of
    the interval of tau2. With a single collection, there is no `summary`.
    """

    components: Components
    hours: list[Hours]
    described: FoundBasis | AssumedBasis
    present: Design | None = None
    tau2_high: float | None = None
    summary: bool = True


def trained_values(systems: Systems, control: Values, treatment: Values) -> dict[str, Values]:
    """The values of each trained system by the comparison's tasks.

    A system that is compared with itself, on reworded queries, has the same seeds on both sides: its values are the
    differences per seed.
    """
    treatment = {task: treatment[systems.treatment_on.get(task, task)] for task in control}
    if systems.control == systems.treatment:
        differences = {task: (treatment[task] - control[task]).dropna() for task in control}
        return {systems.control: differences} if systems.trained else {}
    by_system = {systems.control: control, systems.treatment: treatment}
    return {name: values for name, values in by_system.items() if name in systems.trained}


def assumed_basis(assumed: Assumed) -> Basis:
    """The basis of assumed variances."""
    sds = (assumed.seed_sd, assumed.seed_by_collection_sd, assumed.seed_by_query_sd)
    seed, by_collection, by_query = (sd**2 for sd in sds)
    of_seeds = SeedVariance(seed, by_collection, by_query, math.inf)
    costs = (assumed.training_hours, assumed.collection_hours, assumed.query_hours)
    training = costs[0] or 0.0 if assumed.trained else None
    hours = [Hours(training, costs[1] or 0.0, costs[2] or 0.0)] * max(1, assumed.trained)
    described = AssumedBasis(assumed.effect, "equal-weights")
    components = Components(assumed.query_sd**2, assumed.collection_sd**2, (of_seeds,) * assumed.trained)
    return Basis(components, hours if any(cost is not None for cost in costs) else [], described)


def found_basis(systems: Systems, meta: MetaRecord, effects: pd.DataFrame, values: dict[str, Values],
                costs: pd.DataFrame) -> Basis:  # fmt: skip
    """The basis of a finished comparison; `values` by trained system. Raises UserError if no task has an effect."""
    effect = effect_named(meta.effect_type)
    tasks = tasks_of(effects, effect.IN_UNITS_OF_MEASURE, meta.ddof)
    if not tasks or meta.meta is None:
        problem = "no task has an effect, so its variance is unknown; state it (plan_study.assumed)"
        raise UserError(f"{systems.treatment} against {systems.control}: {problem}")
    components = components_of(tasks, meta.meta.tau2 or 0.0, list(values.values()))
    unknown = [name for name, of_tasks in values.items() if seed_variance_of(tasks, of_tasks) is None]
    seeds = max((of_tasks[task.name].shape[1] for of_tasks in values.values() for task in tasks), default=1)
    names = [systems.control, systems.treatment]
    timed = {name: hours for name in names if (hours := hours_of(costs, name))}
    if systems.control == systems.treatment:  # it is trained once and ranks each collection's queries in both wordings
        timed = {name: Hours(hours.training, 2 * hours.collection, 2 * hours.query) for name, hours in timed.items()}
    described = FoundBasis(
        control=meta.control,
        treatment=meta.treatment,
        interval=meta.meta.interval,
        axis=effect.AXIS.format(measure=meta.measure),
        unknown_seed_variance=unknown,
        given=systems.given,
        untimed=[name for name in dict.fromkeys(names) if name not in timed],
        devices=devices(costs, list(timed)),
    )
    present = Design(_harmonic_mean(tasks), len(tasks), seeds)
    high = meta.meta.tau2_ci[1] if meta.meta.tau2_ci else None
    return Basis(components, list(timed.values()), described, present, high, len(tasks) > 1)


def _harmonic_mean(tasks: Sequence[Task]) -> float:
    return len(tasks) / math.fsum(1 / task.queries for task in tasks)
