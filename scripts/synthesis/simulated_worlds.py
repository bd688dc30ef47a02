"""Simulated experiments with known true effects, in the form that comparisons use; reads and writes nothing.

A world defines experiments: the numbers of tasks and queries, the variation of true effects, and what tasks share.
Differences per query are normal with standard deviation .25, or bounded with many zeros, like those of RR.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from scripts.statistics.dependence.observed_tasks import ObservedTask, observed_task, per_unit, with_seed_effects
from scripts.statistics.dependence.seed_effects import SeedsFrom, seed_effects_of
from scripts.statistics.dependence.seeds_part import SeedEffects
from scripts.statistics.method import Method

MEAN = 0.04  # the true effect over all collections
QUERY_SD, QUERIES = 0.25, 200
SEED_SD = 0.01  # between seeds of one system; the effect of a checkpoint's seed is the same on all tasks
UNEQUAL = (30, 1000)  # queries of a task, uniform on the logarithmic scale
ZEROS = 0.8  # the share of queries on which bounded differences are 0
SIZES = np.array([1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 4 / 5, 9 / 10])  # of the other ones

SMALL: list[tuple[int, int | tuple[int, int], str]] = [
    *((k, 30, "30") for k in (3, 5, 10, 20)),
    (5, (2, 100), "2 to 100"),
]

Generator = np.random.Generator
Differences = Callable[[Generator, float, int], np.ndarray]

METHOD = Method(permutations=1)


@dataclass(frozen=True, eq=False)
class Experiment:
    """The tasks of one experiment, what they share, and the true effects: the mean of its tasks (`of_these`), and
    that of a new collection (`new`)."""

    tasks: dict[str, ObservedTask]
    of_these: float
    new: float
    corpora: dict[str, str] = field(default_factory=dict)
    seed_effects: tuple[SeedEffects, ...] = ()


class World(NamedTuple):
    """The description of a world, and a function that simulates one experiment."""

    name: str
    draw: Callable[[Generator], Experiment]


def normal(generator: Generator, mean: float, n: int) -> np.ndarray:
    """Differences of n queries with a normal distribution."""
    return generator.normal(mean, QUERY_SD, n)


def bounded(generator: Generator, mean: float, n: int) -> np.ndarray:
    """Differences of n queries between -1 and 1, most of them 0, with expectation `mean`."""
    above = (1 + mean / ((1 - ZEROS) * SIZES.mean())) / 2
    signs = np.where(generator.random(n) < above, 1.0, -1.0)
    return np.where(generator.random(n) < ZEROS, 0.0, signs * generator.choice(SIZES, n))


def one_task(values: np.ndarray, units: Sequence[int] | None = None) -> ObservedTask:
    """A task with these differences, each query its own cluster unless `units` says otherwise."""
    return observed_task(values, 0 * values, range(len(values)) if units is None else units, METHOD)


def independent(
    generator: Generator, k: int, tau: float, queries: int | tuple[int, int], differences: Differences = normal
) -> Experiment:
    """k independent tasks, whose true effects have standard deviation `tau`."""
    effects = MEAN + tau * generator.standard_normal(k + 1)
    if isinstance(queries, tuple):
        low, high = map(math.log, queries)
        sizes = np.exp(generator.uniform(low, high, k)).round().astype(int).tolist()
    else:
        sizes = [queries] * k
    tasks = {f"t{i}": one_task(differences(generator, effects[i], sizes[i])) for i in range(k)}
    defined = {name: task for name, task in tasks.items() if task.effect.variance is not None}
    return Experiment(defined, float(effects[:k].mean()), float(effects[k]))


def seeds(generator: Generator, k: int, m: int, tau: float) -> Experiment:
    """k tasks ranked by m checkpoints of each system; with one each, a sibling has five."""

    def system(count: int) -> np.ndarray:
        seed_effect: np.ndarray = generator.normal(0, SEED_SD, count)
        return seed_effect

    effects = MEAN + tau * generator.standard_normal(k + 1)
    names = [f"t{i}" for i in range(k)]
    seed_effect = system(m)
    control = {name: np.zeros((QUERIES, 1)) + seed_effect for name in names}
    seed_effect = system(m)
    treatment = {
        name: seed_effect + normal(generator, effect, QUERIES)[:, None]
        for name, effect in zip(names, effects, strict=False)
    }
    seed_effect = system(5)
    sibling = {name: np.zeros((QUERIES, 1)) + seed_effect for name in names}
    sources = {role: SeedsFrom("sibling", sibling) if m == 1 else SeedsFrom(role) for role in ("control", "treatment")}
    tasks = {name: one_task(treatment[name].mean(axis=1) - control[name].mean(axis=1)) for name in names}
    seed_effects = tuple(seed_effects_of(sources, control, treatment, per_unit(tasks, METHOD)).values())
    held = with_seed_effects(tasks, seed_effects)
    return Experiment(held, float(effects[:k].mean()), float(effects[k]), seed_effects=seed_effects)


def shared_queries(generator: Generator, corpora: int, correlation: float) -> Experiment:
    """Two tasks on each corpus, with correlated differences on the same queries."""
    tasks, corpus_of = {}, {}
    for corpus in range(corpora):
        common = math.sqrt(correlation) * normal(generator, 0, QUERIES)
        for number in range(2):
            values = MEAN + common + math.sqrt(1 - correlation) * normal(generator, 0, QUERIES)
            tasks[f"{corpus}-{number}"] = one_task(values)
            corpus_of[f"{corpus}-{number}"] = f"corpus {corpus}"
    return Experiment(tasks, MEAN, MEAN, corpus_of)


def clusters(generator: Generator) -> Experiment:
    """One task of 100 clusters with 1 to 7 queries, which correlate .25 within a cluster: a design effect near 2."""
    sizes = np.tile([1, 2, 3, 4, 5, 6, 7], 15)[:100]
    units = np.repeat(np.arange(100), sizes)
    common = generator.normal(0, math.sqrt(0.25), 100)[units]
    values = MEAN + QUERY_SD * (common + generator.normal(0, math.sqrt(0.75), len(units)))
    return Experiment({"t": one_task(values, units.tolist())}, MEAN, MEAN)


def as_independent(experiment: Experiment) -> Experiment:
    """The same experiment with tasks treated as independent and seeds as given."""
    tasks = {name: replace(task, seeds=(), seeds_of_difference=()) for name, task in experiment.tasks.items()}
    return Experiment(tasks, experiment.of_these, experiment.new)


WORLDS = (
    *(
        World(f"{k} tasks of 30 to 1,000 queries, tau {tau:g}", partial(independent, k=k, tau=tau, queries=UNEQUAL))
        for k in (3, 5, 7, 10, 20)
        for tau in (0.0, 0.01, 0.02, 0.05)
    ),
    *(
        World(
            f"{k} tasks of {words} queries, bounded differences, tau {tau:g}",
            partial(independent, k=k, tau=tau, queries=queries, differences=bounded),
        )
        for k, queries, words in SMALL
        for tau in (0.0, 0.03)
    ),
    *(
        World(f"{k} tasks, {words} of each system, tau {tau:g}", partial(seeds, k=k, m=m, tau=tau))
        for m, words, sizes in (
            (1, "one seed (a sibling has five)", (3, 5, 10)),
            (3, "three seeds", (3, 5, 10)),
            (5, "five seeds", (10,)),
        )
        for k in sizes
        for tau in (0.0, 0.03)
    ),
    *(
        World(
            f"{c} corpora of two tasks whose queries correlate .8", partial(shared_queries, corpora=c, correlation=0.8)
        )
        for c in (2, 3, 4)
    ),
)
OF_ONE_TASK = (
    World("100 clusters of 1 to 7 queries, correlation .25", clusters),
    *(World(f"{n} queries", partial(independent, k=1, tau=0.0, queries=n)) for n in (3, 5, 10)),
)
