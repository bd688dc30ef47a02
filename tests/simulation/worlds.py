"""Simulated experiments with known true effects, in the form that comparisons use; reads and writes nothing.

A world defines experiments: the numbers of tasks and queries, the variation of true effects, and what tasks share.
Differences per query are normal with standard deviation .25, or bounded with many zeros, like those of RR.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import ObservedTask, observed_task, per_unit, with_seed_effects
from ranktrial.statistics.seeds import SeedEffects, SeedsFrom, seed_effects_of

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
    """The tasks of one experiment, what they share, and the true effects: the mean of its tasks (`of_these`), that of
    a new collection (`new`), and the probability that the treatment wins a query."""

    tasks: dict[str, ObservedTask]
    of_these: float
    new: float
    corpora: dict[str, str] = field(default_factory=dict)
    seed_effects: tuple[SeedEffects, ...] = ()
    superiority: float = math.nan


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


def one_task(values: np.ndarray, units: Sequence[int] | None = None, automatic: bool = False) -> ObservedTask:
    """A task with these differences, each query its own cluster unless `units` says otherwise."""
    own = range(len(values)) if units is None else units
    return observed_task(values, 0 * values, own, METHOD, automatic=automatic)


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


def in_clusters(generator: Generator, sizes: Sequence[int], correlation: float) -> np.ndarray:
    """Normal differences of queries in clusters of these sizes, which correlate within a cluster."""
    common = generator.normal(0, math.sqrt(correlation), len(sizes)).repeat(sizes)
    values: np.ndarray = MEAN + QUERY_SD * (common + generator.normal(0, math.sqrt(1 - correlation), sum(sizes)))
    return values


def clusters(generator: Generator, sizes: Sequence[int], correlation: float, automatic: bool = True) -> Experiment:
    """One task of clusters of queries; `alone` has the same differences of queries that are taken as independent."""
    values, units = in_clusters(generator, sizes, correlation), np.arange(len(sizes)).repeat(sizes).tolist()
    tasks = {"clusters": one_task(values, units, automatic), "alone": one_task(values)}
    return Experiment(tasks, MEAN, MEAN, superiority=float(scipy.special.ndtr(MEAN / QUERY_SD)))


def of_unlike_tasks(generator: Generator, groups: Sequence[tuple[int, int, float]], tau: float) -> Experiment:
    """Groups of tasks: their number, the queries of each, and the standard deviation of a query's difference."""
    tasks = [(n, sd) for count, n, sd in groups for _ in range(count)]
    effects = MEAN + tau * generator.standard_normal(len(tasks))
    drawn = (generator.normal(mean, sd, n) for mean, (n, sd) in zip(effects, tasks, strict=True))
    named = {f"t{i}": one_task(values) for i, values in enumerate(drawn)}
    return Experiment(named, float(effects.mean()), MEAN)


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
SIZES_OF_CLUSTERS = {
    "4 clusters of 25 queries": [25] * 4,
    "6 clusters of 20 queries": [20] * 6,
    "10 clusters of 1 to 28 queries": [1, 2, 4, 6, 8, 10, 14, 18, 22, 28],
    "18 clusters of 1 to 40 queries": [1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 14, 20, 30, 40],
    "one cluster of 80 queries and 20 of one": [80, *[1] * 20],
    "20 clusters of 5 queries": [5] * 20,
}
CLUSTERED = tuple(
    World(f"{words}, correlation {correlation:g}", partial(clusters, sizes=sizes, correlation=correlation))
    for words, sizes in SIZES_OF_CLUSTERS.items()
    for correlation in (0.0, 0.5, 0.95)
)
UNLIKE_TASKS = tuple(
    World(f"{words}, tau {tau:g}", partial(of_unlike_tasks, groups=groups, tau=tau))
    for words, groups, tau in (
        ("5 tasks of 30 queries, sd 1, and 5 of 1,000, sd .2", [(5, 30, 1.0), (5, 1000, 0.2)], 0.0),
        ("10 tasks of 5 queries, sd .25", [(10, 5, 0.25)], 0.0),
        ("one task of 2 queries and 4 of 300, sd .25", [(1, 2, 0.25), (4, 300, 0.25)], 0.0),
        ("3 tasks of 20 queries, sd .2, and 3 of 20, sd 1", [(3, 20, 0.2), (3, 20, 1.0)], 0.0),
        ("3 tasks of 20 queries, sd .2, and 3 of 20, sd 1", [(3, 20, 0.2), (3, 20, 1.0)], 0.1),
        ("10 tasks of 30 queries, sd .2, and 10 of 30, sd 1", [(10, 30, 0.2), (10, 30, 1.0)], 0.1),
    )
)
OF_ONE_TASK = (
    World(
        "100 clusters of 1 to 7 queries, correlation .25",
        partial(clusters, sizes=[*[1, 2, 3, 4, 5, 6, 7] * 14, 1, 2], correlation=0.25, automatic=False),
    ),
    *(World(f"{n} queries", partial(independent, k=1, tau=0.0, queries=n)) for n in (3, 5, 10)),
)
