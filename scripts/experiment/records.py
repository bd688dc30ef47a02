"""An experiment's records: tasks, systems, comparisons of two and of many; and what the rules ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from scripts.datasets.formats.judge import Judge
from scripts.experiment.chart_records import Chart
from scripts.experiment.choice_record import RecipeChoice
from scripts.experiment.feature_records import FeatureSet
from scripts.experiment.plan_records import StudyPlans
from scripts.experiment.results_paths import SELECTED
from scripts.experiment.sections.configuration import Actor, Published
from scripts.experiment.sections.dataset import Dataset
from scripts.experiment.sections.explorer import Explorer
from scripts.experiment.sections.figure import Figure
from scripts.experiment.sections.recipe import UNTRAINED as UNTRAINED
from scripts.experiment.sections.recipe import Recipe
from scripts.experiment.sections.synthesis import Statistics
from scripts.experiment.transfer_records import Curves, Matrix
from scripts.models.kernels import FAST, Kernels
from scripts.models.model_keys import Model

OF_EACH = ""  # stands for the recipe of a system that has one for each dataset
Own = TypeVar("Own")


@dataclass(frozen=True)
class Task:
    """A dataset's split on which systems are scored, by `measures`. `format` is the dataset's.

    Without documents only external systems can be scored; where values are given, these bring them instead of runs.
    With `runs_of`, the name of another dataset, the runs on the same split of that one are scored by other judgements,
    which with `judge` are those of a language model.
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
        """The dataset whose queries and documents its runs are of."""
        return self.runs_of or self.dataset

    @property
    def folder(self) -> str:
        """The task's name in paths."""
        return self.name.replace("/", "-")


@dataclass(frozen=True)
class Selection:
    """The seed is the best of the runs of system `by` on `task`, by the weighted mean of measures `score`."""

    task: str
    dataset: str
    split: str
    score: dict[str, float]
    by: str

    @property
    def formula(self) -> str:
        """The score in words."""
        parts = [measure if weight == 1 else f"{weight:g} {measure}" for measure, weight in self.score.items()]
        total = sum(self.score.values())
        return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})/{total:g}"

    @property
    def checkpoint(self) -> str:
        """What stands for the seed in the names of checkpoints, which several systems may choose among."""
        return f"{SELECTED}-{self.by}"


@dataclass(frozen=True)
class System:
    """Anything that yields a run for a task.

    `settings` is a record of its kind (BM25's parameters, external files, how runs are fused). Texts are split into
    passages of at most `passage_length` characters; if it is None, the model truncates them. A system that is trained
    for each dataset apart has a recipe in `recipe_of` for each of them, and none in `recipe`.
    """

    name: str
    kind: str  # the NAME of a module in scripts/experiment/systems/
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

    def own(self, record: type[Own]) -> Own:
        """Its settings, by the record that its kind has for them."""
        assert isinstance(self.settings, record)
        return self.settings

    def ranks(self, task: str) -> bool:
        """Whether it has a run (or scores) for the task of this name."""
        return self.tasks is None or task in self.tasks

    def recipe_on(self, dataset: str) -> str:
        """The recipe of the checkpoint that ranks the tasks of a dataset; UNTRAINED for a model's own weights."""
        return self.recipe_of[dataset] if self.recipe_of else self.recipe

    @property
    def recipes(self) -> tuple[str, ...]:
        """All recipes of its checkpoints; none where nothing is trained."""
        named = dict.fromkeys(self.recipe_of.values()) if self.recipe_of else [self.recipe]
        return tuple(recipe for recipe in named if recipe != UNTRAINED)


@dataclass(frozen=True)
class Moderator:
    """What may explain why effects differ: known of tasks by this name or, with `values` by task, given by the user."""

    name: str
    label: str
    values: Mapping[str, float | str] | None = None


@dataclass(frozen=True)
class Comparison:
    """Control against treatment over tasks; `statistics` say how it is computed, `figure` how it looks.

    `treatment_on` says, for some of the tasks, on which other task the treatment ranks the same queries. `subgroups` is
    the moderator by whose words the tasks are grouped. p-values are adjusted within a `family`: the comparisons that
    name it, or all that name none. With `measure_on` each task has a measure of its own, and that of `statistics` names
    them all.
    """

    name: str
    control: str
    treatment: str
    tasks: tuple[str, ...]
    statistics: Statistics
    figure: Figure
    treatment_on: dict[str, str] = field(default_factory=dict)
    measure_on: dict[str, str] = field(default_factory=dict)
    moderators: tuple[Moderator, ...] = ()
    subgroups: Moderator | None = None
    family: str = ""

    def named(self, treatment: str, tasks: Callable[[str], str] = str) -> str:
        """The treatment's name or label and, where it ranks on other tasks, these."""
        others = dict.fromkeys(tasks(self.treatment_on.get(task, task)) for task in self.tasks)
        return f"{treatment} on {', '.join(others)}" if self.treatment_on else treatment


@dataclass(frozen=True)
class Family:
    """Many systems at once, tested together: all pairs of them, or all `against` one."""

    name: str
    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    measure: str
    against: str | None
    statistic: str
    alpha: float
    permutations: int
    title: str


@dataclass(frozen=True, eq=False)  # equal to itself alone: what is derived from it can be kept
class Experiment:
    """Everything that one configuration asks for, in the configuration's order."""

    name: str
    measures: tuple[str, ...]
    depth: int
    seed: int
    mirrors: tuple[str, ...]
    datasets: Mapping[str, Dataset]
    models: Mapping[str, Model]
    recipes: Mapping[str, Recipe]
    systems: dict[str, System]
    tasks: dict[str, Task]
    selection_tasks: dict[str, Task]  # further ones, on which seeds are selected or weights tuned
    comparisons: dict[str, Comparison]
    figures: dict[str, tuple[str, ...]]
    families: dict[str, Family]
    charts: dict[str, Chart]
    entries: dict[str, list[str]]  # of systems: the systems that each became
    published: Published | None
    references: str | None = None
    actor: Actor | None = None
    lower_is_better: tuple[str, ...] = ()  # measures, by the names that tasks give them
    study: StudyPlans = field(default_factory=lambda: StudyPlans(False, {}))
    features: dict[str, FeatureSet] = field(default_factory=dict)
    matrices: Mapping[str, Matrix] = field(default_factory=dict)
    curves: Mapping[str, Curves] = field(default_factory=dict)
    shards: int = 1  # jobs into which the encoding of each corpus is split
    device: str = "auto"  # or cpu: where models of torch run
    kernels: Kernels = FAST  # or library: what they compute with
    explorer: Explorer = field(default_factory=Explorer)
    word_pieces: str | None = None  # the model whose tokenizer counts them
    font: str | None = None  # of all figures
    timing: str = "shared"  # or exclusive: searches and rankings run one at a time

    @property
    def kernels_of_jobs(self) -> dict[str, str]:
        """The setting of jobs that compute by a model: none with the default."""
        return {} if self.kernels == FAST else {"kernels": self.kernels}

    def is_lower_better(self, comparison: Comparison) -> bool:
        """Whether a lower value of a comparison's measures is better, which is alike for all of them."""
        measures = [*comparison.measure_on.values(), comparison.statistics.measure]
        return measures[0] in self.lower_is_better

    def runs_of(self, system: System) -> list[Task]:
        """The tasks for which a system has a run."""
        return [task for task in self.tasks.values() if system.ranks(task.name)]

    def corpus_owner(self, dataset: str) -> str:
        """The dataset under whose name a dataset's corpus lies: itself, unless it shares another's."""
        ranked = self.datasets[dataset].runs_of or dataset
        return self.datasets[ranked].corpus or ranked

    def ranked_task(self, task: Task) -> Task:
        """The task on which the runs of a task are made: itself, unless it takes another dataset's."""
        return self.task_of_split(task.runs_of, task.split) if task.runs_of else task

    def seeds_on(self, system: System, task: Task) -> tuple[int | str, ...]:
        """The seeds of a system's runs on a task: all, or the one that was selected on another dataset."""
        chosen = system.selection
        return system.seeds if chosen is None or chosen.dataset == task.ranked_dataset else (SELECTED,)

    def first_stage_seed(self, system: System, seed: int | str, task: Task) -> int | str:
        """The seed of the first stage's run on a task that a re-ranker's `seed` is given."""
        assert system.first_stage is not None  # a re-ranker has one
        return self.seed_taken(system.first_stage, seed, task)

    def seed_taken(self, name: str, seed: int | str, task: Task) -> int | str:
        """The seed of the run of system `name` on a task that another system takes for its own `seed`."""
        seeds = self.seeds_on(self.systems[name], task)
        return seed if seed in seeds else seeds[0]

    def selection_task(self, chosen: Selection) -> Task:
        """The task on which a selection is made."""
        return self.task_of_split(chosen.dataset, chosen.split)

    def task_of_split(self, dataset: str, split: str) -> Task:
        """The task that is a dataset's split, whatever its name, among those that are reported and the further ones."""
        every = (self.tasks | self.selection_tasks).values()
        return next(task for task in every if (task.dataset, task.split) == (dataset, split))

    def chain(self, recipe: str | None) -> dict[str, Recipe]:
        """A recipe and those that its training starts from, by name, the last training first."""
        behind = {}
        while recipe and recipe != UNTRAINED:
            behind[recipe] = self.recipes[recipe]
            recipe = self.recipes[recipe].start_from
        return behind

    def starting_seed(self, recipe: str, seed: int) -> int:
        """The seed of the checkpoint from which `recipe` starts when trained with `seed`."""
        entry = self.recipes[recipe]
        if not entry.start_from:
            return 0
        return seed if entry.start_seed == "same" else entry.start_seed
