"""An experiment's records: tasks, systems, comparisons and plans of studies, and queries on them for the rules."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ranktrial.configuration.sections.comparison import Figure, MultipleComparison, Plan
from ranktrial.configuration.sections.configuration import Explorer, Unchanged
from ranktrial.configuration.sections.features import FeatureSet
from ranktrial.configuration.sections.recipe import UNTRAINED as UNTRAINED
from ranktrial.configuration.sections.recipe import Recipe, RecipeChoice
from ranktrial.datasets.formats.judge import Judge
from ranktrial.experiment.results_paths import SELECTED
from ranktrial.experiment.synthesis_records import Curves, Matrix
from ranktrial.statistics.method import Statistics


@dataclass(frozen=True)
class StudyPlans:
    """The plans of the next study, by name.

    A plan is named after a comparison, whose variances it uses, or has `assumed` variances. `configured` plans are made
    with the other results, all others on demand.
    """

    configured: bool
    plans: Mapping[str, Plan]


OF_EACH = ""  # the `recipe` of a system with one recipe per dataset
Own = TypeVar("Own")


@dataclass(frozen=True)
class Task:
    """A split of a dataset on which systems are scored by `measures`; `format` is that of the dataset.

    Without documents, only external systems can be scored; with `values_given`, they supply scores instead of runs.
    With `runs_of`, the name of another dataset, the runs on that dataset's same split are scored by other judgements;
    with `judge`, these are made by a language model.
    """

    name: str
    dataset: str
    split: str
    label: str
    format: str
    measures: tuple[str, ...]
    has_documents: bool = True
    values_given: bool = False
    runs_of: str | None = None
    judge: Judge | None = None

    @property
    def ranked_dataset(self) -> str:
        """The dataset whose queries and documents its runs contain."""
        return self.runs_of or self.dataset

    @property
    def folder(self) -> str:
        """The task's name in paths."""
        return self.name.replace("/", "-")


@dataclass(frozen=True)
class Selection:
    """The selection of a seed: the best run of system `by` on `task`, by the weighted mean of the measures `score`."""

    task: str
    dataset: str
    split: str
    score: dict[str, float]
    by: str

    @property
    def formula(self) -> str:
        """The score as text."""
        parts = [measure if weight == 1 else f"{weight:g} {measure}" for measure, weight in self.score.items()]
        total = sum(self.score.values())
        return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})/{total:g}"

    @property
    def checkpoint(self) -> str:
        """The seed's replacement in checkpoint names; several systems may select different seeds of one training."""
        return f"{SELECTED}-{self.by}"


@dataclass(frozen=True)
class System:
    """Anything that yields a run for a task.

    `settings` is a record of its type (BM25's parameters, external files, settings of a fusion). Texts are split into
    passages of at most `passage_length` characters; if it is None, the model truncates them. A system with a training
    per dataset has a recipe for each dataset in `recipe_of`, and none in `recipe`.
    """

    name: str
    type: str  # the NAME of a module in ranktrial/experiment/systems/
    label: str = ""
    seeds: tuple[int, ...] = (0,)
    selection: Selection | None = None
    choice: RecipeChoice | None = None
    model: str | None = None
    recipe: str = UNTRAINED
    recipe_of: dict[str, str] = field(default_factory=dict)
    first_stage: str | None = None
    depth: int | None = None
    passage_length: int | None = None
    truncate_dim: int | None = None  # first dimensions of its model's vectors; None: all
    settings: object = None
    tasks: tuple[str, ...] | None = None  # None: all

    def own(self, record: builtins.type[Own]) -> Own:
        """Return its settings, as the record that its type has for them."""
        assert isinstance(self.settings, record)
        return self.settings

    def ranks(self, task: str) -> bool:
        """Whether it has a run (or scores) for the task of this name."""
        return self.tasks is None or task in self.tasks

    def recipe_on(self, dataset: str) -> str:
        """Return the recipe of the checkpoint that ranks a dataset's tasks; UNTRAINED for a model's own weights."""
        return self.recipe_of[dataset] if self.recipe_of else self.recipe

    @property
    def recipes(self) -> tuple[str, ...]:
        """All recipes of its checkpoints; empty if nothing is trained."""
        named = dict.fromkeys(self.recipe_of.values()) if self.recipe_of else [self.recipe]
        return tuple(recipe for recipe in named if recipe != UNTRAINED)


@dataclass(frozen=True)
class Moderator:
    """A variable that may explain differences between effects: known for each task, or the user's `values` by task."""

    name: str
    label: str
    values: Mapping[str, float | str] | None = None


@dataclass(frozen=True)
class Comparison:
    """A comparison of control and treatment over tasks, with the settings of its `statistics` and its `figure`.

    `treatment_on` maps some of the tasks to another task, on which the treatment ranks the same queries. `gain_over`
    maps both systems to those whose values are subtracted from theirs; empty: no gains are compared. `subgroups` is
    the moderator whose values group the tasks. p-values are adjusted within a `family`: the comparisons that name it,
    or all that name none. With `measure_on`, each task has its own measure, and that of `statistics` lists them all.
    """

    name: str
    control: str
    treatment: str
    tasks: tuple[str, ...]
    statistics: Statistics
    figure: Figure
    treatment_on: dict[str, str] = field(default_factory=dict)
    gain_over: dict[str, str] = field(default_factory=dict)
    measure_on: dict[str, str] = field(default_factory=dict)
    moderators: tuple[Moderator, ...] = ()
    subgroups: Moderator | None = None
    family: str = ""

    @property
    def bases(self) -> dict[str, str]:
        """Role -> the system over which its gain is compared; empty without gains."""
        roles = {"control": self.control, "treatment": self.treatment}
        return {role: self.gain_over[name] for role, name in roles.items()} if self.gain_over else {}

    def names(self, systems: Callable[[str], str] = str, tasks: Callable[[str], str] = str) -> tuple[str, str]:
        """Return the names or labels of what is compared: control and treatment, or their gains; the treatment's with,
        if it ranks other tasks, the names of these.
        """
        control, treatment = (
            f"{systems(name)} minus {systems(self.gain_over[name])}" if self.gain_over else systems(name)
            for name in (self.control, self.treatment)
        )
        others = dict.fromkeys(tasks(self.treatment_on.get(task, task)) for task in self.tasks)
        return control, f"{treatment} on {', '.join(others)}" if self.treatment_on else treatment


@dataclass(frozen=True, kw_only=True, eq=False)  # equal only to itself, so derived values can be cached
class Experiment(Unchanged):
    """The resolved content of one configuration, in its order."""

    systems: dict[str, System]
    tasks: dict[str, Task]
    selection_tasks: dict[str, Task] = field(default_factory=dict)  # for selection, tuning, training or mining
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    figures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    families: dict[str, MultipleComparison] = field(default_factory=dict)  # names all systems and tasks, control first
    entries: dict[str, list[str]] = field(default_factory=dict)  # entry of `systems` -> the systems made from it
    exhibits: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # kind of figure -> resolved entries
    study: StudyPlans = field(default_factory=lambda: StudyPlans(False, {}))
    features: dict[str, FeatureSet] = field(default_factory=dict)
    matrices: Mapping[str, Matrix] = field(default_factory=dict)
    curves: Mapping[str, Curves] = field(default_factory=dict)
    explorer: Explorer = field(default_factory=Explorer)

    @property
    def name(self) -> str:
        """Its name, which is that of its folder."""
        return self.experiment

    def is_lower_better(self, comparison: Comparison) -> bool:
        """Whether a lower value of a comparison's measures is better; the same for all of them."""
        measures = [*comparison.measure_on.values(), comparison.statistics.measure]
        return measures[0] in self.lower_is_better

    def runs_of(self, system: System) -> list[Task]:
        """The tasks for which a system has a run."""
        return [task for task in self.tasks.values() if system.ranks(task.name)]

    def corpus_owner(self, dataset: str) -> str:
        """Return the dataset that owns a dataset's corpus: itself, unless it shares another's."""
        ranked = self.datasets[dataset].runs_of or dataset
        return self.datasets[ranked].corpus or ranked

    def ranked_task(self, task: Task) -> Task:
        """Return the task on which the runs of a task are made: itself, unless it uses another dataset's runs."""
        return self.task_of_split(task.runs_of, task.split) if task.runs_of else task

    def seeds_on(self, system: System, task: Task) -> tuple[int | str, ...]:
        """Return the seeds of a system's runs on a task: all, or the one selected on another dataset."""
        chosen = system.selection
        return system.seeds if chosen is None or chosen.dataset == task.ranked_dataset else (SELECTED,)

    def first_stage_seed(self, system: System, seed: int | str, task: Task) -> int | str:
        """Return the seed of the first stage's run on a task that a re-ranker with `seed` uses."""
        assert system.first_stage is not None  # a re-ranker has one
        return self.seed_taken(system.first_stage, seed, task)

    def seed_taken(self, name: str, seed: int | str, task: Task) -> int | str:
        """Return the seed of the run of system `name` on a task that another system with `seed` uses."""
        seeds = self.seeds_on(self.systems[name], task)
        return seed if seed in seeds else seeds[0]

    def selection_task(self, chosen: Selection) -> Task:
        """Return the task on which a selection is made."""
        return self.task_of_split(chosen.dataset, chosen.split)

    def task_of_split(self, dataset: str, split: str) -> Task:
        """Return the task for a dataset's split, under any name, among the reported and the further tasks."""
        every = (self.tasks | self.selection_tasks).values()
        return next(task for task in every if (task.dataset, task.split) == (dataset, split))

    def chain(self, recipe: str | None) -> dict[str, Recipe]:
        """Return a recipe and those that its training starts from, by name, the last training first."""
        behind = {}
        while recipe and recipe != UNTRAINED:
            behind[recipe] = self.recipes[recipe]
            recipe = self.recipes[recipe].start_from
        return behind

    def starting_seed(self, recipe: str, seed: int) -> int:
        """Return the seed of the checkpoint from which `recipe` starts when trained with `seed`."""
        entry = self.recipes[recipe]
        if not entry.start_from:
            return 0
        return seed if entry.start_seed == "same" else entry.start_seed
