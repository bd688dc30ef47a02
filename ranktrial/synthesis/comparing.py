"""One comparison of an experiment, through the entry point of the statistics (statistics/comparison.py).

Reads and writes nothing: converts the scores of both systems and data about their queries to scores by task, and the
planned sources of seed variance to the values from which it is estimated.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ranktrial.experiment.results_paths import SELECTED
from ranktrial.experiment.synthesis_records import BORROWED, UNKNOWN
from ranktrial.statistics.comparison import Comparison, compare
from ranktrial.statistics.dependence.seed_effects import CONTROL, DIFFERENCE, TREATMENT, SeedsFrom
from ranktrial.statistics.method import RANDOM
from ranktrial.statistics.scores import TaskScores
from ranktrial.statistics.task.prediction_powered import ModelScores
from ranktrial.synthesis.comparison_settings import Settings
from ranktrial.synthesis.metrics_files import Scores

Pairs = Mapping[str, tuple[Scores, Scores]]  # control and treatment by task, on the same queries in one order


@dataclass(frozen=True)
class DependenceData:
    """Data about dependence, by task: the documents relevant to each query, and clusters of a file; and by system and
    task, the values (queries, seeds) of systems whose seeds are borrowed.
    """

    relevant: Mapping[str, Mapping[str, Collection[str]]] = field(default_factory=dict)
    clusters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    siblings: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)


def compared(
    pairs: Pairs,
    settings: Settings,
    dependence_data: DependenceData | None = None,
    models: Mapping[str, ModelScores] | None = None,
) -> Comparison:
    """Compare the systems on each task and combine the effects; `models` are the scores by judges' judgements."""
    known = dependence_data or DependenceData()
    return compare(task_scores(pairs, settings, known, models), settings, seeds_from(settings, known.siblings))


def task_scores(
    pairs: Pairs, settings: Settings, known: DependenceData, models: Mapping[str, ModelScores] | None = None
) -> list[TaskScores]:
    """The scores of each task, with what is known of how its queries depend on each other."""
    return [
        TaskScores(
            task,
            control.values.to_numpy(),
            treatment.values.to_numpy(),
            [str(query) for query in control.values.index],
            settings.corpora.get(task),
            known.relevant.get(task),
            known.clusters.get(task),
            (models or {}).get(task),
        )
        for task, (control, treatment) in pairs.items()
    ]


def seeds_from(settings: Settings, siblings: Mapping[str, Mapping[str, np.ndarray]]) -> dict[str, SeedsFrom]:
    """By role, the seeds from which seed variance is estimated, for the roles with a source."""
    found = {}
    for role, seeds in settings.seed_sources.items():
        if seeds.status != UNKNOWN:
            values = siblings[str(seeds.system)] if seeds.status == BORROWED else None
            found[role] = SeedsFrom(seeds.system or role, values, _checkpoints(role, settings))
    return found


def _checkpoints(role: str, settings: Settings) -> dict[str, Hashable]:
    """By task, the trainings of a role's checkpoints, if tasks have separate ones."""
    roles = (CONTROL, TREATMENT) if role == DIFFERENCE else (role,)
    trained = [settings.checkpoints.get(one, {}) for one in roles]
    tasks = dict.fromkeys(task for by_task in trained for task in by_task)
    return {task: tuple(by_task.get(task) for by_task in trained) for task in tasks}


def unknown_seeds(settings: Settings) -> list[str]:
    """The trained systems whose seed variance cannot be estimated in this experiment, as text."""
    if settings.seeds != RANDOM:
        return []
    names = {
        "control": settings.control,
        "treatment": settings.treatment,
        DIFFERENCE: f"{settings.control} and {settings.treatment}, which share checkpoints,",
    }
    verbs = {DIFFERENCE: "were"}
    return [
        f"{names[role]} {verbs.get(role, 'was')} trained once, and the experiment does not show what other seeds "
        "would give: intervals are conditional on this seed and too narrow"
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
        f"{', '.join(selected)} the seed that was the best on its selection task: the summary combines two quantities"
    ]
