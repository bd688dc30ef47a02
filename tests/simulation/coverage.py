"""The coverage of intervals in simulated experiments, analysed by the same functions as a real comparison.

Reads nothing. Writes the tables of docs/simulations.md, one row per world (worlds.py): coverage and width of the 95%
intervals, and how often they exclude 0. Run it by hand; it takes half an hour:

    python -m tests.simulation.coverage --replicates 1000 --folder docs/simulations
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranktrial.common.files import write_text
from ranktrial.statistics.bayes import bayesian_summary
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.independent_tasks import MetaAnalysis
from ranktrial.statistics.observed_tasks import dependence_of
from ranktrial.statistics.summaries import Summary
from ranktrial.statistics.superiority import superiority
from ranktrial.statistics.synthesise import SHRUNK, fixed_mean, with_shrunk_variances
from ranktrial.statistics.task_results import interval_of
from tests.simulation.judges import ANALYSES, IN_CLUSTERS, JUDGED
from tests.simulation.worlds import (
    CLUSTERED,
    MEAN,
    METHOD,
    OF_ONE_TASK,
    UNLIKE_TASKS,
    WORLDS,
    Experiment,
    World,
    as_independent,
)

Interval = tuple[float, float]
THESE, LIKE_THESE, NEW, WINS = "these", "like these", "a new one", "wins"


class Column(NamedTuple):
    """An interval: its target, its name, and a function that returns it, or None if an experiment has none."""

    scope: str
    name: str
    of: Callable[[Experiment], Interval | None]


def known(experiment: Experiment, small_tasks: str = SHRUNK) -> tuple[np.ndarray, Dependence]:
    """The effects of an experiment's tasks and their dependence."""
    dependence = dependence_of(experiment.tasks, experiment.corpora, experiment.seed_effects)
    assert dependence is not None
    estimates = np.array([task.effect.estimate for task in experiment.tasks.values()], dtype=float)
    return estimates, with_shrunk_variances(dependence) if small_tasks == SHRUNK else dependence


@lru_cache(maxsize=4)
def combined(
    experiment: Experiment,
    interval: str = METHOD.interval,
    prediction: str = METHOD.prediction,
    small_tasks: str = SHRUNK,
) -> MetaAnalysis:
    """The meta-analysis of an experiment's tasks."""
    estimates, dependence = known(experiment, small_tasks)
    return dependent_meta_analysis(estimates, dependence, METHOD.estimator, interval, METHOD.alpha, prediction)


def ends(summary: Summary) -> Interval:
    """Both limits of a summary's interval."""
    return summary.ci_low, summary.ci_high


def summary_by(interval: str, small_tasks: str = SHRUNK) -> Callable[[Experiment], Interval]:
    """The interval of the summary over collections like these."""
    return lambda experiment: ends(combined(experiment, interval, small_tasks=small_tasks).summary)


def with_own_variances(experiment: Experiment) -> Interval | None:
    """The normal interval with own variances of small tasks; None if no task is small."""
    small = with_shrunk_variances(known(experiment, "own")[1]).shrunk
    return summary_by("normal", "own")(experiment) if small else None


def prediction_by(kind: str) -> Callable[[Experiment], Interval | None]:
    """The prediction interval of this name."""
    return lambda experiment: combined(experiment, prediction=kind).prediction_interval


def fixed(experiment: Experiment) -> Interval:
    """The interval of the mean on these collections."""
    return ends(fixed_mean(*known(experiment, "own"), METHOD.alpha))


def bayesian(experiment: Experiment) -> Interval:
    """The prediction interval of the Bayesian summary with its default prior."""
    estimates, dependence = known(experiment)
    scale = effect_named(METHOD.effect).TAU_SCALE
    return bayesian_summary(estimates, dependence.covariance, scale).prediction_interval


def ignoring(experiment: Experiment) -> Interval | None:
    """The default interval with tasks treated as independent and seeds as given; None if they are."""
    if not experiment.seed_effects and not experiment.corpora:
        return None
    return summary_by("equal-weights")(as_independent(experiment))


COLUMNS = (
    Column(THESE, "mean", fixed),
    Column(LIKE_THESE, "equal weights", summary_by("equal-weights")),
    Column(LIKE_THESE, "Knapp-Hartung", summary_by("knapp-hartung")),
    Column(LIKE_THESE, "normal", summary_by("normal")),
    Column(LIKE_THESE, "normal, own variances", with_own_variances),
    Column(LIKE_THESE, "equal weights, nothing shared", ignoring),
    Column(NEW, "confidence distribution", prediction_by("confidence-distribution")),
    Column(NEW, "k-2", prediction_by("k-2")),
    Column(NEW, "Bayesian", bayesian),
)


class Row(NamedTuple):
    """Per column, over the experiments that have it: coverage, mean width, share that excludes 0. NaN: none has it."""

    coverage: np.ndarray
    width: np.ndarray
    power: np.ndarray


def simulated(world: World, replicates: int, seed: int, columns: Sequence[Column] = COLUMNS) -> Row:
    """Simulate a world."""
    generator = np.random.default_rng(seed)
    found = np.full((replicates, len(columns), 3), np.nan)
    for number in range(replicates):
        experiment = world.draw(generator)
        if not experiment.tasks:
            continue
        true = {THESE: experiment.of_these, LIKE_THESE: MEAN, NEW: experiment.new, WINS: experiment.superiority}
        for column, (scope, _, interval_of_column) in enumerate(columns):
            interval = interval_of_column(experiment)
            if interval is not None:
                low, high = interval
                found[number, column] = low <= true[scope] <= high, high - low, not low <= 0 <= high
    with np.errstate(invalid="ignore"):
        held = np.nansum(found, axis=0) / (~np.isnan(found)).sum(axis=0)
    return Row(*held.T)


def of_task(kind: str, name: str = "") -> Column:
    """The interval of this name for an experiment's only task, or the task `name`; None if it has no effect."""

    def of(experiment: Experiment) -> Interval | None:
        task = experiment.tasks[name] if name else next(iter(experiment.tasks.values()))
        interval, _ = interval_of(task, replace(METHOD, task_interval=kind))
        return (interval.ci_low, interval.ci_high) if interval else None

    return Column(LIKE_THESE, name or kind, of)


def superiority_of(name: str) -> Column:
    """The interval of the probability of superiority on this task."""

    def of(experiment: Experiment) -> Interval:
        task = experiment.tasks[name]
        return superiority(task.x - task.y, METHOD.alpha, task.units)[-2:]

    return Column(WINS, f"superiority, {name}", of)


def rejects(small_tasks: str) -> Column:
    """Whether Q rejects homogeneity at .05 with these variances, as an interval: its share that excludes 0."""

    def of(experiment: Experiment) -> Interval:
        p = combined(experiment, small_tasks=small_tasks).q_p_value
        return (1.0, 1.0) if p is not None and p < METHOD.alpha else (0.0, 0.0)

    return Column(LIKE_THESE, f"Q, {small_tasks} variances", of)


OF_CLUSTERS = [*(of_task("t", name) for name in ("clusters", "alone")), *map(superiority_of, ("clusters", "alone"))]
OF_UNLIKE_TASKS = [rejects("shrunk"), rejects("own")]
OF_JUDGED = [of_task("t", name) for name in ANALYSES]


def judged_tables(replicates: int, seed: int) -> dict[str, str]:
    """The tables for tasks that a model judges: four times as many experiments, each of one task."""
    rows = {world.name: simulated(world, 4 * replicates, seed, OF_JUDGED) for world in (*JUDGED, *IN_CLUSTERS)}
    return {f"judged-{title}": table(OF_JUDGED, part(rows, title)) for title in ("coverage", "width")}


def tables_of_clusters(replicates: int, seed: int) -> dict[str, str]:
    """The tables for clusters of queries, and for Q where tasks are small and unlike."""
    rows = {world.name: simulated(world, replicates, seed, OF_CLUSTERS) for world in CLUSTERED}
    unlike = {world.name: simulated(world, replicates, seed, OF_UNLIKE_TASKS) for world in UNLIKE_TASKS}
    found = {f"clusters-{title}": table(OF_CLUSTERS, part(rows, title)) for title in ("coverage", "width")}
    return {**found, "homogeneity": table(OF_UNLIKE_TASKS, part(unlike, "power"))}


def part(rows: dict[str, Row], title: str) -> dict[str, np.ndarray]:
    """One of the three values of each row."""
    return {name: getattr(row, title) for name, row in rows.items()}


def table(columns: Sequence[Column], rows: dict[str, np.ndarray]) -> str:
    """A table of tab-separated values."""
    lines = [["world", *(f"{scope}: {name}" for scope, name, _ in columns)]]
    lines += [[name, *("" if np.isnan(value) else f"{value:.3f}" for value in row)] for name, row in rows.items()]
    return "".join("\t".join(line) + "\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    rows = {}
    for world in WORLDS:
        rows[world.name] = simulated(world, arguments.replicates, arguments.seed)
        print(world.name, *rows[world.name].coverage.round(3), flush=True)
    kinds = [of_task(kind) for kind in ("t", "normal")]
    of_tasks = {world.name: simulated(world, arguments.replicates, arguments.seed, kinds) for world in OF_ONE_TASK}
    tables = {title: table(COLUMNS, part(rows, title)) for title in ("coverage", "width", "power")}
    tables["one-task"] = table(kinds, part(of_tasks, "coverage"))
    tables |= tables_of_clusters(arguments.replicates, arguments.seed)
    tables |= judged_tables(arguments.replicates, arguments.seed)
    for name, text in tables.items():
        write_text(arguments.folder / f"{name}.tsv", text)


if __name__ == "__main__":
    main()
