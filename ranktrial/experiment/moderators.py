"""Resolves the moderators of a comparison: known properties of its tasks, or a column of the user's TSV file.

Reads that file: a header with `task` and further column names, then one row per task, by its name in the configuration.
Its values are settings of the job that uses them, so a change in another column does not run any job again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.wording import finite
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import Column, ComparisonEntry
from ranktrial.experiment.records import Comparison, Moderator, Task
from ranktrial.ir.outside_table import read_table
from ranktrial.statistics.design_matrix import FEWEST
from ranktrial.statistics.estimators import takes_moderators
from ranktrial.synthesis.moderators import DOCUMENTS, JUDGED, JUDGEMENTS, MODERATORS, QRELS


def moderators(check: Checker, key: str, entry: ComparisonEntry, tasks: list[Task]) -> tuple[Moderator, ...]:
    """Return the moderators of a comparison's entry. Raises UserError for one that its tasks cannot have."""
    chosen = tuple(_moderator(check, f"{key}.moderators", given, tasks) for given in entry.moderators or ())
    names = [moderator.name for moderator in chosen]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise check.fail(f"{key}.moderators", f"two moderators are called {twice!r}")
    labels = [moderator.label for moderator in chosen]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise check.fail(f"{key}.moderators", f"two moderators have the label {twice!r}")
    if chosen:
        _check_model(check, f"{key}.moderators", entry.estimator, tasks)
    return chosen


def subgroups(check: Checker, key: str, entry: ComparisonEntry, tasks: list[Task]) -> Moderator | None:
    """Return the moderator by which a comparison's tasks are grouped. Raises UserError if it is not categorical."""
    given = entry.subgroups
    if given is None:
        return None
    moderator = _moderator(check, f"{key}.subgroups", given, tasks, categorical=True)
    if isinstance(given, str) and not MODERATORS[given].categorical:
        problem = f"{given} is a number, which forms no groups; give it as one of moderators, or a column of words"
        raise check.fail(f"{key}.subgroups", problem)
    _check_model(check, f"{key}.subgroups", entry.estimator, tasks)
    return moderator


def _check_model(check: Checker, key: str, estimator: str, tasks: list[Task]) -> None:
    if len(tasks) < FEWEST:
        raise check.fail(key, f"{len(tasks)} tasks are too few; a moderator needs at least {FEWEST}")
    if not takes_moderators(estimator):
        raise check.fail(key, f"estimator {estimator} has no residual_tau2, which moderators need")


def _moderator(
    check: Checker, key: str, given: str | Column, tasks: list[Task], categorical: bool = False
) -> Moderator:
    if isinstance(given, str):
        for task in tasks:
            if lacks := next(filter(None, (_lacking(need, task) for need in MODERATORS[given].needs)), None):
                raise check.fail(key, f"{given}: task {task.name!r} has no {lacks}")
        return Moderator(given, MODERATORS[given].label)
    column, path = given.column, Path(given.file)
    if not path.is_file():
        raise check.fail(key, f"no file {given.file!r}")
    values = column_of(path, column, [task.name for task in tasks])
    return Moderator(column, given.label or column, values if categorical else _numbers(path, column, values))


def _lacking(need: str, task: Task) -> str | None:
    """Return a description of what a moderator needs and the task lacks; None if nothing is lacking."""
    if need == DOCUMENTS:
        return None if task.has_documents else "documents and queries"
    if need in (JUDGEMENTS, QRELS):
        return "judgements" if task.values_given else None
    assert need == JUDGED
    return (
        None if any(name.startswith("Judged@") for name in task.measures) else "measure Judged@k; list it in measures"
    )


def column_of(path: Path, column: str, tasks: Sequence[str]) -> dict[str, str]:
    """Return a column of the file by task, in the order of `tasks`. Raises UserError for missing or repeated values."""
    table = read_table(path, lambda fields: "task" in fields[:2])
    header = table.heading
    if header is None:
        raise UserError(f"{path}: expected a heading: task, then names of columns")
    if header.count(column) != 1 or column == "task":
        problem = "two columns" if header.count(column) > 1 else "no column"
        others = [name for name in header if name not in ("", "task")]
        raise UserError(f"{path}: {problem} {column!r}; its columns are {', '.join(others) or 'none'}")
    values: dict[str, str] = {}
    for number, fields in table.rows:
        task = fields[header.index("task")]
        if task in values:
            raise UserError(f"{table.where(number)}: task {task!r} is listed twice")
        values[task] = fields[header.index(column)]
    for task in tasks:
        if not values.get(task):
            problem = (
                f"task {task!r} has no value in column {column!r}" if task in values else f"no row for task {task!r}"
            )
            raise UserError(f"{path}: {problem}")
    return {task: values[task] for task in tasks}


def _numbers(path: Path, column: str, texts: dict[str, str]) -> dict[str, float | str]:
    """Return the values as numbers if all are numeric. Raises UserError if only some are, such as 3.5 and NA."""
    numbers = {task: finite(text) for task, text in texts.items()}
    words = [task for task, value in numbers.items() if value is None]
    if words and len(words) < len(texts):
        problem = f"column {column!r} has numbers and words, such as {texts[words[0]]!r} for task {words[0]!r}"
        raise UserError(f"{path}: {problem}; expected one or the other")
    return {task: texts[task] if value is None else value for task, value in numbers.items()}


def asked(comparison: Comparison) -> list[Moderator]:
    """Return all moderators of a comparison, including that of its subgroups."""
    return [*comparison.moderators, *([comparison.subgroups] if comparison.subgroups else [])]


def needs_counts(comparison: Comparison) -> bool:
    """Whether its moderators need counts of documents, queries or judgements."""
    return bool(_needs(comparison) & {DOCUMENTS, JUDGEMENTS})


def needs_qrels(comparison: Comparison) -> bool:
    """Whether its moderators need the judgements themselves."""
    return QRELS in _needs(comparison)


def _needs(comparison: Comparison) -> set[str]:
    known = [moderator.name for moderator in asked(comparison) if moderator.values is None]
    return {need for name in known for need in MODERATORS[name].needs}
