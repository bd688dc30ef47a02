"""Scores that other tools computed: a file per task with a column per system, or a file per system and task."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePosixPath

from scripts.common.errors import UserError
from scripts.datasets.formats import scores as scores_format
from scripts.ir.scores import read_scores
from scripts.new.draft import Draft, Entries, counted
from scripts.new.kinds_of_files import value_names
from scripts.new.layouts import Contents
from scripts.new.names import as_name, stem

LOOKED_FOR = "scores (a CSV or TSV per task with a column per system, or SYSTEM/TASK.txt)"
MEASURE = "score"
HINT = (
    "Write what the values are in place of `score`. Where tasks have different measures: effect: SMD and measure_on "
    "(docs/datasets.md)."
)


def draft(contents: Contents) -> Draft | None:
    """Each task as a dataset without files of its own, each system with its scores."""
    files = contents.of("scores")
    if not files:
        return None
    headings = {file: value_names(contents.heads[file]) for file in files}
    several = any(len(names) > 1 for names in headings.values())
    systems = _of_columns(contents, headings) if several else _of_files(contents, files)
    for entry in systems.values():
        for place in entry["scores"].values():
            read_scores(Path(place), entry.get("column"))
    tasks = list(dict.fromkeys(task for entry in systems.values() for task in entry["scores"]))
    datasets: Entries = {task: {"format": scores_format.NAME, "measure": MEASURE} for task in tasks}
    what = f"scores of {counted(len(systems), 'system')} on {counted(len(tasks), 'task')}"
    return Draft(what, datasets, systems, tasks, hints=(HINT,), measure=MEASURE)


def _of_columns(contents: Contents, headings: dict[str, list[str]]) -> Entries:
    """A system for each column of values; each file is a task."""
    systems: Entries = {}
    column_of: dict[str, str] = {}
    for file, columns in headings.items():
        if not columns:
            raise UserError(
                f"{contents.folder.path(file)}:1: no heading, and other files have a column for each system"
            )
        for column in columns:
            name = as_name(column) or "system"
            if column_of.setdefault(name, column) != column:
                raise UserError(f"{contents.folder.path(file)}:1: two columns would be called {name}; rename one")
            entry = systems.setdefault(name, {"type": "external", "column": column, "scores": {}})
            task = as_name(stem(file)) or "task"
            if entry["scores"].setdefault(task, contents.folder.location(file)) != contents.folder.location(file):
                raise UserError(f"{contents.folder.place}: two files would be the task {task}; rename one")
    return systems


def _of_files(contents: Contents, files: list[str]) -> Entries:
    """A system for each file, of one task; or for each folder, where several have files of the same names."""
    below = {file: str(PurePosixPath(*PurePosixPath(file).parts[1:])) for file in files if "/" in file}
    by_folder = len(below) == len(files) > len(set(below.values()))
    task_of = _task_names(set(below.values())) if by_folder else {}
    systems: Entries = {}
    for file in files:
        task = task_of[below[file]] if by_folder else as_name(contents.folder.name) or "task"
        system = as_name(PurePosixPath(file).parts[0] if by_folder else stem(file)) or "system"
        scores = systems.setdefault(system, {"type": "external", "scores": {}})["scores"]
        if task in scores:
            problem = f"{scores[task]} and {file} would both be {system} on {task}"
            raise UserError(f"{contents.folder.place}: {problem}; rename one")
        scores[task] = contents.folder.location(file)
    return systems


def _task_names(files: Collection[str]) -> dict[str, str]:
    """File below a system's folder -> its task: by the shortest of file, folder and path that differs for each."""
    namings = [
        stem,
        lambda file: PurePosixPath(file).parent.name,
        lambda file: str(PurePosixPath(file).with_suffix("")),
    ]
    tried = [{file: as_name(naming(file)) or "task" for file in files} for naming in namings]
    different = [names for names in tried if len(set(names.values())) == len(names)]
    return min(different or tried[-1:], key=lambda names: sum(map(len, names.values())))
