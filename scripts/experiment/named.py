"""Looks up the systems and tasks that an entry names, also by the entry that systems were made from; reads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scripts.experiment.checker import Checker
from scripts.experiment.records import System, Task


@dataclass(frozen=True)
class Named:
    """What an entry of the configuration may name; `entries` are the systems that each entry became."""

    check: Checker
    entries: dict[str, list[str]]
    all_systems: dict[str, System]
    all_tasks: dict[str, Task]

    def systems(self, key: str, names: Iterable[str]) -> list[System]:
        """The systems of these names, each once. Raises UserError for an unknown one."""
        known = list(names)
        for name in known:
            if name not in self.entries:
                self.check.known(key, name, "systems")
        became = dict.fromkeys(system for name in known for system in self.entries.get(name, [name]))
        return [self.all_systems[name] for name in became]

    def system(self, key: str, name: str) -> System:
        """The one system of this name. Raises UserError where it is unknown or became several."""
        first, *others = self.systems(key, [name])
        if others:
            raise self.check.fail(key, f"{name} became {1 + len(others)} systems; name one of them")
        return first

    def tasks(self, key: str, names: str | Iterable[str]) -> list[Task]:
        """The tasks of these names; `all` are all. Raises UserError for an unknown one."""
        chosen = list(self.all_tasks if names == "all" else names)
        for name in chosen:
            self.check.known(key, name, "tasks")
        return [self.all_tasks[name] for name in chosen]
