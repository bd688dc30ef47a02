"""Runs or scores made by another tool: the user's files, one per task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from scripts.common.errors import UserError
from scripts.common.keys import LEFT_OUT, JsonObject, Label
from scripts.common.locations import find_file
from scripts.experiment.checker import Checker
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.sections.configuration import Configuration
from scripts.experiment.sections.synthesis import FilesOfTasks
from scripts.experiment.systems._system_type import Labelled, SystemType
from scripts.ir.scores import check_column

NAME = "external"


@dataclass(frozen=True, kw_only=True)
class Keys(Labelled):
    runs: Annotated[
        FilesOfTasks | None,
        "external: one run file per task (qid Q0 docid rank score tag, or qid docid rank score)",
        LEFT_OUT,
    ] = None
    scores: Annotated[
        FilesOfTasks | None,
        "external: one file of values per task of format scores (one value per line, or a table: CSV, TSV, JSON lines, "
        "parquet)",
        LEFT_OUT,
    ] = None
    column: Annotated[
        Label | None,
        "external: this system in files with several: the heading of its values, or its name in a column of systems; a "
        "list makes one system per name",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True)
class Settings:
    """The file of runs or scores per task, and the heading of the system's column in files of scores.

    `column` is None if the files have only one column of values.
    """

    files: Mapping[str, str]
    column: str | None = None


REFERENCES: dict[tuple[str, ...], str] = {}
PLAIN_LISTS: list[tuple[str, ...]] = []


class External(SystemType):
    computed = False
    timed = False
    needs_documents = False

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        files = _files(check, f"systems.{name}", entry, tasks)
        if entry.column and not entry.scores:
            raise check.fail(f"systems.{name}.column", "only valid with scores, whose files have columns")
        if entry.column:
            _check_columns(check, f"systems.{name}", {task: files[task] for task in entry.scores or {}}, entry.column)
        settings = Settings(files, entry.column)
        return System(name, NAME, entry.label or name, settings=settings, tasks=tuple(files))

    def files(self, system: System) -> list[str]:
        return list(files_of(system).values())

    def scored_again(self, system: System, again: dict[str, str]) -> System:
        settings = system.own(Settings)
        files = {**settings.files, **{task: settings.files[other] for task, other in again.items()}}
        return replace(system, settings=replace(settings, files=files))

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {"name": system.name}  # equality of two external systems is decided by their files, task by task

    def describe(self, experiment: Experiment, system: System) -> str:
        return "external files"

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        return {"method": "external"}


TYPE = External()


def files_of(system: System) -> Mapping[str, str]:
    """Return task -> the file of a system's run or scores."""
    return system.own(Settings).files


def column_of(system: System) -> str | None:
    """Return the heading of a system's column in files of scores; None if they have only one column."""
    return system.own(Settings).column


def _files(check: Checker, key: str, entry: Keys, tasks: dict[str, Task]) -> dict[str, str]:
    """Return task -> the file of its run or scores, found locally or in a mirror. Raises UserError if it is missing."""
    if not entry.runs and not entry.scores:
        raise check.fail(key, "an external system needs 'runs' (or 'scores'): a run file for each task")
    files = {}
    for section, named in (("runs", entry.runs), ("scores", entry.scores)):
        for task, path in (named or {}).items():
            check.known(f"{key}.{section}", task, "tasks")
            if task not in tasks:
                problem = "takes the runs of another task (runs_of); name that task, and this one follows"
                raise check.fail(f"{key}.{section}.{task}", problem)
            form = tasks[task].format
            if tasks[task].values_given != (section == "scores"):
                expected = "scores: it has no qrels" if section == "runs" else "runs: it has qrels"
                raise check.fail(f"{key}.{section}.{task}", f"a task of format {form} takes {expected}")
            file = find_file(path, check.config.mirrors)
            if file is None:
                raise check.fail(f"{key}.{section}.{task}", f"no file {path!r} here or in the mirrors")
            files[task] = file
    return files


def _check_columns(check: Checker, key: str, files: Mapping[str, str], column: str) -> None:
    """Check that each file of scores has the column."""
    for file in files.values():
        try:
            check_column(Path(file), column)
        except UserError as error:
            raise check.fail(f"{key}.column", str(error)) from None
