"""Checks that no system is compared with itself, and that no queries count twice because two tasks have them."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.dataset_keys import same_queries
from ranktrial.experiment.records import System, Task
from ranktrial.experiment.system_types import system_type, takes
from ranktrial.experiment.systems.external import column_of, files_of
from ranktrial.ir.scores import has_several_tasks

Place = tuple[tuple[str, ...], str | None, str | None]


def check_tasks(check: Checker, key: str, names: list[str], tasks: dict[str, Task]) -> None:
    """Raise UserError if two tasks of a comparison have the same queries."""
    for first, second in itertools.combinations(names, 2):
        parts = [(check.config.datasets[tasks[name].dataset], tasks[name].split) for name in (first, second)]
        if same_queries(*parts):
            problem = "have the same queries, which would count twice: the same data in the same words; leave one out"
            raise check.fail(key, f"{first!r} and {second!r} {problem}")


def check_roles(
    check: Checker,
    key: str,
    pair: tuple[System, System],
    ranked: dict[str, str],
    systems: dict[str, System],
    scored: bool,
) -> None:
    """Raise UserError if control and treatment are the same system, by all their settings or files.

    `ranked` maps each task to the one on which the treatment is scored. If values are given (`scored`), two tasks must
    not have the same files either. Runs may share a file, since it may contain the queries of several tasks.
    """
    control, treatment = pair
    if not system_type(control).computed and not system_type(treatment).computed:
        files = {task: (_place(control, task), _place(treatment, other)) for task, other in ranked.items()}
        # The same file for only some of the tasks is allowed: the comparison then reports no effect there.
        if all(of_control == of_treatment for of_control, of_treatment in files.values()):
            same = f"control and treatment have the same file for each task: {', '.join(ranked)}"
            raise check.fail(key, f"{same}; where a file has a column per system, each system names its `column`")
        seen: dict[tuple[Place, Place], str] = {}
        for task, pair_of_files in files.items() if scored else ():
            first = seen.setdefault(pair_of_files, task)
            if first != task:
                problem = "have the same files of scores for control and treatment, whose samples would count twice"
                raise check.fail(f"{key}.tasks", f"{first!r} and {task!r} {problem}")
    elif control.name != treatment.name and any(task == other for task, other in ranked.items()):
        alike = _identity(check, control, systems) == _identity(check, treatment, systems)
        if alike:
            problem = "are one system under two names: all their settings are the same"
            raise check.fail(key, f"control {control.name!r} and treatment {treatment.name!r} {problem}")


def check_different(
    check: Checker, key: str, members: list[System], tasks: list[str], systems: dict[str, System]
) -> None:
    """Raise UserError if two systems are the same, by all their settings or by their files for these tasks."""
    first: dict[str, System] = {}
    for system in members:
        if system_type(system).computed:
            made_of = _identity(check, system, systems)
        else:
            made_of = json.dumps([_place(system, task) for task in tasks])
        same = first.setdefault(made_of, system)
        if same is not system:
            raise check.fail(key, f"{same.name!r} and {system.name!r} are one system under two names")


def _place(system: System, task: str) -> Place:
    """Return the files of an external system's run or scores of a task, and column and task if these have several."""
    files = files_of(system, task)
    part = task if any(has_several_tasks(Path(file), task) for file in files) else None
    return tuple(map(os.path.realpath, files)), column_of(system), part


def _identity(check: Checker, system: System, systems: dict[str, System]) -> str:
    """Return all settings on which a system's runs depend, as text."""
    made_of: dict[str, object] = {"type": system.type, **system_type(system).identity(check.config, system)}
    made_of["takes"] = [_identity(check, systems[name], systems) for name in takes(system)]
    return json.dumps(made_of, sort_keys=True)
