"""Bar charts of means, with the systems of one model side by side: the section `charts` of a configuration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.common.keys import Label, Name, Names, Rule, Title, given
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import AllOrNames
from ranktrial.experiment.descriptions import model_names
from ranktrial.experiment.drawing import Bars, Chart
from ranktrial.experiment.exhibits import Exhibit, Shown
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.tasks import Named
from ranktrial.ir.measure_names import same_measure

NAME = "bars"
PREFIX, DESCRIPTION = "chart-", "charts"
CATEGORY = "Means"
CAPTION = "Bars of the mean of a measure by system, as defined by the configuration's charts."
MOST_BARS = 6  # per row: the number of colours
SystemsByLabel = Annotated[dict[Label, Names], Rule(min_properties=1)]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A bar chart of means."""

    systems: Annotated[
        Names | SystemsByLabel,
        "one bar per model; or several, as a mapping of labels (such as random, hard) to systems",
    ]
    tasks: Annotated[AllOrNames, "tasks, each with bars of its own"] = "all"
    measures: Annotated[Names, "measures, each with bars of its own"]
    baseline: Annotated[str | None, "a system drawn as a line"] = None
    title: Annotated[Title, "title of the figure"] = ""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The section."""

    charts: Annotated[dict[Name, Entry], "bar charts of means, with the systems of one model side by side"] = field(
        default_factory=dict
    )


def resolve(named: Named) -> dict[str, Chart]:
    """Return the charts by name: the system of each bar, and the model of each row.

    Raises UserError for an unknown name, for a task without a run or measure, and for two systems in the same bar.
    """
    given_charts = named.check.own(Keys).charts
    return {name: _Resolver(named, f"charts.{name}").chart(entry) for name, entry in given_charts.items()}


def names(experiment: Experiment) -> list[str]:
    """The figures of all charts."""
    return [PREFIX + name for name in experiment.exhibits[NAME]]


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The table of means, and the resolved chart."""
    means = [path("means", experiment=experiment.name)]
    return Exhibit({"means": means}, given(experiment.exhibits[NAME][name.removeprefix(PREFIX)]))


def shown(experiment: Experiment, name: str) -> Shown:
    """Below the tables of means."""
    return Shown(section="means", caption=name, shows=f"Bar chart {name}. The tables of means have the numbers.")


@dataclass(frozen=True)
class _Resolver:
    named: Named
    key: str

    @property
    def check(self) -> Checker:
        return self.named.check

    def chart(self, entry: Entry) -> Chart:
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
