"""What the jobs of learning to rank are given: paths and settings (for rules/systems/learning-to-rank.smk)."""

from __future__ import annotations

from functools import partial

from scripts.common.keys import JsonObject, stated
from scripts.common.plugins import source as plugin_file
from scripts.experiment.drawing import Drawing, Drawings
from scripts.experiment.job_files import task_in
from scripts.experiment.records import Experiment
from scripts.experiment.results_paths import FIGURE_FORMATS, SELECTED, path
from scripts.experiment.systems.learning_to_rank import NAME, learns_from, ranked_by, settings_of, source

LEARNERS = "scripts.learning_to_rank.learners"
SHUFFLES = 5  # of each feature, for its importance


def asked(experiment: Experiment) -> list[str]:
    """The tables of importance of all rankers that learn from all their features, and the figures of each."""
    found: dict[str, None] = {}
    for system, dataset in _learning_from_all(experiment):
        fields = {"experiment": experiment.name, "source": dataset, "system": system}
        found |= dict.fromkeys(importance_tables(experiment, system, dataset))
        found |= {path("importance_figure", **fields, figure_format=form): None for form in FIGURE_FORMATS}
    return list(found)


def all_tables(experiment: Experiment) -> list[str]:
    """The tables of importance of all rankers that learn from all their features."""
    return [
        table
        for system, dataset in _learning_from_all(experiment)
        for table in importance_tables(experiment, system, dataset)
    ]


def on_pages(experiment: Experiment) -> JsonObject:
    """The rankers whose importance the pages show: those of one source, set of features and measure in one table."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for system, dataset in _learning_from_all(experiment):
        settings = settings_of(experiment.systems[system])
        groups.setdefault((dataset, settings.features, settings.measure), []).append(system)
    shown = [
        {"source": dataset, "learnt_from": _learnt_from(experiment, systems[0], dataset), "features": features,
         "measure": measure, "systems": systems}
        for (dataset, features, measure), systems in groups.items()
    ]  # fmt: skip
    return {"rankers": shown} if shown else {}


def drawings(experiment: Experiment) -> Drawings:
    """The figures of importance, by their names."""
    return {
        f"importance/{dataset}/{system}": partial(_drawing, experiment, system, dataset)
        for system, dataset in _learning_from_all(experiment)
    }


def _learning_from_all(experiment: Experiment) -> list[tuple[str, str]]:
    """The rankers that learn from all their features, with each dataset that they are learnt from."""
    return [
        (system.name, dataset)
        for system in experiment.systems.values()
        if system.kind == NAME and settings_of(system).columns is None
        for dataset in dict.fromkeys(source(system, task.ranked_dataset) for task in experiment.runs_of(system))
    ]


def _drawing(experiment: Experiment, system: str, dataset: str) -> Drawing:
    inputs = {"tables": importance_tables(experiment, system, dataset)}
    return Drawing("reports/draw_importance.py", "Importance", inputs, figure_settings(experiment, system, dataset))


def importance_tables(experiment: Experiment, system: str, source: str) -> list[str]:
    """The importance of each feature to a ranker, one table per seed."""
    fields = {"experiment": experiment.name, "source": source, "system": system}
    return [path("ranker_importance", **fields, seed=seed) for seed in experiment.systems[system].seeds]


def folders(experiment: Experiment, system: str, source: str, split: str) -> list[str]:
    """The folders of the tasks that are a split of the datasets that it is learnt from."""
    named = learns_from(experiment.systems[system]) or [source]
    return [experiment.task_of_split(dataset, split).folder for dataset in named]


def features(experiment: Experiment, system: str, source: str, split: str) -> list[str]:
    """The feature files of a split, one per dataset that it is learnt from."""
    name = settings_of(experiment.systems[system]).features
    tasks = folders(experiment, system, source, split)
    return [path("features", experiment=experiment.name, task=task, features=name) for task in tasks]


def dev_judgements(experiment: Experiment, system: str, source: str) -> list[str]:
    """The dev judgements, one file per dataset that it is learnt from."""
    named = learns_from(experiment.systems[system]) or [source]
    return [path("qrels", experiment=experiment.name, dataset=dataset, split="dev") for dataset in named]


def learner_file(experiment: Experiment, system: str) -> str:
    """The file of the learner that a job loads by name, below scripts/."""
    return plugin_file(LEARNERS, settings_of(experiment.systems[system]).learner).removeprefix("scripts/")


def ranker(experiment: Experiment, system: str, task: str, seed: str, name: str = "ranker") -> str:
    """The model that ranks a task, or what lies beside it: `name` as in the table of paths."""
    made, ranked = experiment.systems[system], task_in(experiment, task)
    fields = {"source": source(made, ranked.ranked_dataset), "system": system, "seed": seed}
    return path(ranked_by(made, ranked, name), experiment=experiment.name, **fields)


def ranked_features(experiment: Experiment, system: str, task: str) -> str:
    """The features of a task's candidates."""
    name = settings_of(experiment.systems[system]).features
    return path("features", experiment=experiment.name, task=task, features=name)


def training_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """What is learnt, and how it is chosen."""
    assert seed != SELECTED  # no seed of these is selected
    of_others = ("features", "takes", "train_on", "refit")
    return {**stated(settings_of(experiment.systems[system]), *of_others), "seed": int(seed)}


def refit_settings(experiment: Experiment, system: str) -> JsonObject:
    """Where nDCG is cut while the chosen ranker is learnt again."""
    return {"depth": settings_of(experiment.systems[system]).depth}


def ranking_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """How a task is ranked."""
    return {"depth": experiment.depth, "tag": f"{system}-{seed}"}


def importance_settings(experiment: Experiment, system: str) -> JsonObject:
    """What a feature's importance is a fall of."""
    settings = settings_of(experiment.systems[system])
    return {"measure": settings.measure, "depth": settings.depth, "shuffles": SHUFFLES, "seed": experiment.seed}


def figure_settings(experiment: Experiment, system: str, source: str) -> JsonObject:
    """The words of a figure of importance."""
    title = f"{experiment.systems[system].label}, learnt from {_learnt_from(experiment, system, source)}"
    return {"title": title, "measure": settings_of(experiment.systems[system]).measure}


def _learnt_from(experiment: Experiment, system: str, source: str) -> str:
    """The labels of the datasets that a ranker is learnt from."""
    named = learns_from(experiment.systems[system]) or [source]
    return ", ".join(experiment.datasets[dataset].label or dataset for dataset in named)
