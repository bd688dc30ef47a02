"""An experiment, resolved from its configuration: every name looked up, every system's seeds known.

A mistake between sections (an unknown name, two kinds of system in one) is a UserError before anything runs.
"""

from __future__ import annotations

from dataclasses import replace

from scripts.common.locations import find_file
from scripts.experiment.bm25_settings import bm25_settings
from scripts.experiment.charts import chart
from scripts.experiment.checker import Checker
from scripts.experiment.checks import (
    PASSAGE_LENGTH,
    UNTRAINED,
    check_datasets,
    check_loss,
    check_mapping,
    check_measures,
    check_models,
    check_name,
    check_published,
    check_recipes,
)
from scripts.experiment.comparisons import comparison, drawn_together
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.dataset_schema import format_of
from scripts.experiment.location_checks import check_secrets
from scripts.experiment.reading import complete
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.seed_selection import selection, selection_tasks, share_selections

KEYS_OF_KIND = {
    "bm25": {"type", "label", "tasks", "engine", "url", "analyzer", "fields", "k1", "b", "tune", "grid"},
    "external": {"type", "label", "runs", "scores"},
    "neural": {
        *("model", "label", "tasks", "recipe", "seeds", "select_seed", "rerank"),
        *("candidates", "long_documents", "passage_length"),
    },
}


def resolve(config: dict, source: str) -> Experiment:
    """Complete, check and resolve a configuration; `source` (its file name) begins each message of a UserError."""
    check_secrets(config, source)  # first, since other messages repeat what is wrong
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
        check.tuning(systems[name], tasks)
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
            if twice := [one for one in tasks.values() if (one.dataset, one.split) == (task.dataset, task.split)]:
                said = "are one split, whose queries would count twice"
                raise self.fail("tasks", f"{twice[0].name!r} and {name!r} {said}")
            if task.folder in folders:
                raise self.fail("tasks", f"{folders[task.folder]!r} and {name!r} would share a folder; rename one")
            folders[task.folder] = name
            tasks[name] = task
        return tasks

    def task(self, name: str) -> Task:
        dataset, _, split = name.partition("/")
        self.known("tasks", dataset, "datasets")
        entry = self.config["datasets"][dataset]
        check_split(self, f"tasks: {name}", dataset, split or "test")
        label = f"{entry['label']} {split}".strip() if "label" in entry else name
        form = format_of(entry)
        measures = (entry["measure"],) if form.values_given else tuple(self.config["measures"])
        kind = {"has_documents": form.has_documents, "values_given": form.values_given}
        return Task(name, dataset, split or "test", label, entry["format"], measures, **kind)

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
        made |= {"selection": selection(self, name, entry), "passage_length": self.passage_length(key, entry)} | limited
        if "rerank" not in entry:
            every_pair = self.config["models"][entry["model"]]["type"] == "cross-encoder" and "candidates" in entry
            return System(name, "score_all" if every_pair else "retrieve", **made)
        if "candidates" in entry:
            raise self.fail(key, "candidates: all and rerank exclude each other: all documents or a first stage's")
        first = entry["rerank"]["first_stage"]
        self.known(f"{key}.rerank.first_stage", first, "systems")
        return System(name, "rerank", first_stage=first, depth=entry["rerank"]["depth"], **made)

    def passage_length(self, key: str, entry: dict) -> int | None:
        """The length of passages where the system splits texts, else None."""
        if entry.get("long_documents") == "passages":
            return entry.get("passage_length", PASSAGE_LENGTH)
        if "passage_length" in entry:
            raise self.fail(key, "a passage_length is only valid with long_documents: passages")
        return None

    def external(self, key: str, entry: dict, tasks: dict[str, Task]) -> dict[str, str]:
        """Task -> the file of its run or scores, which lies here or in a mirror."""
        if not {"runs", "scores"} & set(entry):
            raise self.fail(key, "an external system needs 'runs' (or 'scores'): a run file for each task")
        files = {}
        for section in ("runs", "scores"):
            for task, path in entry.get(section, {}).items():
                self.known(f"{key}.{section}", task, "tasks")
                if tasks[task].values_given != (section == "scores"):
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
        model = self.config["models"][system.model]
        if model["type"] == "cross-encoder" and system.kind == "retrieve":
            said = "a cross-encoder cannot search a corpus alone; give it 'rerank', or 'candidates: all' (every pair)"
            raise self.fail(f"systems.{system.name}", said)
        recipe = system.recipe
        while recipe != UNTRAINED:
            check_loss(self, recipe, [model["type"]])
            recipe = self.config["recipes"][recipe]["start_from"] or UNTRAINED
        if model["backend"] == "onnx" and system.recipe != UNTRAINED:
            said = f"model {system.model} has backend onnx, which ranks only: no recipe can train it further"
            raise self.fail(f"systems.{system.name}", said)

    def tuning(self, system: System, tasks: dict[str, Task]) -> None:
        if system.kind == "bm25" and "measure" in system.settings:
            for task in tasks.values():
                if system.ranks(task.name):
                    check_split(self, f"systems.{system.name}.tune", task.dataset, "dev")

    def documents(self, system: System, tasks: dict[str, Task]) -> None:
        for task in tasks.values():
            if system.kind != "external" and system.ranks(task.name) and not task.has_documents:
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
