"""An experiment, resolved from its configuration: every name looked up, every system's seeds known.

The rules ask it which jobs there are; a mistake between sections (an unknown name, two kinds of system in one) is a
UserError before anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from scripts.common.bm25 import bm25_settings
from scripts.common.charts import Chart, chart
from scripts.common.checker import Checker
from scripts.common.checks import (
    UNTRAINED,
    WITHOUT_DOCUMENTS,
    check_datasets,
    check_mapping,
    check_measures,
    check_models,
    check_name,
    check_published,
    check_recipes,
)
from scripts.common.comparisons import Comparison, comparison, drawn_together
from scripts.common.config import complete
from scripts.common.selection import SELECTED, Selection, selection, selection_tasks, share_selections, task_of
from scripts.common.sources import find_file

KEYS_OF_KIND = {
    "bm25": {"type", "label", "tasks", "engine", "url", "analyzer", "fields", "k1", "b", "tune", "grid"},
    "external": {"type", "label", "runs", "scores"},
    "neural": {"model", "label", "tasks", "recipe", "seeds", "select_seed", "rerank"},
}


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
    """Anything that yields a run for a task. `settings` are those of its kind (BM25's parameters, external files)."""

    name: str
    kind: str  # bm25 | external | retrieve | rerank
    label: str = ""
    seeds: tuple[int, ...] = (0,)
    selection: Selection | None = None
    model: str | None = None
    recipe: str = UNTRAINED
    first_stage: str | None = None
    depth: int | None = None
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


def resolve(config: dict, source: str) -> Experiment:
    """Complete, check and resolve a configuration; `source` (its file name) begins each message of a UserError."""
    config, origins = complete(config, source)
    entries: dict[str, list[str]] = {}
    for name in config["systems"]:
        entries.setdefault(origins["systems", name], []).append(name)
    check = _Checker(config, source)
    for check_section in (check_name, check_datasets, check_models, check_recipes, check_measures, check_published):
        check_section(check)
    check_mapping(check, entries)
    tasks = check.tasks()
    systems = {name: check.system(name, entry, tasks) for name, entry in config["systems"].items()}
    systems = share_selections(check, systems)
    others = selection_tasks(check, systems, tasks, check.task)
    for name in systems:
        systems[name] = check.seeds(systems[name], systems)
        check.neural_fit(systems[name])
        check.documents(systems[name], tasks)
        check.first_stage_tasks(systems[name], systems, tasks, others)
    check.labels({name: one.label for name, one in systems.items()}, "systems")
    check.labels({name: one.label for name, one in tasks.items()}, "tasks")
    comparisons = {name: comparison(check, name, systems, tasks) for name in config["comparisons"]}
    experiment = Experiment(
        name=config["experiment"],
        measures=config["measures"],
        depth=config["depth"],
        seed=config["seed"],
        mirrors=config["mirrors"],
        datasets=config["datasets"],
        models=config["models"],
        recipes=config["recipes"],
        systems=systems,
        tasks=tasks,
        selection_tasks=others,
        comparisons=comparisons,
        figures=drawn_together(check, comparisons),
        charts={name: chart(check, name, entries, systems, tasks) for name in config["charts"]},
        entries=entries,
        published=config.get("published"),
        actor=config.get("actor"),
    )
    for system in systems.values():
        check.first_stage_seeds(system, experiment)
    return experiment


class _Checker(Checker):
    def tasks(self) -> dict[str, Task]:
        tasks: dict[str, Task] = {}
        folders: dict[str, str] = {}
        for name in self.config["tasks"]:
            task = self.task(name)
            if task.folder in folders:
                raise self.fail("tasks", f"{folders[task.folder]!r} and {name!r} would share a folder; rename one")
            folders[task.folder] = name
            tasks[name] = task
        return tasks

    def task(self, name: str) -> Task:
        dataset, _, split = name.partition("/")
        self.known("tasks", dataset, "datasets")
        entry = self.config["datasets"][dataset]
        if entry["format"] in WITHOUT_DOCUMENTS and (split or "test") not in entry.get("qrels", ["test"]):
            raise self.fail("tasks", f"{name}: {dataset} has no judgements for the split {split or 'test'}")
        label = f"{entry['label']} {split}".strip() if "label" in entry else name
        measures = (entry["measure"],) if entry["format"] == "scores" else tuple(self.config["measures"])
        return Task(name, dataset, split or "test", label, entry["format"], measures)

    def labels(self, labels: dict[str, str], section: str) -> None:
        for name, label in labels.items():
            other = next(other for other, its in labels.items() if its == label)
            if other != name:
                raise self.fail(section, f"{other} and {name} have the same label {label!r}")

    def system(self, name: str, entry: dict, tasks: dict[str, Task]) -> System:
        key, label = f"systems.{name}", entry.get("label", name)
        kind = entry.get("type", "neural")
        alien = sorted(set(entry) - KEYS_OF_KIND[kind])
        if alien:
            what = f"a system of type {kind}" if "type" in entry else "a system without a type (so one with a model)"
            raise self.fail(key, f"{what} cannot have {', '.join(map(repr, alien))}")
        if kind == "external":
            return System(name, "external", label, settings=self.external(key, entry, tasks))
        ranked = entry.get("tasks", "all")
        for task in ranked if ranked != "all" else []:
            self.known(f"{key}.tasks", task, "tasks")
        limited = {"tasks": None if ranked == "all" else tuple(ranked)}
        if kind == "bm25":
            return System(name, "bm25", label, settings=bm25_settings(self, key, entry), **limited)
        if "model" not in entry:
            raise self.fail(key, "a system needs type: bm25, type: external or a model")
        self.known(f"{key}.model", entry["model"], "models")
        if "recipe" in entry:
            self.known(f"{key}.recipe", entry["recipe"], "recipes")
        elif "seeds" in entry:
            raise self.fail(key, "seeds without a recipe: nothing is trained")
        count = entry.get("seeds", 1)
        seeds = (tuple(count) if isinstance(count, list) else tuple(range(1, count + 1))) if "recipe" in entry else (0,)
        made = {"label": label, "model": entry["model"], "recipe": entry.get("recipe", UNTRAINED), "seeds": seeds}
        made |= {"selection": selection(self, name, entry)} | limited
        if "rerank" not in entry:
            return System(name, "retrieve", **made)
        first = entry["rerank"]["first_stage"]
        self.known(f"{key}.rerank.first_stage", first, "systems")
        return System(name, "rerank", first_stage=first, depth=entry["rerank"]["depth"], **made)

    def external(self, key: str, entry: dict, tasks: dict[str, Task]) -> dict[str, str]:
        """Task -> the file of its run or scores, which lies here or in a mirror."""
        if not {"runs", "scores"} & set(entry):
            raise self.fail(key, "an external system needs 'runs' (or 'scores'): a run file for each task")
        files = {}
        for section in ("runs", "scores"):
            for task, path in entry.get(section, {}).items():
                self.known(f"{key}.{section}", task, "tasks")
                if (tasks[task].format == "scores") != (section == "scores"):
                    wanted = "scores: it has no qrels" if section == "runs" else "runs: it has qrels"
                    raise self.fail(f"{key}.{section}.{task}", f"a task of format {tasks[task].format} takes {wanted}")
                files[task] = find_file(path, self.config["mirrors"])
                if files[task] is None:
                    raise self.fail(f"{key}.{section}.{task}", f"no file {path!r} here or in the mirrors")
        return files

    def seeds(self, system: System, systems: dict[str, System]) -> System:
        if system.kind != "rerank":
            return system
        first = self.seeds(systems[system.first_stage], systems)
        if system.recipe == UNTRAINED:
            return replace(system, seeds=first.seeds, selection=first.selection)
        if first.seeds != (0,) and not set(system.seeds) <= set(first.seeds):
            raise self.fail(
                f"systems.{system.name}", f"its seeds {system.seeds} are not those of {first.name} {first.seeds}"
            )
        return system

    def first_stage_seeds(self, system: System, experiment: Experiment) -> None:
        if system.selection is None or system.kind != "rerank":
            return
        first = experiment.systems[system.first_stage]
        for task in (*experiment.tasks.values(), experiment.selection_task(system.selection)):
            theirs = experiment.seeds_on(first, task)
            if len(theirs) > 1 and not set(experiment.seeds_on(system, task)) <= set(theirs):
                said = f"its first stage {first.name} has several seeds on {task.name}; give that a select_seed too"
                raise self.fail(f"systems.{system.name}.select_seed", said)

    def neural_fit(self, system: System) -> None:
        if system.model is None:
            return
        if self.config["models"][system.model]["type"] == "cross-encoder" and system.kind == "retrieve":
            raise self.fail(f"systems.{system.name}", "a cross-encoder cannot search a corpus alone; give it 'rerank'")

    def documents(self, system: System, tasks: dict[str, Task]) -> None:
        for task in tasks.values():
            if system.kind != "external" and system.ranks(task.name) and task.format in WITHOUT_DOCUMENTS:
                said = f"needs documents, but task {task.name!r} has format {task.format}: external systems only"
                raise self.fail(f"systems.{system.name}", said)

    def first_stage_tasks(
        self, system: System, systems: dict[str, System], tasks: dict[str, Task], others: dict[str, Task]
    ) -> None:
        if system.kind == "rerank":
            first = systems[system.first_stage]
            missing = [name for name in tasks if system.ranks(name) and not first.ranks(name)]
            if first.kind == "external" and system.selection:
                missing += [name for name in others if not first.ranks(name)]
            if missing:
                said = f"its first stage {system.first_stage} has no run for {missing[0]}"
                raise self.fail(f"systems.{system.name}", said)
