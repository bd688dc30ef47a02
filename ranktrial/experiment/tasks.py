"""Resolution of the tasks of an experiment, and lookup of systems and tasks by name; reads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of, given_measure
from ranktrial.experiment.datasets import check_split, known_splits
from ranktrial.experiment.records import System, Task
from ranktrial.ir.measure_names import by_subtopic, follows_instructions


def resolve_tasks(check: Checker) -> dict[str, Task]:
    """Return the tasks by name. Raises UserError for two tasks of the same split, or with the same results folder."""
    tasks: dict[str, Task] = {}
    folders: dict[str, str] = {}
    for name in check.config.tasks:
        task = resolve_task(check, name)
        same = [other for other in tasks.values() if (other.dataset, other.split) == (task.dataset, task.split)]
        if same:
            message = "are one split, whose queries would count twice"
            raise check.fail("tasks", f"{same[0].name!r} and {name!r} {message}")
        if task.folder in folders:
            raise check.fail("tasks", f"{folders[task.folder]!r} and {name!r} would share a folder; rename one")
        folders[task.folder] = name
        tasks[name] = task
    for task in tasks.values():
        if task.runs_of and not any(
            (other.dataset, other.split) == (task.runs_of, task.split) for other in tasks.values()
        ):
            problem = f"takes the runs of {task.runs_of}/{task.split} (runs_of), which is not among the tasks; add it"
            raise check.fail("tasks", f"{task.name!r} {problem}")
    _check_needs(check, list(tasks.values()))
    return tasks


def _check_needs(check: Checker, tasks: list[Task]) -> None:
    """Raise UserError unless tasks fit the measures: judgements by subtopic, or a task with changed instructions."""
    entries = {task.name: check.config.datasets[task.dataset] for task in tasks if not task.values_given}
    for measure in filter(by_subtopic, check.config.measures):
        for name, entry in entries.items():
            if not getattr(entry, "subtopics", False):
                problem = f"{measure!r} needs judgements by subtopic, which task {name!r} lacks"
                raise check.fail("measures", f"{problem}; its dataset may state subtopics: true (formats trec, qrels)")
    if not any(map(follows_instructions, check.config.measures)):
        return
    splits = {(task.dataset, task.split) for task in tasks}
    changed = {(entries[task.name].changed_from, task.split) for task in tasks if task.name in entries}
    for task in tasks:
        if task.name in entries and (before := entries[task.name].changed_from) and (before, task.split) not in splits:
            problem = f"{task.name!r} changes the instructions of {before}/{task.split}, which is not among the tasks"
            raise check.fail("tasks", f"{problem}; add it, with which pMRR compares it")
        if task.name in entries and not before and (task.dataset, task.split) not in changed:
            problem = f"'pMRR' compares two tasks, and no dataset states changed_from: {task.dataset}"
            raise check.fail("measures", f"{problem} (task {task.name!r})")


def resolve_task(check: Checker, name: str, judged: bool = True) -> Task:
    """Return a task by its name: dataset (its test split) or dataset/split. Raises UserError for an unknown name.

    A task that is only ranked, not scored, need not be `judged`.
    """
    dataset, _, split = name.partition("/")
    check.known("tasks", dataset, "datasets")
    entry = check.config.datasets[dataset]
    form = format_of(entry)
    if judged:
        is_train = not split and known_splits(entry) == {"train"} and not form.generated
        check_split(check, f"tasks: {name}", dataset, split or "test", f"{dataset}/train" if is_train else "")
    label = f"{entry.label} {split}".strip() if entry.label else name
    measures = (str(given_measure(entry)),) if form.values_given else check.config.measures
    return Task(
        name,
        dataset,
        split or "test",
        label,
        entry.format,
        measures,
        has_documents=form.has_documents,
        values_given=form.values_given,
        runs_of=entry.runs_of,
        judge=getattr(entry, "judge", None),
    )


def add_task(
    check: Checker, key: str, name: str, tasks: dict[str, Task], added: dict[str, Task], judged: bool = True
) -> Task:
    """Return the task of this name; add it to `added`, unless `added` or `tasks` already has a task of its split.

    Raises UserError, naming the key, if its results would be in the folder of another task.
    """
    task = resolve_task(check, name, judged)
    for other in (tasks | added).values():
        if (other.dataset, other.split) == (task.dataset, task.split):
            return other
        if other.folder == task.folder:
            raise check.fail(key, f"{task.name!r} and another task would share a folder; rename one")
    added[name] = task
    return task


@dataclass(frozen=True)
class Named:
    """The systems and tasks that can be named; `entries` maps each entry to the systems made from it."""

    check: Checker
    entries: dict[str, list[str]]
    all_systems: dict[str, System]
    all_tasks: dict[str, Task]

    def systems(self, key: str, names: Iterable[str]) -> list[System]:
        """Return the systems of these names, each once. Raises UserError for an unknown name."""
        known = list(names)
        for name in known:
            if name not in self.entries:
                self.check.known(key, name, "systems")
        became = dict.fromkeys(system for name in known for system in self.entries.get(name, [name]))
        return [self.all_systems[name] for name in became]

    def system(self, key: str, name: str) -> System:
        """Return the system of this name. Raises UserError if it is unknown or was fanned out into several."""
        first, *others = self.systems(key, [name])
        if others:
            raise self.check.fail(key, f"{name} became {1 + len(others)} systems; name one of them")
        return first

    def tasks(self, key: str, names: str | Iterable[str]) -> list[Task]:
        """Return the tasks of these names, or all for `all`. Raises UserError for an unknown name."""
        chosen = list(self.all_tasks if names == "all" else names)
        for name in chosen:
            self.check.known(key, name, "tasks")
        return [self.all_tasks[name] for name in chosen]
