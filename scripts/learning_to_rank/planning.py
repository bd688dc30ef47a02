"""The inputs of the learning-to-rank jobs: paths and settings (for rules/systems/learning-to-rank.smk)."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, stated
from ranktrial.common.plugins import source as plugin_file
from ranktrial.experiment.exhibits import importance
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import SELECTED, path
from ranktrial.experiment.systems.learning_to_rank import is_by_fold, learns_from, ranked_by, settings_of, source

LEARNERS = "ranktrial.learning_to_rank.learners"
SHUFFLES = 5  # shuffles per feature for its permutation importance


def all_tables(experiment: Experiment) -> list[str]:
    """The importance tables of all rankers that learn from all their features."""
    return [
        table
        for system, dataset in importance.names(experiment).values()
        for table in importance.tables(experiment, system, dataset)
    ]


def on_pages(experiment: Experiment) -> list[JsonObject]:
    """The rankers whose importance is shown on the pages, grouped into one table per source, features and measure."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for system, dataset in importance.names(experiment).values():
        settings = settings_of(experiment.systems[system])
        groups.setdefault((dataset, settings.features, settings.measure), []).append(system)
    return [
        {"source": dataset, "learnt_from": importance.learnt_from(experiment, systems[0], dataset),
         "features": features, "measure": measure, "systems": systems}
        for (dataset, features, measure), systems in groups.items()
    ]  # fmt: skip


def folders(experiment: Experiment, system: str, source: str, split: str) -> list[str]:
    """The folders of the tasks for a split of the datasets from which a ranker is learnt."""
    named = learns_from(experiment.systems[system]) or [source]
    return [experiment.task_of_split(dataset, split).folder for dataset in named]


def features(experiment: Experiment, system: str, source: str, split: str) -> list[str]:
    """The feature files of a split, one per dataset from which a ranker is learnt."""
    name = settings_of(experiment.systems[system]).features
    tasks = folders(experiment, system, source, split)
    return [path("features", experiment=experiment.name, task=task, features=name) for task in tasks]


def dev_inputs(experiment: Experiment, system: str, source: str) -> dict[str, list[str]]:
    """The features and judgements of dev (of train, with folds), one file per dataset from which a ranker is learnt."""
    ranker = experiment.systems[system]
    named, split = learns_from(ranker) or [source], settings_of(ranker).splits[-1]
    qrels = [path("qrels", experiment=experiment.name, dataset=dataset, split=split) for dataset in named]
    return {"dev": features(experiment, system, source, split), "qrels": qrels}


def training_inputs(experiment: Experiment, system: str, source: str) -> dict[str, list[str]]:
    """The features from which a ranker is learnt, and the inputs of its choice on dev."""
    train = features(experiment, system, source, "train")
    return {"train": train} | dev_inputs(experiment, system, source)


def refit_inputs(experiment: Experiment, system: str, source: str) -> dict[str, list[str]]:
    """The features of both splits."""
    return {split: features(experiment, system, source, split) for split in ("train", "dev")}


def learner_files(experiment: Experiment, system: str) -> list[str]:
    """The file of the learner that a job loads by name."""
    return [plugin_file(LEARNERS, settings_of(experiment.systems[system]).learner)]


def ranker(experiment: Experiment, system: str, task: str, seed: str, name: str = "ranker") -> str:
    """The model that ranks a task, or a file beside it: `name` as in the table of paths."""
    made, ranked = experiment.systems[system], task_in(experiment, task)
    fields = {"source": source(made, ranked.ranked_dataset), "system": system, "seed": seed}
    return path(ranked_by(made, ranked, name), experiment=experiment.name, **fields)


def ranked_features(experiment: Experiment, system: str, task: str) -> str:
    """The features of a task's candidates."""
    name = settings_of(experiment.systems[system]).features
    return path("features", experiment=experiment.name, task=task, features=name)


def training_settings(experiment: Experiment, system: str, seed: str) -> JsonObject:
    """The settings for learning a ranker and selecting it on dev."""
    assert seed != SELECTED  # the seed of a ranker is never selected on dev
    of_others, settings = ("features", "takes", "train_on", "refit"), settings_of(experiment.systems[system])
    folds = {"fold_seed": experiment.seed} if settings.folds else {}
    return {**stated(settings, *of_others), "seed": int(seed), **folds}


def refit_settings(experiment: Experiment, system: str) -> JsonObject:
    """The cut-off of nDCG when the selected ranker is learnt again."""
    return {"depth": settings_of(experiment.systems[system]).depth}


def ranking_settings(experiment: Experiment, system: str, task: str, seed: str) -> JsonObject:
    """The settings for ranking a task."""
    ranked = task_in(experiment, task)
    by_fold = is_by_fold(experiment.systems[system], ranked.ranked_dataset, ranked.split)
    return {"depth": experiment.depth, "tag": f"{system}-{seed}", **({"by_fold": True} if by_fold else {})}


def importance_settings(experiment: Experiment, system: str) -> JsonObject:
    """The settings for measuring feature importance."""
    settings = settings_of(experiment.systems[system])
    return {"measure": settings.measure, "depth": settings.depth, "shuffles": SHUFFLES, "seed": experiment.seed}
