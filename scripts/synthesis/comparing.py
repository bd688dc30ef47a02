"""One comparison, from the values of both systems to effects and their synthesis, by a comparison's settings.

Reads and writes nothing. What tasks have in common (queries, documents, checkpoints) is found out first, since it
decides what an effect's variance is; then each task is compared, then all are combined.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scripts.experiment.records import SELECTED
from scripts.experiment.seeds_of import DIFFERENCE, UNKNOWN
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.dependence.clusters import TaskQueries, Units, units_of_tasks
from scripts.synthesis.dependence.observed_tasks import dependence_of, per_unit, with_seeds
from scripts.synthesis.dependence.seed_effects import seed_effects_of
from scripts.synthesis.dependence.seeds_part import SeedEffects
from scripts.synthesis.dependence.structure import Dependence
from scripts.synthesis.synthesise import Synthesis, synthesise
from scripts.synthesis.task_results import Scores, TaskResult, observed, task_result

Pairs = Mapping[str, tuple[Scores, Scores]]  # control and treatment by task, on the same queries in one order
RANDOM, ESTIMATED, AUTO = "random", "estimated", "auto"


@dataclass(frozen=True)
class DependenceData:
    """What effects may share, by task: the documents relevant to each query and the clusters that the user gave; and by
    system and task the values (queries, seeds) of systems whose seeds others borrow.
    """

    relevant: Mapping[str, Mapping[str, Collection[str]]] = field(default_factory=dict)
    clusters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    siblings: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """The tasks, their synthesis, and how they depend on one another; `seed_effects` by role, of the tasks with an
    effect, and those of all tasks.
    """

    results: dict[str, TaskResult]
    synthesis: Synthesis
    dependence: Dependence | None
    seed_effects: dict[str, SeedEffects]
    warnings: tuple[str, ...]
    seed_effects_of_all: tuple[SeedEffects, ...] = ()


def compared(pairs: Pairs, settings: Settings, dependence_data: DependenceData | None = None) -> Compared:
    """Compare the systems on each task and combine the effects."""
    dependence_data = dependence_data or DependenceData()
    units, warnings = _units(pairs, settings, dependence_data)
    automatic = set(pairs) - set(dependence_data.clusters) if _kind(settings) == AUTO else set()
    estimated = settings.dependence == ESTIMATED
    tasks = {
        task: observed(
            control, treatment, settings, units[task], estimated and task in settings.corpora, task in automatic
        )
        for task, (control, treatment) in pairs.items()
    }
    seed_effects: dict[str, SeedEffects] = {}
    if settings.seeds == RANDOM and settings.seed_sources:
        control, treatment = ({task: pair[role].values.to_numpy() for task, pair in pairs.items()} for role in (0, 1))
        seed_effects = seed_effects_of(
            settings.seed_sources,
            control,
            treatment,
            dependence_data.siblings,
            per_unit(tasks, settings),
            settings.checkpoints,
        )
        tasks = with_seeds(tasks, list(seed_effects.values()))
        warnings += unknown_seeds(settings)
    dependence = dependence_of(tasks, settings.corpora if estimated else {}, list(seed_effects.values()))
    results = {
        task: task_result(control, treatment, settings, tasks[task]) for task, (control, treatment) in pairs.items()
    }
    synthesis = synthesise(
        {task: result.effect for task, result in results.items()},
        settings.effect,
        settings.estimator,
        settings.interval,
        settings.alpha,
        settings.prediction,
        {task: result.interval for task, result in results.items()},
        dependence,
        settings.small_tasks,
    )
    named = dict(zip(seed_effects, dependence.seed_effects, strict=True)) if dependence else {}
    weighed = synthesis.dependence if dependence else None
    return Compared(results, synthesis, weighed, named, tuple(warnings), tuple(seed_effects.values()))


def _units(pairs: Pairs, settings: Settings, dependence_data: DependenceData) -> tuple[dict[str, Units], list[str]]:
    estimated = settings.dependence == ESTIMATED
    queries = {
        task: TaskQueries(
            [str(query) for query in control.values.index],
            settings.corpora.get(task, task) if estimated else task,
            dependence_data.relevant.get(task),
            dependence_data.clusters.get(task),
        )
        for task, (control, _) in pairs.items()
    }
    return units_of_tasks(queries, _kind(settings))


def _kind(settings: Settings) -> str:
    """What clusters are, of tasks without a file of them."""
    return settings.clusters if isinstance(settings.clusters, str) else AUTO


def unknown_seeds(settings: Settings) -> list[str]:
    """Which trained systems have seeds whose spread nothing in the experiment shows, as text."""
    names = {
        "control": settings.control,
        "treatment": settings.treatment,
        DIFFERENCE: f"{settings.control} and {settings.treatment}, which share checkpoints,",
    }
    verbs = {DIFFERENCE: "were"}
    return [
        f"{names[role]} {verbs.get(role, 'was')} trained once, and nothing in the experiment shows what other seeds "
        "would give: intervals take this seed as given and are too narrow"
        for role, seeds in settings.seed_sources.items()
        if seeds.status == UNKNOWN
    ]


def mixed_estimands(name: str, seeds: Mapping[str, Sequence[str]]) -> list[str]:
    """Whether a system has the mean of its seeds on some tasks and a selected one on others, as text; seeds by
    task."""
    several = {task: len(of_task) for task, of_task in seeds.items() if len(of_task) > 1}
    selected = [task for task, of_task in seeds.items() if of_task[0] == SELECTED]
    if not (several and selected):
        return []
    return [
        f"{name}: the mean of {next(iter(several.values()))} seeds on {', '.join(several)}, but on "
        f"{', '.join(selected)} the seed that was the best on its selection task: the summary is over two quantities"
    ]
