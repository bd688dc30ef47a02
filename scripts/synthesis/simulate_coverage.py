"""How often intervals hold the true effect: simulated experiments, through the same functions as a real comparison.

Reads nothing. Writes a table in Markdown: a row a situation, with the coverage of the 95% interval before (independent
tasks and queries, given seeds, Knapp and Hartung unmodified, tasks by the normal distribution) and after (the
defaults); of situations with seeds also after with Knapp and Hartung unmodified, which shows the seeds' part by itself.
By hand: python -m scripts.synthesis.simulate_coverage --replicates 5000 --table coverage.md
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from scripts.common.files import atomic_text
from scripts.experiment.seeds_of import BORROWED, OWN, SeedsOf
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.dependence.lucks import lucks_of
from scripts.synthesis.dependence.observed_tasks import ObservedTask, dependence_of, observed_task, per_unit, with_seeds
from scripts.synthesis.dependence.seeds_part import Luck
from scripts.synthesis.dependent_meta_analysis import dependent_meta_analysis
from scripts.synthesis.task_tests import interval_of

TRUE = 0.02  # the mean difference in all situations
QUERY_SD, QUERIES = 0.25, 200  # of a query's difference, and how many queries a task has
SEED_SD = 0.01  # between seeds of one system
TAU = 0.03  # between the true effects of tasks, where they differ
AFTER = Settings(
    control="control", treatment="treatment", measure="measure", effect="MD", estimator="REML",
    interval="knapp-hartung", task_interval="t", alpha=0.05, ddof=1, hedges=True, permutations=1, seed=1,
    cumulative=False,
)  # fmt: skip
BEFORE = replace(
    AFTER, interval="knapp-hartung-unmodified", task_interval="normal", seeds="conditional", dependence="independent"
)
AFTER_UNMODIFIED = replace(AFTER, interval="knapp-hartung-unmodified")


@dataclass(frozen=True)
class Situation:
    """A row: what it is in words, and one experiment of it, which says whether TRUE is in the interval before, after
    and, with seeds, after with Knapp and Hartung unmodified."""

    name: str
    once: Callable[[np.random.Generator], tuple[bool, ...]]


def seeds(generator: np.random.Generator, k: int, m: int, tau: float = 0.0) -> tuple[bool, bool, bool]:
    """k tasks ranked by m checkpoints of each system, whose luck is common to all tasks; with m = 1 a sibling has
    five. The tasks' true effects have the standard deviation `tau`."""

    def system(count: int) -> np.ndarray:
        luck: np.ndarray = generator.normal(0, SEED_SD, count)
        return luck

    def values(luck: np.ndarray) -> dict[str, np.ndarray]:
        """Luck alone: what queries differ in is in the other system."""
        return {f"t{i}": np.zeros((QUERIES, 1)) + luck for i in range(k)}

    control = values(system(m))
    treatment = {
        task: luck + (generator.normal(0, tau) if tau else 0.0) + differences(generator, 1)[0][:, None]
        for task, luck in values(system(m)).items()
    }
    status, source = (BORROWED, "sibling") if m == 1 else (OWN, None)
    sources = {role: SeedsOf(status, source) for role in ("control", "treatment")}
    siblings = {"sibling": values(system(5))}
    tasks = {task: one_task(treatment[task].mean(axis=1) - control[task].mean(axis=1)) for task in treatment}
    lucks = list(lucks_of(sources, control, treatment, siblings, per_unit(tasks, AFTER)).values())
    held = with_seeds(tasks, lucks)
    return (
        summary_holds(tasks, {}, []),
        summary_holds(held, {}, lucks, AFTER),
        summary_holds(held, {}, lucks, AFTER_UNMODIFIED),
    )


def shared_queries(generator: np.random.Generator, corpora: int, correlation: float) -> tuple[bool, bool]:
    """Two tasks on each corpus, whose differences correlate over the same queries."""
    tasks, corpus_of = {}, {}
    for corpus in range(corpora):
        for number, values in enumerate(differences(generator, 2, correlation)):
            tasks[f"{corpus}-{number}"] = one_task(values)
            corpus_of[f"{corpus}-{number}"] = f"corpus {corpus}"
    return summary_holds(tasks, {}, []), summary_holds(tasks, corpus_of, [], AFTER)


def homogeneous(generator: np.random.Generator, k: int) -> tuple[bool, bool]:
    """k tasks that share nothing and have one true effect."""
    tasks = {f"t{i}": one_task(differences(generator, 1)[0]) for i in range(k)}
    return summary_holds(tasks, {}, []), summary_holds(tasks, {}, [], AFTER)


def clusters(generator: np.random.Generator) -> tuple[bool, bool]:
    """One task of 100 clusters with 1 to 7 queries, which correlate .25 within a cluster: a design effect near 2."""
    sizes = np.tile([1, 2, 3, 4, 5, 6, 7], 15)[:100]
    share = math.sqrt(0.25)
    common = np.repeat(generator.normal(0, share, 100), sizes)
    values = TRUE + QUERY_SD * (common + generator.normal(0, math.sqrt(1 - share**2), len(common)))
    units = np.repeat(np.arange(100), sizes).tolist()
    return task_holds(one_task(values), BEFORE), task_holds(observed_task(values, 0 * values, units, AFTER), AFTER)


def few_queries(generator: np.random.Generator, n: int) -> tuple[bool, bool]:
    """One task of n queries."""
    task = one_task(TRUE + generator.normal(0, QUERY_SD, n))
    return task_holds(task, BEFORE), task_holds(task, AFTER)


def differences(generator: np.random.Generator, tasks: int, correlation: float = 0.0) -> np.ndarray:
    """The differences of each task's queries, shape (tasks, queries)."""
    common = math.sqrt(correlation) * generator.normal(0, QUERY_SD, QUERIES)
    values: np.ndarray = TRUE + common + math.sqrt(1 - correlation) * generator.normal(0, QUERY_SD, (tasks, QUERIES))
    return values


def one_task(values: np.ndarray) -> ObservedTask:
    """A task with these differences, each query its own."""
    return observed_task(values, 0 * values, range(len(values)), AFTER)


def summary_holds(
    tasks: dict[str, ObservedTask], corpora: dict[str, str], lucks: list[Luck], settings: Settings = BEFORE
) -> bool:
    """Whether the interval of the summary holds the true effect."""
    dependence = dependence_of(tasks, corpora, lucks)
    assert dependence is not None
    estimates = [task.effect.estimate for task in tasks.values()]
    how = (settings.estimator, settings.interval, settings.alpha, settings.prediction)
    summary = dependent_meta_analysis(np.array(estimates, dtype=float), dependence, *how).summary
    return summary.ci_low <= TRUE <= summary.ci_high


def task_holds(task: ObservedTask, settings: Settings) -> bool:
    """Whether the interval of a task holds the true effect."""
    interval, _ = interval_of(task, settings)
    assert interval is not None
    return interval.ci_low <= TRUE <= interval.ci_high


SITUATIONS = (
    *(
        Situation(f"{k} tasks, one seed of each system, a sibling with five", partial(seeds, k=k, m=1))
        for k in (3, 5, 10)
    ),
    *(Situation(f"{k} tasks, three seeds of each system", partial(seeds, k=k, m=3)) for k in (3, 5, 10)),
    *(
        Situation(f"{k} tasks whose true effects differ, {words} of each system", partial(seeds, k=k, m=m, tau=TAU))
        for m, words in ((1, "one seed"), (3, "three seeds"))
        for k in (3, 5, 10)
    ),
    *(
        Situation(
            f"{c} corpora of two tasks whose queries correlate .8", partial(shared_queries, corpora=c, correlation=0.8)
        )
        for c in (2, 3, 4)
    ),
    *(Situation(f"{k} tasks with one true effect", partial(homogeneous, k=k)) for k in (3, 5)),
    Situation("one task, 100 clusters of 1 to 7 queries, correlation .25", clusters),
    *(Situation(f"one task of {n} queries", partial(few_queries, n=n)) for n in (3, 5, 10)),
)


def coverage(situation: Situation, replicates: int, seed: int) -> tuple[float, ...]:
    """The share of simulated experiments whose interval holds the true effect, in the order of `Situation.once`."""
    generator = np.random.default_rng(seed)
    shares = np.mean([situation.once(generator) for _ in range(replicates)], axis=0)
    return tuple(map(float, shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, required=True)
    arguments = parser.parse_args()
    rows = ["| situation | before | after | after, Knapp-Hartung unmodified |", "|---|---|---|---|"]
    for situation in SITUATIONS:
        shares = [f"{share:.3f}" for share in coverage(situation, arguments.replicates, arguments.seed)]
        rows.append(f"| {' | '.join([situation.name, *shares, *[''] * (3 - len(shares))])} |")
        print(rows[-1], flush=True)
    with atomic_text(arguments.table) as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
