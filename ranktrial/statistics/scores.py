"""Per-query scores of two systems on tasks, with the identity and clusters of queries; reads and writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ranktrial.statistics.task.prediction_powered import ModelScores

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
    matrix = np.asarray(values, dtype=float)
    if matrix.ndim not in (1, 2) or not matrix.size:
        expected = "expected one score per query, or queries x seeds"
        raise ValueError(f"task {task!r}: {expected} for the {role}, not an array of shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"task {task!r}: a score of the {role} is not finite")
    return matrix[:, None] if matrix.ndim == 1 else matrix
