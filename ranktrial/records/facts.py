"""What pages and figures say of systems, tasks and measures that stands in no table of results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.ir.nouns import Nouns, nouns_of

LEARNT = "{} learnt from training queries of this task's dataset."
UNSTATED = "Not stated: what the published weights of {} were trained on."


@dataclass(frozen=True)
class Labels:
    """Display names of tasks (by folder) and systems; a name without one is its own label."""

    tasks: dict[str, str]
    systems: dict[str, str]

    def task(self, name: str) -> str:
        """The label of a task."""
        return self.tasks.get(name, name)

    def system(self, name: str) -> str:
        """The label of a system."""
        return self.systems.get(name, name)


@dataclass(frozen=True)
class Facts:
    """What is known of the systems, tasks and measures of an experiment."""

    labels: Annotated[Labels, "of tasks and systems that have one"]
    measures: Annotated[list[str], "those of all tasks, in their order"]
    systems: Annotated[list[str], "in the order of the configuration"] = field(default_factory=list)
    lower_is_better: Annotated[list[str], "the measures of which a lower value is better"] = field(default_factory=list)
    marks: Annotated[dict[str, dict[str, list[str]]], "mark: systems of which it is stated: tasks where it holds"] = (
        field(default_factory=dict)
    )

    of_tasks: Annotated[bool, "a value is the score of a task of a leaderboard, not of a query"] = False

    @property
    def nouns(self) -> Nouns:
        """The words for what the values are of."""
        return nouns_of(", ".join(self.measures), self.of_tasks)

    def marked(self, mark: str, system: str, task: str) -> bool:
        """Whether a mark holds of a system on a task."""
        return task in self.marks.get(mark, {}).get(system, ())
