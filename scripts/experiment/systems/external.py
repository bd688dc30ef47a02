"""Runs or scores that another tool made: the user's own files, one per task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from scripts.common.keys import LEFT_OUT, Label
from scripts.common.locations import find_file
from scripts.experiment.checker import Checker
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.sections.configuration import Configuration
from scripts.experiment.sections.synthesis import FilesOfTasks
from scripts.experiment.systems._kind import Labelled, SystemKind

NAME = "external"


@dataclass(frozen=True, kw_only=True)
class Keys(Labelled):
    runs: Annotated[
        FilesOfTasks | None,
        "external: a run file for each task (qid Q0 docid rank score tag, or qid docid rank score)",
        LEFT_OUT,
    ] = None
    scores: Annotated[
        FilesOfTasks | None,
        "external: one file of values per task of format scores (one value per line; or, separated by tabs or commas, "
        "an id and a value; or an id and the values of several systems, with a heading)",
        LEFT_OUT,
    ] = None
    column: Annotated[
        Label | None,
        "external: in files of the scores of several systems the heading of this one's; a list makes a system of each",
        LEFT_OUT,
    ] = None


REFERENCES: dict[tuple[str, ...], str] = {}
PLAIN_LISTS: list[tuple[str, ...]] = []


class External(SystemKind):
    computed = False
    timed = False
    needs_documents = False

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        files = _files(check, f"systems.{name}", entry, tasks)
        if entry.column and not entry.scores:
            raise check.fail(f"systems.{name}.column", "only valid with scores, whose files have columns")
        return System(name, NAME, entry.label or name, settings=files, tasks=tuple(files), column=entry.column)

    def files(self, system: System) -> list[str]:
        return list(system.settings.values())

    def identity(self, config: Configuration, system: System) -> dict[str, Any]:
        return {"name": system.name}  # two external systems are compared by their files, task by task

    def describe(self, experiment: Experiment, system: System) -> str:
        return "external files"

    def provenance(self, experiment: Experiment, system: System) -> dict[str, Any]:
        return {"method": "external"}


KIND = External()


def _files(check: Checker, key: str, entry: Keys, tasks: dict[str, Task]) -> dict[str, str]:
    """Task -> the file of its run or scores, which lies here or in a mirror. Raises UserError where none does."""
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
