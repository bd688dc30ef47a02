"""Common parts of resolving matrices and curves: the systems and tasks that they name."""

from __future__ import annotations

from dataclasses import dataclass

from ranktrial.common.keys import NameOrNames
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.compared_measures import common_measure
from ranktrial.experiment.named import Named
from ranktrial.experiment.records import System, Task
from ranktrial.experiment.sections.charts import StudyEntry
from ranktrial.experiment.teachers import learnt_from
from ranktrial.experiment.training_stages import Chain, chain
from ranktrial.ir.measure_names import same_measure


@dataclass(frozen=True)
class Study:
    """One entry of `matrices` or `curves`, with its key and the systems and tasks that it may name."""

    named: Named
    key: str
    entry: StudyEntry

    @property
    def check(self) -> Checker:
        """The checker of the configuration."""
        return self.named.check

    def systems(self, role: str) -> list[System]:
        """Return the systems that a key names, by their own names or those of fanned-out entries."""
        given: NameOrNames | None = getattr(self.entry, role, None)
        return self.named.systems(f"{self.key}.{role}", (given,) if isinstance(given, str) else given or ())

    def baseline(self) -> System:
        """Return the system that is the baseline."""
        return self.named.system(f"{self.key}.baseline", self.entry.baseline)

    def tasks(self) -> list[Task]:
        """Return the named tasks, by default all."""
        return self.named.tasks(f"{self.key}.tasks", self.entry.tasks)

    def measure(self, tasks: list[Task]) -> str:
        """Return the experiment's name of the measure. Raises UserError if a task lacks it, or lower is better."""
        name = common_measure(self.check, f"{self.key}.measure", self.entry.measure, tasks)
        lower = self.check.config.lower_is_better
        if name in lower or any(same_measure(one, [name]) for one in lower):
            raise self.check.fail(
                f"{self.key}.measure",
                f"a lower value of {name} is better; expected a measure of which a higher value is better",
            )
        return name

    def chain(self, system: System, task: Task) -> Chain:
        """Return the trainings behind a system's checkpoint for a task."""
        return chain(self.check.config.recipes, system.recipe_on(task.ranked_dataset))

    def taught(self, system: System, task: Task) -> set[str]:
        """Return the training datasets behind a system's checkpoint for a task, including those of teachers."""
        recipe = system.recipe_on(task.ranked_dataset)
        behind = learnt_from(self.check.config.recipes, self.named.all_systems, recipe)
        return {dataset for dataset, split in behind if split == "train"}

    def ranking(self, system: System, tasks: list[Task], role: str) -> None:
        """Raise UserError unless the system has a run for each of the tasks."""
        for task in tasks:
            if not system.ranks(task.name):
                problem = f"{system.name} has no run for task {task.name!r}; list other tasks"
                raise self.check.fail(f"{self.key}.{role}", problem)

    def dataset_labels(self) -> dict[str, str]:
        """Return dataset -> label: that of its task, for datasets with exactly one task."""
        tasks_of: dict[str, list[Task]] = {}
        for task in self.named.all_tasks.values():
            tasks_of.setdefault(task.dataset, []).append(task)
        return {dataset: tasks[0].label for dataset, tasks in tasks_of.items() if len(tasks) == 1}
