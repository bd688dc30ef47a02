"""A plan for the next study: its basis (components of variance, costs) and its curves; reads and writes nothing.

The components of variance are estimated from a finished comparison, or assumed by the configuration. All are on the
scale of the comparison's effect. From the tasks' effects: n V, the variance of one query (with its share of seed x
query, which is subtracted). From their summary: tau2. From the values of each system by task, query and seed: seed x
query is the residual of query + seed (seeds.py); over the seeds, the covariance matrix of the tasks' means has seed +
seed x collection + seed x query / n on its diagonal and seed off it.

Costs of a system are hours per training, collection and query (tables/costs.tsv). Hours are end to end, including those
of input systems. BM25's index, mining, loading and a warm-up are not in the table, and so not in the hours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.configuration.sections.comparison import Assumed, Plan
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.study_design import (
    AssumedBasis,
    ComponentsRecord,
    Curves,
    DesignRecord,
    FoundBasis,
    PlanRecord,
    PrecisionRecord,
    Present,
    PresentSummary,
    SeedVarianceRecord,
)
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.power import (
    SECONDS_AN_HOUR,
    Components,
    Design,
    Hours,
    Precision,
    Question,
    Row,
    SeedVariance,
    Target,
    cheapest,
    enough_collections,
    rows,
)
from ranktrial.statistics.seeds import seed_spread


class Task(NamedTuple):
    """A task's row of effects/{comparison}.tsv; `scale` converts a difference in the measure to the effect's unit: that
    of the median task where the difference is 0.
    """

    name: str
    queries: int
    variance: float
    scale: float


def tasks_of(effects: pd.DataFrame, in_units_of_measure: bool, ddof: int) -> list[Task]:
    """The tasks with an effect; their variances are converted to n - 1 from `ddof`."""
    defined = effects[effects["variance"].notna() & effects["effect"].notna()]
    differences = defined["treatment_mean"] - defined["control_mean"]
    scales = (defined["effect"] / differences.where(differences != 0)).astype(float).abs()
    usual = 1.0 if in_units_of_measure or scales.isna().all() else float(scales.median())
    scales = scales.where(scales.notna() & (not in_units_of_measure), usual)
    return [
        Task(str(row.task), int(row.n), float(row.variance) * (row.n - ddof) / (row.n - 1), float(scale))
        for row, scale in zip(defined.itertuples(), scales, strict=True)
    ]


def components_of(tasks: Sequence[Task], tau2: float, systems: Sequence[Mapping[str, pd.DataFrame]]) -> Components:
    """The components of these tasks; `systems` has, for each trained system, its values by task: query x seed.

    A system with one seed has no estimate of its seed variance and adds none, which the caller reports. Negative
    estimates are set to 0.
    """
    estimates = [(seed_variance_of(tasks, values), values) for values in systems]
    known = [(variance, values) for variance, values in estimates if variance]
    of_one_query = []
    for task in tasks:
        noise = sum(variance.seed_by_query / values[task.name].shape[1] for variance, values in known)
        of_one_query.append(task.queries * task.variance - noise)
    return Components(max(0.0, float(np.mean(of_one_query))), tau2, tuple(variance for variance, _ in known))


def seed_variance_of(tasks: Sequence[Task], values: Mapping[str, pd.DataFrame]) -> SeedVariance | None:
    """The seed variances of a system, from the tasks that it ranks with all of its seeds; None with one seed.

    With only one such task, all seed variance is assumed to be shared by all collections, which is conservative.
    """
    seeds = max((values[task.name].columns for task in tasks), key=len)
    complete = [task for task in tasks if values[task.name].columns.equals(seeds) and task.queries > 1]
    if len(seeds) < 2 or not complete:
        return None
    residuals = [task.scale**2 * (seed_spread(values[task.name].to_numpy()).residual or 0.0) for task in complete]
    means = np.array([task.scale * values[task.name].mean(axis=0).to_numpy() for task in complete])
    covariance = np.atleast_2d(np.cov(means))
    within = np.array(residuals) / [len(values[task.name]) for task in complete]
    total = max(0.0, float((np.diag(covariance) - within).mean()))
    k = len(complete)
    beside = (covariance.sum() - np.trace(covariance)) / (k * (k - 1)) if k > 1 else total
    seed = min(max(0.0, float(beside)), total)
    return SeedVariance(seed, total - seed, float(np.mean(residuals)), len(seeds) - 1)


def hours_of(costs: pd.DataFrame, system: str) -> Hours | None:
    """The hours of a system, each a mean over its tasks and seeds; None if it was not timed."""
    runs = costs[costs["system"] == system] if len(costs) else costs
    runs = runs[runs["queries_per_second"].notna()] if len(runs) else runs
    if not len(runs):
        return None
    trainings = runs.groupby("seed")["end_to_end_training_seconds"].first()  # they were trained once for all tasks
    trainings = trainings[trainings > 0]
    encoding = runs["end_to_end_encoding_seconds"].fillna(0.0).astype(float).mean()
    queries = runs["queries_per_second"].astype(float) * runs["seconds"].astype(float)
    query = (runs["end_to_end_seconds"].fillna(runs["seconds"]).astype(float) / queries).mean()
    training = float(trainings.mean()) / SECONDS_AN_HOUR if len(trainings) else None
    return Hours(training, float(encoding) / SECONDS_AN_HOUR, float(query) / SECONDS_AN_HOUR)


def devices(costs: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The devices on which these systems were timed."""
    return sorted(set(costs[costs["system"].isin(systems)]["device"].astype(str))) if len(costs) else []


Values = dict[str, pd.DataFrame]  # by task: query x seed


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

    `described` is its text in tables and figure, `present` the design of the comparison, `seeds` those of each trained
    system in it, `tau2_high` the upper limit of the interval of tau2. With a single collection, there is no `summary`.
    """

    components: Components
    hours: list[Hours]
    described: FoundBasis | AssumedBasis
    present: Design | None = None
    tau2_high: float | None = None
    summary: bool = True
    seeds: tuple[int, ...] = ()


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
    seeds = tuple(max(of_tasks[task.name].shape[1] for task in tasks) for of_tasks in values.values())
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
        measure=meta.measure,
        of_tasks=meta.of_tasks,
    )
    present = Design(_harmonic_mean(tasks), len(tasks), 1)
    high = meta.meta.tau2_ci[1] if meta.meta.tau2_ci else None
    return Basis(components, list(timed.values()), described, present, high, len(tasks) > 1, seeds)


def _harmonic_mean(tasks: Sequence[Task]) -> float:
    return len(tasks) / math.fsum(1 / task.queries for task in tasks)


POINTS = 25  # of queries and of collections, evenly spaced on logarithmic axes


def curves(
    components: Components,
    question: Question,
    target: Target,
    queries: Sequence[int],
    collections: Sequence[int],
    seeds: Sequence[int],
    shown_seeds: int | None = None,
) -> Curves:
    """The smallest detectable effect (or half-width, if that is the target) for one collection and over collections.

    `task` has one row per number of seeds, `summary` a matrix, collections x queries. Lists must be ascending;
    `shown_seeds` is one of the numbers of seeds that must be included.
    """
    counts = few(seeds, shown_seeds) if components.seed_variances else [1]
    of_queries = np.geomspace(queries[0], queries[-1], POINTS)
    of_collections = np.geomspace(collections[0], collections[-1], POINTS) if collections else np.array([])

    def shown(found: Precision) -> float:
        return float(found.detectable if target.half_width is None else found.half_width)

    return Curves(
        quantity="detectable" if target.half_width is None else "half_width",
        queries=of_queries.tolist(),
        collections=of_collections.tolist(),
        seeds=counts,
        task=[[shown(question.of_task(components, Design(n, 1, m))) for n in of_queries] for m in counts],
        summary=[
            [[shown(question.of_summary(components, Design(n, k, m))) for n in of_queries] for k in of_collections]
            for m in counts
        ],
    )


def few(values: Sequence[int], wanted: int | None = None) -> list[int]:
    """The first, a middle and the last of the values, including the wanted one."""
    middle = values[(len(values) - 1) // 2] if wanted is None else wanted
    return sorted({values[0], middle, values[-1]})


@dataclass(frozen=True, kw_only=True)
class Settings(Plan):
    """A plan, and the comparison whose variances it has."""

    plan: Annotated[str, "its name"]
    compared: Systems | None = None


def planned(settings: Settings, basis: Basis) -> PlanRecord:
    """The content of the table, the figure and the sentences."""
    target = Target(settings.effect, settings.half_width)
    question = Question(settings.alpha, settings.power, basis.described.interval)
    collections = settings.collections if basis.summary else []
    found = rows(basis.components, question, basis.hours, settings.queries, collections, settings.seeds)
    best = {test: cheapest([row for row in found if row.test == test], target) for test in ("task", "summary")}
    shown_seeds = next((row.design.seeds for row in (best["summary"], best["task"]) if row), None)
    most = Design(settings.queries[-1], settings.collections[-1], settings.seeds[-1])
    return PlanRecord(
        plan=settings.plan,
        basis=basis.described,
        alpha=settings.alpha,
        power=settings.power,
        target=target,
        components=_components(basis.components),
        present=_present(basis, question),
        designs=tuple(_design(row, target) for row in found),
        cheapest={test: _design(row, target) if row else None for test, row in best.items()},
        enough_collections=enough_collections(basis.components, question, most, target) if collections else None,
        curves=curves(basis.components, question, target, settings.queries, collections, settings.seeds, shown_seeds),
    )


def _components(components: Components) -> ComponentsRecord:
    of_seeds = tuple(
        SeedVarianceRecord(of.seed, of.seed_by_collection, of.seed_by_query, _finite(of.df))
        for of in components.seed_variances
    )
    return ComponentsRecord(components.query, components.collection, of_seeds)


def _present(basis: Basis, question: Question) -> Present | None:
    """The precision of the comparison's own design, and its share of variance that only more collections can reduce."""
    if basis.present is None:
        return None
    design, components = basis.present, _averaged(basis.components)
    over_collections = _present_summary(basis, components, design, question) if basis.summary else None
    alone = _precision(question.of_task(components, design))
    return Present(design.queries, design.collections, basis.seeds, alone, over_collections)


def _averaged(components: Components) -> Components:
    """The components with each system's mean over its own seeds, of which there is one in a design."""
    means = [
        SeedVariance(of.seed / m, of.seed_by_collection / m, of.seed_by_query / m, of.df)
        for of in components.seed_variances
        for m in [of.df + 1]
    ]
    return replace(components, seed_variances=tuple(means))


def _present_summary(basis: Basis, components: Components, design: Design, question: Question) -> PresentSummary:
    summary = question.of_summary(components, design)
    high = replace(components, collection=basis.tau2_high or 0.0)
    return PresentSummary(
        summary=_precision(summary),
        summary_with_high_tau2=_precision(question.of_summary(high, design)) if basis.tau2_high else None,
        share_between_collections=components.collection / design.collections / summary.variance,
    )


def _design(row: Row, target: Target) -> DesignRecord:
    meets = target.met_by(row.found) if target != Target() else None
    return DesignRecord(row.test, *row.design, _precision(row.found), row.hours, meets)


def _precision(found: Precision) -> PrecisionRecord:
    return PrecisionRecord(found.variance, _finite(found.df), found.detectable, found.half_width)


def _finite(df: float) -> float | None:
    """Degrees of freedom; None if they are infinite, since the variance is known."""
    return None if math.isinf(df) else df
