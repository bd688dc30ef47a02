"""How often intervals hold the true effect: simulated experiments, through the same functions as a real comparison.

Reads nothing. Writes tables in Markdown, a row a world (simulated_worlds.py): how often the 95% intervals hold what
they are of, how wide they are, and how often they exclude 0. By hand, in half an hour:

    python -m scripts.synthesis.simulate_coverage --replicates 2000 --tables coverage.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scripts.common.files import atomic_text
from scripts.synthesis.bayes import bayesian_summary
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.dependence.observed_tasks import dependence_of
from scripts.synthesis.effects import effect_named
from scripts.synthesis.simulated_worlds import MEAN, OF_ONE_TASK, SETTINGS, WORLDS, Experiment, World, as_independent
from scripts.synthesis.summaries import Summary
from scripts.synthesis.synthesise import Synthesis, synthesise
from scripts.synthesis.task_tests import interval_of

Interval = tuple[float, float]
THESE, LIKE_THESE, NEW = "these", "like these", "a new one"


class Column(NamedTuple):
    """An interval: what it is of, its name, and the interval itself, None where an experiment has none."""

    scope: str
    name: str
    of: Callable[[Experiment], Interval | None]


def synthesis(experiment: Experiment, settings: Settings = SETTINGS) -> Synthesis:
    """The synthesis of an experiment's tasks."""
    dependence = dependence_of(experiment.tasks, experiment.corpora, experiment.lucks)
    return synthesise(
        {name: task.effect for name, task in experiment.tasks.items()},
        settings.effect, settings.estimator, settings.interval, settings.alpha, settings.prediction,
        dependence=dependence, small_tasks=settings.small_tasks,
    )  # fmt: skip


def ends(summary: Summary) -> Interval:
    """Both ends of a summary's interval."""
    return summary.ci_low, summary.ci_high


def summary_by(interval: str, small_tasks: str = SETTINGS.small_tasks) -> Callable[[Experiment], Interval | None]:
    """The interval of the summary over collections like these."""
    settings = replace(SETTINGS, interval=interval, small_tasks=small_tasks)

    def of(experiment: Experiment) -> Interval | None:
        meta = synthesis(experiment, settings).meta
        return ends(meta.summary) if meta and meta.k > 1 else None

    return of


def prediction_by(kind: str) -> Callable[[Experiment], Interval | None]:
    """The prediction interval of a kind."""

    def of(experiment: Experiment) -> Interval | None:
        meta = synthesis(experiment, replace(SETTINGS, prediction=kind)).meta
        return meta.prediction_interval if meta else None

    return of


def fixed(experiment: Experiment) -> Interval | None:
    """The interval of the mean on these collections."""
    mean = synthesis(experiment).fixed_mean
    return ends(mean) if mean else None


def bayesian(experiment: Experiment) -> Interval | None:
    """The prediction interval of the Bayesian summary with its default prior."""
    found = synthesis(experiment)
    if len(found.weights) < 2:
        return None
    scale = effect_named(SETTINGS.effect).TAU_SCALE
    return bayesian_summary(found.estimates, found.dependence.covariance, scale).prediction_interval


def ignoring(experiment: Experiment) -> Interval | None:
    """The default interval where tasks are taken as independent and seeds as given."""
    return summary_by("equal-weights")(as_independent(experiment))


COLUMNS = (
    Column(THESE, "mean", fixed),
    Column(LIKE_THESE, "equal weights", summary_by("equal-weights")),
    Column(LIKE_THESE, "Knapp-Hartung", summary_by("knapp-hartung")),
    Column(LIKE_THESE, "normal", summary_by("normal")),
    Column(LIKE_THESE, "normal, own variances", summary_by("normal", "own")),
    Column(LIKE_THESE, "equal weights, nothing shared", ignoring),
    Column(NEW, "confidence distribution", prediction_by("confidence-distribution")),
    Column(NEW, "k-2", prediction_by("k-2")),
    Column(NEW, "Bayesian", bayesian),
)


class Row(NamedTuple):
    """Of each column, over the experiments that have it: coverage, mean width, share that excludes 0. NaN: none has."""

    coverage: np.ndarray
    width: np.ndarray
    power: np.ndarray


def simulated(world: World, replicates: int, seed: int, columns: Sequence[Column] = COLUMNS) -> Row:
    """Simulate a world."""
    generator = np.random.default_rng(seed)
    found = np.full((replicates, len(columns), 3), np.nan)
    for number in range(replicates):
        experiment = world.draw(generator)
        true = {THESE: experiment.of_these, LIKE_THESE: MEAN, NEW: experiment.new}
        for column, (scope, _, interval_of_column) in enumerate(columns):
            interval = interval_of_column(experiment)
            if interval is not None:
                low, high = interval
                found[number, column] = low <= true[scope] <= high, high - low, not low <= 0 <= high
    with np.errstate(invalid="ignore"):
        held = np.nansum(found, axis=0) / (~np.isnan(found)).sum(axis=0)
    return Row(*held.T)


def of_task(kind: str) -> Column:
    """The interval of a kind of an experiment's only task."""

    def of(experiment: Experiment) -> Interval:
        (task,) = experiment.tasks.values()
        interval, _ = interval_of(task, replace(SETTINGS, task_interval=kind))
        assert interval is not None
        return interval.ci_low, interval.ci_high

    return Column(LIKE_THESE, kind, of)


def table(title: str, columns: Sequence[Column], rows: dict[str, np.ndarray]) -> str:
    """A table in Markdown."""
    lines = [f"| {title} | " + " | ".join(f"{scope}: {name}" for scope, name, _ in columns) + " |"]
    lines.append("|---" + "|--:" * len(columns) + "|")
    for name, values in rows.items():
        cells = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=Path, required=True)
    arguments = parser.parse_args()
    rows = {}
    for world in WORLDS:
        rows[world.name] = simulated(world, arguments.replicates, arguments.seed)
        print(world.name, *rows[world.name].coverage.round(3), flush=True)
    kinds = [of_task(kind) for kind in ("t", "normal")]
    of_tasks = {world.name: simulated(world, arguments.replicates, arguments.seed, kinds) for world in OF_ONE_TASK}
    tables = [
        table(title, COLUMNS, {name: getattr(row, title) for name, row in rows.items()})
        for title in ("coverage", "width", "power")
    ]
    tables.append(table("one task", kinds, {name: row.coverage for name, row in of_tasks.items()}))
    with atomic_text(arguments.tables) as file:
        file.write("\n".join(tables))


if __name__ == "__main__":
    main()
