"""Lookup of systems and tasks by name, including names of fanned-out entries; reads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import System, Task


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
