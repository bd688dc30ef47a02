"""Resolution of the systems of an experiment: type, seeds, and the further tasks for which runs are needed."""

from __future__ import annotations

from dataclasses import replace

from ranktrial.experiment import system_types
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.choosing import ranked_to_choose
from ranktrial.experiment.mining import ranked_to_mine
from ranktrial.experiment.records import System, Task
from ranktrial.experiment.seed_selection import share_selections
from ranktrial.experiment.system_types import system_type, takes
from ranktrial.experiment.tasks import add_task


def resolve_systems(check: Checker, tasks: dict[str, Task]) -> tuple[dict[str, System], dict[str, Task]]:
    """Return the systems by name, and the further tasks: for selection, tuning, training or mining.

    Raises UserError for conflicts within a system or between systems and tasks. A task that uses the runs of another is
    not ranked itself: the runs of each system that ranks the other task are scored there too.
    """
    every, tasks = tasks, {name: task for name, task in tasks.items() if not task.runs_of}
    systems = {}
    for name, entry in check.config.systems.items():
        systems[name] = system_types.modules()[entry.type].TYPE.resolve(check, name, entry, tasks)
    systems = share_selections(check, systems)
    further = _selection_tasks(check, systems, tasks)
    order = _takers_last(check, systems)
    for name in order:
        systems[name] = system_type(systems[name]).with_seeds(check, systems[name], systems)
        system_type(systems[name]).check(check, systems[name], tasks)
        _check_documents(check, systems[name], tasks)
    _check_runs(check, systems, tasks)
    _add_tuning_tasks(check, systems, tasks, further, order)
    return {name: _scored_again(check, system, every) for name, system in systems.items()}, further


def _scored_again(check: Checker, system: System, tasks: dict[str, Task]) -> System:
    """Return the system with the tasks that use its runs. Raises UserError if it names only such a task."""
    if system.tasks is None:
        return system
    ranked = {(tasks[name].dataset, tasks[name].split): name for name in system.tasks}
    again = {
        task.name: ranked[task.runs_of, task.split]
        for task in tasks.values()
        if task.runs_of and (task.runs_of, task.split) in ranked
    }
    for name in system.tasks:
        if tasks[name].runs_of and name not in again:
            problem = f"{name!r} takes the runs of {tasks[name].runs_of}; name that task, and this one follows"
            raise check.fail(f"systems.{system.name}.tasks", problem)
    names = dict.fromkeys([*system.tasks, *again])
    return replace(system_type(system).scored_again(system, again), tasks=tuple(names))


def _takers_last(check: Checker, systems: dict[str, System]) -> list[str]:
    """Return the names of the systems, each after those whose runs it takes. Raises UserError for a cycle."""
    order: list[str] = []
    open_names: list[str] = []

    def visit(name: str) -> None:
        if name in open_names:
            circle = " -> ".join([*open_names[open_names.index(name) :], name])
            raise check.fail(f"systems.{name}", f"refers to itself: {circle}")
        if name not in order:
            open_names.append(name)
            for taken in takes(systems[name]):
                visit(taken)
            open_names.pop()
            order.append(name)

    for name in systems:
        visit(name)
    return order


def _selection_tasks(check: Checker, systems: dict[str, System], tasks: dict[str, Task]) -> dict[str, Task]:
    """Return the tasks on which seeds are selected and that are not in `tasks`."""
    further: dict[str, Task] = {}
    for system in systems.values():
        if system.selection:
            add_task(check, f"systems.{system.name}.select_seed.task", system.selection.task, tasks, further)
    return further


def _check_documents(check: Checker, system: System, tasks: dict[str, Task]) -> None:
    """Raise UserError if a system that needs documents has a task without them."""
    for task in tasks.values():
        if system_type(system).needs_documents and system.ranks(task.name) and not task.has_documents:
            message = f"needs documents, but task {task.name!r} has format {task.format}: external systems only"
            raise check.fail(f"systems.{system.name}", message)


def _check_runs(check: Checker, systems: dict[str, System], tasks: dict[str, Task]) -> None:
    """Raise UserError unless the systems that a system takes have runs for all tasks that it ranks."""
    for system in systems.values():
        for name in takes(system):
            for task in tasks:
                if system.ranks(task) and not systems[name].ranks(task):
                    raise check.fail(f"systems.{system.name}", f"{_role(system, name)} has no run for {task}")


def _add_tuning_tasks(
    check: Checker, systems: dict[str, System], tasks: dict[str, Task], further: dict[str, Task], order: list[str]
) -> None:
    """Add the tasks of tuning, mining and selection to `further`; check that all systems taken have runs there.

    The systems that a system takes need its further runs as well, so each system is visited before those that it takes.
    """
    needed: dict[str, dict[str, Task]] = {name: {} for name in systems}
    to_choose = ranked_to_choose(check, systems, tasks, further)
    for name, task in [*ranked_to_mine(check, systems, tasks, further), *to_choose]:
        needed[name][task.name] = task
    for name in reversed(order):
        system = systems[name]
        if system.selection and system.selection.by == name:
            task = add_task(check, f"systems.{name}.select_seed.task", system.selection.task, tasks, further)
            needed[name][task.name] = task
        ranked = {task.name: task for task in tasks.values() if system.ranks(task.name)}
        for tuning in system_type(system).tuned_on(check, system, ranked | needed[name]):
            task = add_task(check, f"systems.{name}.tune", tuning, tasks, further)
            needed[name][task.name] = task
        for taken in takes(system):
            needed[taken] |= needed[name]
            for task_name in needed[name]:
                if not system_type(systems[taken]).computed and not systems[taken].ranks(task_name):
                    raise check.fail(f"systems.{name}", f"{_role(system, taken)} has no run for {task_name}")


def _role(system: System, taken: str) -> str:
    return f"its first stage {taken}" if taken == system.first_stage else f"its system {taken}"
