"""Runs or scores made by another tool: the user's files, one per task, or several of training seeds or of folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject, Label, Needs
from ranktrial.common.urls import find_file
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import FilesOfSeeds
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.system_types import Labelled, SystemType
from ranktrial.ir.outside_table import Wanted
from ranktrial.ir.scores import check_column, seeds_in

NAME = "external"


@dataclass(frozen=True, kw_only=True)
class Keys(Labelled):
    runs: Annotated[
        FilesOfSeeds | None,
        "external: one run file per task (qid Q0 docid rank score tag, or qid docid rank score), or a list with one "
        "per training seed",
    ] = None
    scores: Annotated[
        FilesOfSeeds | None,
        "external: one file of values per task of format scores (one value per line, or a table: CSV, TSV, JSON lines, "
        "parquet; or MTEB's folder of a model's results), or a list with one per training seed",
    ] = None
    column: Annotated[
        Label | None,
        "external: this system in files with several: the heading of its values, or its name in a column of systems; a "
        "list makes one system per name",
        Needs("scores", "these files have columns"),
    ] = None
    folds: Annotated[
        bool | None,
        "external: the files of a task are folds of cross-validation, which are joined: each query is in one of them",
    ] = None


@dataclass(frozen=True)
class Settings:
    """The files of runs or scores per task, one per seed or fold, and the system's column in files of scores.

    `column` is None if the files have only one column of values. `seeds` are those that a long table names.
    """

    files: Mapping[str, tuple[str, ...]]
    column: str | None = None
    folds: bool = False
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


PLAIN_LISTS: list[tuple[str, ...]] = [("runs", "*"), ("scores", "*")]


class External(SystemType):
    computed = False
    timed = False
    needs_documents = False

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        files = _files(check, f"systems.{name}", entry, tasks)
        of_scores = {task: paths for task, paths in files.items() if task in (entry.scores or {})}
        if entry.column:
            _check_columns(check, f"systems.{name}", of_scores, entry.column)
        seeds = {} if entry.folds else _named_seeds(check, f"systems.{name}.scores", of_scores, entry.column, tasks)
        settings = Settings(files, entry.column, bool(entry.folds), seeds)
        numbers = _numbers(check, f"systems.{name}", settings)
        return System(name, NAME, entry.label or name, seeds=numbers, settings=settings, tasks=tuple(files))

    def files(self, system: System) -> list[str]:
        return [file for files in system.own(Settings).files.values() for file in files]

    def scored_again(self, system: System, again: dict[str, str]) -> System:
        settings = system.own(Settings)
        files = {**settings.files, **{task: settings.files[other] for task, other in again.items()}}
        return replace(system, settings=replace(settings, files=files))

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {"name": system.name}  # equality of two external systems is decided by their files, task by task

    def describe(self, experiment: Experiment, system: System) -> str:
        several = f", {len(system.seeds)} seeds" if len(system.seeds) > 1 else ""
        return f"external files{', folds joined' if system.own(Settings).folds else several}"

    def trainings(self, experiment: Experiment, system: System, task: Task) -> list[str]:
        return list(system.own(Settings).seeds.get(task.name, ()))

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        return {"method": "external"}


TYPE = External()


def files_of(system: System, task: str) -> tuple[str, ...]:
    """Return the files of a system's runs or scores on a task, in the order of its seeds or folds."""
    return system.own(Settings).files[task]


def sources_of(system: System, task: str, seed: int) -> list[str]:
    """Return the files behind a system's run or scores with one seed: several if they are folds."""
    settings = system.own(Settings)
    files = settings.files[task]
    return list(files) if settings.folds or len(files) == 1 else [files[system.seeds.index(seed)]]


def seed_named(system: System, task: str, seed: int) -> str | None:
    """Return the name of a seed in a long table; None if no column names seeds."""
    named = system.own(Settings).seeds.get(task, ())
    return named[system.seeds.index(seed)] if len(named) > 1 else None


def column_of(system: System) -> str | None:
    """Return the heading of a system's column in files of scores; None if they have only one column."""
    return system.own(Settings).column


def _files(check: Checker, key: str, entry: Keys, tasks: dict[str, Task]) -> dict[str, tuple[str, ...]]:
    """Return task -> the files of its runs or scores, found locally or in a mirror. UserError if one is missing."""
    if not entry.runs and not entry.scores:
        raise check.fail(key, "an external system needs 'runs' (or 'scores'): a run file for each task")
    files = {}
    for section, named in (("runs", entry.runs), ("scores", entry.scores)):
        for task, given in (named or {}).items():
            if _left_out(check.config, task):
                continue
            check.known(f"{key}.{section}", task, "tasks")
            if task not in tasks:
                problem = "takes the runs of another task (runs_of); name that task, and this one follows"
                raise check.fail(f"{key}.{section}.{task}", problem)
            form = tasks[task].format
            if tasks[task].values_given != (section == "scores"):
                expected = "scores: it has no qrels" if section == "runs" else "runs: it has qrels"
                raise check.fail(f"{key}.{section}.{task}", f"a task of format {form} takes {expected}")
            paths = (given,) if isinstance(given, str) else given
            files[task] = tuple(_found(check, f"{key}.{section}.{task}", path, section == "scores") for path in paths)
    if not files:
        raise check.fail(key, f"has no file for any of the tasks {', '.join(check.config.tasks)}")
    return files


def _left_out(config: Configuration, task: str) -> bool:
    """Whether a task is one of a dataset of which no task is in use: files for it wait until it is."""
    dataset = task.partition("/")[0]
    return dataset in config.datasets and not any(used.partition("/")[0] == dataset for used in config.tasks)


def _found(check: Checker, key: str, path: str, of_scores: bool) -> str:
    """Return the file, here or in a mirror, or a folder of results. Raises UserError if there is none."""
    file = find_file(path, check.config.mirrors) or (path if Path(path).is_dir() and of_scores else None)
    if file is None:
        raise check.fail(key, f"no file {path!r} here or in the mirrors")
    return file


def _named_seeds(
    check: Checker, key: str, files: Mapping[str, tuple[str, ...]], column: str | None, tasks: Mapping[str, Task]
) -> dict[str, tuple[str, ...]]:
    """Return task -> the seeds of the system that its one file of scores names, if it is a long table with several.

    Tasks with the same seeds have them in one order, that of the first. Raises UserError for tasks that share some.
    """
    named: dict[str, tuple[str, ...]] = {}
    for task, of_task in files.items():
        wanted = Wanted(column, tasks[task].name, tasks[task].measures[0])
        seeds = tuple(seeds_in(Path(of_task[0]), wanted)) if len(of_task) == 1 else ()
        for other, known in list(named.items()):
            if set(seeds) == set(known):
                seeds = known
            elif common := set(seeds) & set(known):
                problem = f"has the seed {min(common)} of {other}, but not all its seeds ({', '.join(known)})"
                raise check.fail(f"{key}.{task}", f"{problem}; expected the same, or none in common")
        if len(seeds) > 1:
            named[task] = seeds
    return named


def _numbers(check: Checker, key: str, settings: Settings) -> tuple[int, ...]:
    """Return the seeds: 0 for a single run, or 1, 2, … UserError unless all tasks have as many, or are single."""
    if settings.folds:
        return (0,)
    counts = {task: len(settings.seeds.get(task, files)) for task, files in settings.files.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} for {task}" for task, count in counts.items())
        raise check.fail(key, f"has a different number of seeds on its tasks ({listed}); expected one number for all")
    count = next(iter(counts.values()))
    return (0,) if count == 1 else tuple(range(1, count + 1))


def _check_columns(check: Checker, key: str, files: Mapping[str, tuple[str, ...]], column: str) -> None:
    """Check that each file of scores has the column."""
    for file in dict.fromkeys(file for of_task in files.values() for file in of_task):
        try:
            check_column(Path(file), column)
        except UserError as error:
            raise check.fail(f"{key}.column", str(error)) from None
