"""What would be compared with itself, or counted twice: two names of one system, two tasks with the same queries."""

from __future__ import annotations

import itertools
import json
import os

from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import same_queries
from scripts.experiment.records import System, Task

UNIMPORTANT = ("licence", "label")  # keys of a model that change no score


def check_tasks(check: Checker, key: str, names: list[str], tasks: dict[str, Task]) -> None:
    """Raise UserError where two tasks of a comparison have the same queries."""
    for one, other in itertools.combinations(names, 2):
        parts = [(check.config["datasets"][tasks[name].dataset], tasks[name].split) for name in (one, other)]
        if same_queries(*parts):
            said = "have the same queries, which would count twice: the same data in the same words; leave one out"
            raise check.fail(key, f"{one!r} and {other!r} {said}")


def check_roles(
    check: Checker, key: str, pair: tuple[System, System], ranked: dict[str, str], systems: dict, scored: bool
) -> None:
    """Raise UserError where control and treatment are one system by all settings or files.

    `ranked` says, for each task, the one on which the treatment is scored. Where values are given (`scored`), two tasks
    have not the same files either; a run's file may hold the queries of several tasks.
    """
    control, treatment = pair
    if control.kind == treatment.kind == "external":
        files = {
            task: (os.path.realpath(control.settings[task]), os.path.realpath(treatment.settings[other]))
            for task, other in ranked.items()
        }
        if all(one == two for one, two in files.values()):  # of some tasks, the comparison says that there is no effect
            raise check.fail(key, f"control and treatment have the same file for each task: {', '.join(ranked)}")
        seen: dict[tuple[str, str], str] = {}
        for task, pair_of_files in files.items() if scored else ():
            first = seen.setdefault(pair_of_files, task)
            if first != task:
                said = "have the same files of scores for control and treatment, whose samples would count twice"
                raise check.fail(f"{key}.tasks", f"{first!r} and {task!r} {said}")
    elif control.name != treatment.name and any(task == other for task, other in ranked.items()):
        alike = _identity(check, control, systems) == _identity(check, treatment, systems)
        if alike:
            said = "are one system under two names: all their settings are the same"
            raise check.fail(key, f"control {control.name!r} and treatment {treatment.name!r} {said}")


def _identity(check: Checker, system: System, systems: dict[str, System]) -> str:
    """All that makes a system's runs, as text."""
    if system.kind == "external":
        return system.name
    found: dict = {"kind": system.kind, "settings": system.settings, "seeds": system.seeds, "depth": system.depth}
    found["passages"] = system.passage_length
    if system.model:
        model = check.config["models"][system.model]
        found["model"] = {name: value for name, value in model.items() if name not in UNIMPORTANT}
        found["training"] = _training(check, system.recipe)
    if system.selection:
        found["selection"] = [system.selection.dataset, system.selection.split, sorted(system.selection.score.items())]
    if system.first_stage:
        found["first stage"] = _identity(check, systems[system.first_stage], systems)
    return json.dumps(found, sort_keys=True)


def _training(check: Checker, recipe: str) -> list[dict]:
    """The recipes that a checkpoint has behind it, without their names."""
    found = []
    while recipe in check.config["recipes"]:
        entry = check.config["recipes"][recipe]
        found.append({name: value for name, value in entry.items() if name != "start_from"})
        recipe = entry["start_from"]
    return found
