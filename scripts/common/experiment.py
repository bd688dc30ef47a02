"""The records of an experiment: tasks, systems, and what the rules ask it: which runs, seeds and checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field

from scripts.common.charts import Chart
from scripts.common.checks import UNTRAINED
from scripts.common.comparisons import Comparison
from scripts.common.selection import SELECTED, Selection, task_of


@dataclass(frozen=True)
class Task:
    """A dataset's split on which systems are scored, by `measures`. `format` is the dataset's."""

    name: str
    dataset: str
    split: str
    label: str
    format: str
    measures: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The task's name in paths."""
        return self.name.replace("/", "-")


@dataclass(frozen=True)
class System:
    """Anything that yields a run for a task. `settings` are those of its kind (BM25's parameters, external files).

    `piece_length` is that of the pieces into which texts are split, None where the model truncates them.
    """

    name: str
    kind: str  # bm25 | external | retrieve | rerank | score_all
    label: str = ""
    seeds: tuple[int, ...] = (0,)
    selection: Selection | None = None
    model: str | None = None
    recipe: str = UNTRAINED
    first_stage: str | None = None
    depth: int | None = None
    piece_length: int | None = None
    settings: dict = field(default_factory=dict)
    tasks: tuple[str, ...] | None = None  # None: all

    def ranks(self, task: str) -> bool:
        """Whether it has a run (or scores) for the task of this name."""
        return task in self.settings if self.kind == "external" else self.tasks is None or task in self.tasks


@dataclass(frozen=True)
class Experiment:
    """Everything that one configuration asks for, in the configuration's order."""

    name: str
    measures: list[str]
    depth: int
    seed: int
    mirrors: list[str]
    datasets: dict[str, dict]
    models: dict[str, dict]
    recipes: dict[str, dict]
    systems: dict[str, System]
    tasks: dict[str, Task]
    selection_tasks: dict[str, Task]  # further ones, on which seeds are selected
    comparisons: dict[str, Comparison]
    figures: dict[str, tuple[str, ...]]
    charts: dict[str, Chart]
    entries: dict[str, list[str]]  # of systems: the systems that each became
    published: dict | None
    actor: dict | None = None

    def runs_of(self, system: System) -> list[Task]:
        """The tasks for which a system has a run."""
        return [task for task in self.tasks.values() if system.ranks(task.name)]

    def corpus_owner(self, dataset: str) -> str:
        """The dataset under whose name a dataset's corpus lies: itself, unless it shares another's."""
        return self.datasets[dataset].get("corpus", dataset)

    def seeds_on(self, system: System, task: Task) -> tuple[int | str, ...]:
        """The seeds of a system's runs on a task: all, or the one that was selected on another dataset."""
        chosen = system.selection
        return system.seeds if chosen is None or chosen.dataset == task.dataset else (SELECTED,)

    def first_stage_seed(self, system: System, seed: int | str, task: Task) -> int | str:
        """The seed of the first stage's run on a task that a re-ranker's `seed` is given."""
        seeds = self.seeds_on(self.systems[system.first_stage], task)
        return seed if seed in seeds else seeds[0]

    def selection_task(self, chosen: Selection) -> Task:
        """The task on which a selection is made."""
        return task_of(chosen, self.tasks | self.selection_tasks)

    def starting_seed(self, recipe: str, seed: int) -> int:
        """The seed of the checkpoint from which `recipe` starts when trained with `seed`."""
        return seed if self.recipes[recipe]["start_from"] else 0
