"""A ranker learnt from features of queries and candidates; it orders the candidates of the features' first stage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, cast

from ranktrial.common.keys import NULL, OTHERS, JsonObject, NameOrNames, Names, Not, Rule, Written, given, stated
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.configuration.feature_names import select
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.configuration.sections.features import AskedFeature, FeatureEntry
from ranktrial.experiment.datasets import check_split
from ranktrial.experiment.features import DEPTH, check_whole
from ranktrial.experiment.leakage import check_one_seed, check_unseen
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import Made, SystemType, behind, limited_to
from ranktrial.experiment.systems import _neural
from ranktrial.ir.measure_names import cutoff, parse
from ranktrial.learning_to_rank.learners import Learner, Value, known

MOST_COMBINATIONS = 200


@dataclass(frozen=True, kw_only=True)
class LearnerKeys:
    """A learner with its parameters, each a value or a grid."""

    type: Annotated[str, "name of the learner"]
    parameters: Annotated[Mapping[str, object], OTHERS] = field(default_factory=dict)


def learner_of(check: Checker, key: str, asked: str | LearnerKeys) -> tuple[str, dict[str, list[Value]]]:
    """Return the learner and the values of each parameter. Raises UserError for an unknown or invalid parameter."""
    entry = LearnerKeys(type=asked) if isinstance(asked, str) else asked
    learners, name = known(), entry.type
    if name not in learners:
        raise check.fail(key, f"unknown learner {name!r}{hint(name, learners)}; expected one of {', '.join(learners)}")
    learner: Learner = learners[name]
    values: dict[str, list[Value]] = {parameter: [one.default] for parameter, one in learner.PARAMETERS.items()}
    for parameter, value in entry.parameters.items():
        if parameter not in learner.PARAMETERS:
            meant = hint(parameter, learner.PARAMETERS)
            raise check.fail(key, f"unknown parameter {parameter!r}{meant}; {name} has {', '.join(learner.PARAMETERS)}")
        values[parameter] = value if isinstance(value, list) else [cast(Value, value)]
        for one in values[parameter]:
            if mistake := learner.PARAMETERS[parameter].mistake(one):
                raise check.fail(f"{key}.{parameter}", mistake)
        if not values[parameter] or len(set(values[parameter])) < len(values[parameter]):
            raise check.fail(f"{key}.{parameter}", "expected at least one value, and none twice")
    if (number := math.prod(map(len, values.values()))) > MOST_COMBINATIONS:
        raise check.fail(key, f"{number:,} combinations of parameters; expected at most {MOST_COMBINATIONS}")
    return name, values


NAME = "learning-to-rank"
Selected = Annotated[tuple[str | Names | None, ...], Rule(min_items=1, unique_items=True)]


@dataclass(frozen=True, kw_only=True)
class Keys(Made):
    features: Annotated[str, "learning-to-rank: name of the feature set that it learns from"]
    only: Annotated[
        str | tuple[str, ...] | None,
        Written(str | Selected | None),
        "learning-to-rank: features of the set that it learns from: their columns, names or families, or systems "
        "whose scores they are; a list of lists (null: all) makes one system per list, and each makes one system "
        "per feature",
        NULL,
    ] = None
    without: Annotated[
        str | tuple[str, ...] | None,
        Written(str | Selected | None),
        "learning-to-rank: features that it does not learn from, given as for only (null: none)",
        NULL,
    ] = None
    learner: Annotated[
        str | LearnerKeys,
        "learning-to-rank: lightgbm, xgboost, random-forest or linear, or {type: lightgbm, num_leaves: 7} with "
        "parameters; a list of values of a parameter is a grid that is searched on dev (docs/ranking.md)",
    ]
    train_on: Annotated[
        NameOrNames | None,
        "learning-to-rank: the dataset, or several, whose training queries it learns from; default that of each task",
    ] = None
    measure: Annotated[
        str | None,
        "learning-to-rank: measure that selects from a grid on dev and whose decrease is the feature importance; "
        "default: the first of the measures",
    ] = None
    refit: Annotated[
        bool | None,
        "learning-to-rank: true: train the model chosen on dev once more, on train and dev together; this one ranks "
        "all tasks except dev",
        Not("cross_validation"),
    ] = None
    cross_validation: Annotated[
        Annotated[int, Rule(minimum=3, maximum=100)] | None,
        "learning-to-rank: number of folds of the training queries; each is ranked by a model learnt without it and "
        "selected on the next one instead of dev",
    ] = None
    seeds: Annotated[
        _neural.Seeds | None, "learning-to-rank: number of trainings of a learner that uses random numbers"
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of learning; each parameter has one value, or several of which one is chosen on dev."""

    features: str
    learner: str
    parameters: Mapping[str, list[Value]]
    measure: str
    depth: int
    takes: tuple[str, ...]  # the systems whose runs its features are computed from
    columns: list[str] | None = None  # columns of the features; None: all
    train_on: tuple[str, ...] = ()  # datasets; empty: each task's own
    refit: bool = False  # whether the chosen ranker is trained again on train and dev
    folds: int | None = None  # of the training queries; dev is not used then

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits on which it is trained and selected."""
        return ("train",) if self.folds else ("train", "dev")


PLAIN_LISTS: list[tuple[str, ...]] = [
    ("tasks",),
    ("seeds",),
    ("train_on",),
    ("only",),
    ("without",),
    *(("learner", name) for one in known().values() for name in one.PARAMETERS),
]
OWN = "each task's own"


class LearningToRank(SystemType):
    takes_seed_by_seed = False  # if a system's score is a feature, the run of its first seed is used

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        key = f"systems.{name}"
        features = _features(check, key, entry.features)
        learner, parameters = learner_of(check, f"{key}.learner", entry.learner)
        measure = entry.measure or check.config.measures[0]
        check.computable(f"{key}.measure", measure)
        settings = Settings(
            features=entry.features,
            learner=learner,
            parameters=parameters,
            measure=measure,
            depth=cutoff(parse(measure)) or check.config.depth,
            takes=_taken(check, key, features),
            columns=select(check, key, entry.features, entry.only, entry.without),
            train_on=(entry.train_on,) if isinstance(entry.train_on, str) else entry.train_on or (),
            refit=bool(entry.refit),
            folds=entry.cross_validation,
        )
        for dataset in settings.train_on:
            check.known(f"{key}.train_on", dataset, "datasets")
        return System(
            name,
            NAME,
            entry.label or name,
            seeds=_neural.seeds(entry.seeds or 1) if _draws(settings) else (0,),
            first_stage=features.first_stage,
            depth=features.depth or min(DEPTH, check.config.depth),
            settings=settings,
            tasks=limited_to(check, name, entry),
        )

    def takes(self, system: System) -> tuple[str, ...]:
        return settings_of(system).takes

    def tuned_on(self, check: Checker, system: System, tasks: dict[str, Task]) -> list[str]:
        """Return the train and dev tasks of its training datasets, which the systems that it takes must rank."""
        datasets = learns_from(system) or list(dict.fromkeys(task.dataset for task in tasks.values()))
        for dataset in datasets:
            key = f"systems.{system.name}{'.train_on' if learns_from(system) else ''}"
            entry = check.config.datasets[dataset]
            if not format_of(entry).has_documents:
                raise check.fail(key, f"{dataset} has format {entry.format}, without documents to learn from")
            for split in settings_of(system).splits:
                check_split(check, key, dataset, split, "cross_validation" if split == "dev" else "")
        return [f"{dataset}/{split}" for dataset in datasets for split in settings_of(system).splits]

    def check_experiment(self, check: Checker, system: System, experiment: Experiment) -> None:
        """Check that the systems behind its features did not learn from its training queries or change their seed."""
        ranked = list(dict.fromkeys(task.ranked_dataset for task in experiment.runs_of(system)))
        learnt = learns_from(system) or ranked
        for taken in self.takes(system):
            for member in behind(experiment.systems[taken], experiment.systems):
                check_one_seed(check, f"systems.{system.name}", member, [*learnt, *ranked])
            for dataset in learnt:
                check_unseen(check, f"systems.{system.name}", experiment, taken, dataset)

    def training_timing(self, experiment: Experiment, system: System, task: Task, seed: int | str) -> str:
        fields = {"source": source(system, task.ranked_dataset), "system": system.name, "seed": seed}
        return path(ranked_by(system, task, "ranker_timing"), experiment=experiment.name, **fields)

    def further_timings(self, experiment: Experiment, system: System, task: Task) -> list[str]:
        features = settings_of(system).features
        if experiment.features[features].files:  # external features
            return []
        fields = {"task": experiment.ranked_task(task).folder, "features": features}
        return [path("features_timing", experiment=experiment.name, **fields)]

    def training_column(self, system: System) -> str:
        return f"learning to rank ({', '.join(learns_from(system)) or OWN})"

    def tried(self, system: System) -> int:
        combinations = math.prod(len(values) for values in settings_of(system).parameters.values())
        return combinations if combinations > 1 else 0

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(one, split) for one in learns_from(system) or [dataset] for split in settings_of(system).splits}

    def unseen(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "train")} if is_by_fold(system, dataset, "train") else set()

    def identity(self, config: Configuration, system: System) -> JsonObject:
        settings = settings_of(system)
        return {
            "settings": given(settings, "features", "takes"),
            "features": stated(config.features[settings.features]),
            "seeds": system.seeds,
            "depth": system.depth,
        }

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, system.depth or depth, taken[0])

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = settings_of(system)
        counted = _counted(settings.columns, len(experiment.features[settings.features].of))
        words = f"{known()[settings.learner].DESCRIPTION} on {counted} ({settings.features})"
        if grids := [name for name, values in settings.parameters.items() if len(values) > 1]:
            where = "the next fold" if settings.folds else "dev"
            words += f", {' and '.join(grids)} chosen on {where} by {settings.measure}"
        source = ", ".join(learns_from(system)) or "each task's dataset"
        again = " (then on its dev queries as well)" if settings.refit else ""
        again = f" in {settings.folds} folds" if settings.folds else again
        words += f", trained on {source}{again}, orders the top {system.depth} of {system.first_stage}"
        return words + (f", {len(system.seeds)} seeds" if len(system.seeds) > 1 else "")

    def candidates(self, system: System) -> str:
        return f"top {system.depth} of {system.first_stage}"

    def note_on_times(self, system: System) -> str:
        return "The time of learning to rank is that of ranking by features, without computing them."

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        settings = settings_of(system)
        of = settings.columns or [one.name for one in experiment.features[settings.features].of]
        how = given(settings, "takes", "features", "columns")
        facts = {"features": of, "reranks": system.first_stage, **how, "reranked_depth": system.depth}
        return {"method": "learning to rank", **facts}


TYPE = LearningToRank()


def settings_of(system: System) -> Settings:
    """Return the settings of a ranker."""
    return system.own(Settings)


def learns_from(system: System) -> list[str]:
    """Return the datasets whose training queries all its models learn from; empty if each task's own is used."""
    return list(settings_of(system).train_on)


def is_by_fold(system: System, dataset: str, split: str) -> bool:
    """Whether each query of a split is ranked by the model that was learnt without its fold."""
    return settings_of(system).folds is not None and split == "train" and dataset in (learns_from(system) or [dataset])


def source(system: System, dataset: str) -> str:
    """Return the path component that denotes the training datasets of the ranker of a dataset's tasks."""
    named = learns_from(system) or [dataset]
    return named[0] if len(named) == 1 else f"{len(named)}-datasets"


def ranked_by(system: System, task: Task, name: str) -> str:
    """Return the key in the table of paths for a file (`name`) of the ranker of a task.

    A refitted ranker ranks all tasks except the dev queries, which it was trained on.
    """
    learnt = learns_from(system) or [task.ranked_dataset]
    is_dev = task.split == "dev" and task.ranked_dataset in learnt
    return f"refitted_{name}" if settings_of(system).refit and not is_dev else name


def _counted(chosen: list[str] | None, of: int) -> str:
    """Return a description of the features that it learns from."""
    if chosen is None:
        return f"{of} features"
    return f"{chosen[0]} alone" if len(chosen) == 1 else f"{len(chosen)} of {of} features"


def _draws(settings: Settings) -> bool:
    """Whether the learner uses random numbers with any combination of its parameters."""
    learner, parameters = known()[settings.learner], settings.parameters
    return any(
        learner.draws({other: of[0] for other, of in parameters.items()} | {name: value})
        for name, values in parameters.items()
        for value in values
    )


def _features(check: Checker, key: str, name: str) -> FeatureEntry:
    """Return the entry of features. Raises UserError if they cannot be computed for every split."""
    sets = check.config.features
    check.known(f"{key}.features", name, "features")
    if sets[name].letor:
        problem = "are external files, one per task; expected features that are computed, also of train and dev"
        raise check.fail(f"{key}.features", f"{name} {problem}")
    check_whole(check, name, sets[name])
    return sets[name]


def _taken(check: Checker, key: str, features: FeatureEntry) -> tuple[str, ...]:
    """Return the systems from whose runs its features are computed, the first stage first."""
    scores = [one.system for one in features.of or () if isinstance(one, AskedFeature) and one.system]
    named = [str(features.first_stage), *scores]
    for name in named:
        if name not in check.config.systems:
            problem = f"its features name the system {name!r}, which is none or became several"
            systems = check.config.systems
            raise check.fail(f"{key}.features", f"{problem}{hint(name, systems)}; systems are {', '.join(systems)}")
    return tuple(dict.fromkeys(named))
