"""The entry point: effects from per-query scores of two systems on tasks, their mean, and a prediction interval.

The jobs of an experiment call it, and it can be used with any scores (docs/statistics.md,
docs/compare-your-own-scores.ipynb). The dependence between tasks (shared queries, documents, checkpoints) is determined
first, since effects' variances depend on it; then each task is compared, then all effects are combined.

Per-query scores of two systems on tasks, with the identity and clusters of queries.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.method import DEFAULTS, ESTIMATED, RANDOM, Method
from ranktrial.statistics.observed_tasks import (
    ObservedTask,
    dependence_of,
    observed_task,
    per_unit,
    with_model,
    with_seed_effects,
)
from ranktrial.statistics.prediction_powered import ModelScores, PredictionPowered, prediction_powered
from ranktrial.statistics.seeds import SeedEffects, SeedsFrom, own_seeds, seed_effects_of
from ranktrial.statistics.summaries import Summary
from ranktrial.statistics.synthesise import Synthesis, synthesise
from ranktrial.statistics.task_results import TaskResult, task_result, task_warnings
from ranktrial.statistics.units import AUTO, TaskQueries, Units, numbered, units_of_tasks

Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]  # control and treatment by task


@dataclass(frozen=True)
class TaskScores:
    """One task: scores of shape (queries,) or (queries, seeds), with both systems in the same order of queries.

    By default, tasks share nothing and queries are independent. `queries` are their ids (by default their positions).
    Tasks with the same `corpus` may have common queries, which have the same ids. `relevant` are the documents relevant
    to each query, by which queries are clustered; alternatively, `clusters` names the cluster of each query. Both are
    by query id. `model` has the scores by a model's judgements, if the others are by human judgements of a sample of
    the queries: the effect is then prediction-powered.
    """

    name: str
    control: np.ndarray
    treatment: np.ndarray
    queries: Sequence[str] | None = None
    corpus: str | None = None
    relevant: Mapping[str, Collection[str]] | None = None
    clusters: Mapping[str, str] | None = None
    model: ModelScores | None = None

    @property
    def ids(self) -> list[str]:
        """The ids of the queries, in the order of the scores."""
        return list(self.queries) if self.queries is not None else [str(place) for place in range(len(self.control))]


def tasks_of(scores: Pairs | Iterable[TaskScores]) -> dict[str, TaskScores]:
    """The tasks by name, their scores of shape (queries, seeds).

    Raises ValueError, with the task's name, for scores that are not finite or not paired, and for a duplicate name.
    """
    given = [TaskScores(name, *pair) for name, pair in scores.items()] if isinstance(scores, Mapping) else list(scores)
    tasks = {task.name: _checked(task) for task in given}
    if len(tasks) < len(given):
        names = [task.name for task in given]
        raise ValueError(f"task {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return tasks


def _checked(task: TaskScores) -> TaskScores:
    control, treatment = (_matrix(task.name, role, getattr(task, role)) for role in ("control", "treatment"))
    if len(control) != len(treatment):
        problem = f"{len(control)} queries of the control and {len(treatment)} of the treatment"
        raise ValueError(f"task {task.name!r}: {problem}; expected the same queries in one order")
    if task.queries is not None and not len(set(task.queries)) == len(task.queries) == len(control):
        raise ValueError(f"task {task.name!r}: expected {len(control)} different ids of queries")
    return replace(task, control=control, treatment=treatment)


def _matrix(task: str, role: str, values: np.ndarray) -> np.ndarray:
    matrix: np.ndarray = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
    if matrix.ndim not in (1, 2) or not matrix.size:
        expected = "expected one score per query, or queries x seeds"
        raise ValueError(f"task {task!r}: {expected} for the {role}, not an array of shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"task {task!r}: a score of the {role} is masked or not finite")
    return matrix[:, None] if matrix.ndim == 1 else matrix


@dataclass(frozen=True)
class Comparison:
    """Treatment against control: the result of each task, and their synthesis.

    Effects are treatment minus control. Intervals have confidence level 1 - alpha. `seed_effects` are by role (control,
    treatment or difference), for all tasks; `corpora` by task, for those that may share queries.
    """

    method: Method
    tasks: dict[str, TaskResult]
    synthesis: Synthesis
    corpora: dict[str, str]
    seed_effects: dict[str, SeedEffects]
    cluster_warnings: tuple[str, ...]

    @property
    def on_these(self) -> Summary | None:
        """The mean effect on these tasks, with equal weights, taken as given; None if no task has an effect."""
        return self.synthesis.fixed_mean

    @property
    def over_collections(self) -> Summary | None:
        """The mean effect over collections like these, the random-effects mean; None if no task has an effect."""
        return self.synthesis.meta.summary if self.synthesis.meta else None

    @property
    def in_a_new_one(self) -> tuple[float, float] | None:
        """The prediction interval of the effect in a new collection; None with fewer than four tasks."""
        return self.synthesis.meta.prediction_interval if self.synthesis.meta else None

    @property
    def tau(self) -> float | None:
        """The standard deviation of true effects between tasks; None with fewer than two tasks."""
        meta = self.synthesis.meta
        return None if meta is None or meta.tau2 is None else math.sqrt(meta.tau2)

    @property
    def i2(self) -> float | None:
        """I2 in percent; None with fewer than two tasks."""
        return self.synthesis.meta.i2 if self.synthesis.meta else None

    @property
    def dependence(self) -> Dependence | None:
        """The dependence between the defined effects; None if no task has an effect."""
        return self.synthesis.dependence if self.synthesis.meta else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """The cautions, as text."""
        return (*self.cluster_warnings, *task_warnings(self.tasks), *self.synthesis.warnings)


def compare(
    scores: Pairs | Iterable[TaskScores],
    method: Method = DEFAULTS,
    seeds_from: Mapping[str, SeedsFrom] | None = None,
) -> Comparison:
    """Compare two systems on each task and combine the effects.

    scores: by task, the scores of control and treatment, each of shape (queries,) or (queries, seeds), in the same
    order of queries; or `TaskScores`, which also state what tasks share. method: the methods of the comparison, by
    default those of an experiment. seeds_from: by role, the seeds from which the seed variance is estimated; by default
    a system's own, if it has several. Raises ValueError for scores that are not finite or not paired, for a system with
    different numbers of seeds above 1 on its tasks, and for a prediction-powered effect that is not a mean difference.
    """
    tasks, powered = _with_models(tasks_of(scores), method)
    corpora = _corpora(tasks, method)
    units, warnings = _units(tasks, corpora, method)
    observed = {
        name: _observed(task, units[name], name in corpora, method, powered.get(name)) for name, task in tasks.items()
    }
    seed_effects = _seed_effects(tasks, observed, method, seeds_from)
    observed = with_seed_effects(observed, list(seed_effects.values())) if seed_effects else observed
    results = {name: task_result(task.control, task.treatment, method, observed[name]) for name, task in tasks.items()}
    synthesis = synthesise(
        {name: result.effect for name, result in results.items()},
        method,
        {name: result.interval for name, result in results.items()},
        dependence_of(observed, corpora, list(seed_effects.values())),
    )
    return Comparison(method, results, synthesis, corpora, seed_effects, tuple(warnings))


def units_of(scores: Pairs | Iterable[TaskScores], method: Method = DEFAULTS) -> dict[str, np.ndarray]:
    """By task, the number of the cluster of each query, as a comparison of these scores has them."""
    tasks = tasks_of(scores)
    return {name: numbered(units) for name, units in _units(tasks, _corpora(tasks, method), method)[0].items()}


def _corpora(tasks: Mapping[str, TaskScores], method: Method) -> dict[str, str]:
    """The corpora of tasks that may share queries."""
    if method.dependence != ESTIMATED:
        return {}
    return {name: task.corpus for name, task in tasks.items() if task.corpus is not None}


def _units(
    tasks: Mapping[str, TaskScores], corpora: Mapping[str, str], method: Method
) -> tuple[dict[str, Units], list[str]]:
    """The sampling unit of each query of each task, further queries of a model last, and cautions as text."""
    queries = {
        name: TaskQueries(
            [*task.ids, *(task.model.further_ids if task.model else ())],
            corpora.get(name, name),
            task.relevant,
            task.clusters,
        )
        for name, task in tasks.items()
    }
    return units_of_tasks(queries, str(method.clusters))


def _with_models(
    tasks: Mapping[str, TaskScores], method: Method
) -> tuple[dict[str, TaskScores], dict[str, PredictionPowered]]:
    """The tasks, with prediction-powered scores for those with a model's judgements, and these estimates."""
    found, powered = dict(tasks), {}
    for name, task in tasks.items():
        if task.model:
            if method.effect != "MD":
                raise ValueError(f"task {name!r}: a prediction-powered effect is a mean difference (MD)")
            control, treatment, powered[name] = prediction_powered(
                task.control, task.treatment, task.model, method.ddof
            )
            found[name] = replace(task, control=control, treatment=treatment)
    return found, powered


def _observed(
    task: TaskScores, units: Units, shares: bool, method: Method, powered: PredictionPowered | None
) -> ObservedTask:
    """A task with the seeds of each system averaged; units that were not configured are automatic."""
    x, y = task.treatment.mean(axis=1), task.control.mean(axis=1)
    automatic = method.clusters == AUTO and task.clusters is None
    observed = observed_task(x, y, units[: len(x)], method, shares, automatic)
    return with_model(observed, powered, task.model.undefined, units) if powered and task.model else observed


def _seed_effects(
    tasks: Mapping[str, TaskScores],
    observed: Mapping[str, ObservedTask],
    method: Method,
    seeds_from: Mapping[str, SeedsFrom] | None,
) -> dict[str, SeedEffects]:
    """The seed effects by role; empty if seeds are taken as given, or move no effect: a correlation has no difference
    that they could shift.
    """
    if method.seeds != RANDOM or not effect_named(method.effect).HAS_DIFFERENCE:
        return {}
    control = {name: task.control for name, task in tasks.items()}
    treatment = {name: task.treatment for name, task in tasks.items()}
    sources = own_seeds(control, treatment) if seeds_from is None else seeds_from
    return seed_effects_of(sources, control, treatment, per_unit(observed, method)) if sources else {}
