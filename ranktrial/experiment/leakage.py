"""The queries from which the systems behind a run learnt, and the features that would leak them to a learner.

A model's scores are better on queries on which it was trained than on any others. A learner trained with such scores
relies on them too much (Wolpert 1992, Stacked Generalization, Neural Networks 5(2)). A feature for training must
therefore come from a model that has not seen the query. Reads and writes nothing. External training and computation
(published weights, external runs, feature files) cannot be checked here.
"""

from __future__ import annotations

from typing import NamedTuple

from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.features import FeatureSet
from ranktrial.experiment.datasets import may_share_queries
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.system_types import behind, system_type

Split = tuple[str, str]  # a dataset and a split of it
OF_FIRST_STAGE = "first-stage"  # the family of features from the first stage's run


class Leak(NamedTuple):
    """A feature, the system whose score it is, and the queries from which that system learnt."""

    feature: str
    system: str
    learnt_from: Split


def learnt_from(experiment: Experiment, system: str, dataset: str) -> set[Split]:
    """Return the splits on which the systems behind a system's runs on a dataset were trained, tuned or selected.

    Splits are left out if each of their queries is ranked by a model that did not learn from it (out-of-fold).
    """
    own = experiment.systems[system]
    own_type, selection = system_type(own), own.selection
    found = set().union(*(learnt_from(experiment, name, dataset) for name in own_type.takes(own)))
    found |= own_type.learnt_from(experiment, own, dataset)
    if selection and selection.dataset != dataset:
        found.add((selection.dataset, selection.split))
    return found - own_type.unseen(experiment, own, dataset)


def tested_on_own_training(experiment: Experiment) -> dict[str, list[str]]:
    """Return, by task, the systems that rank queries from which they learnt, even under another dataset's name."""
    shared: dict[tuple[Split, Split], bool] = {}
    found: dict[str, list[str]] = {}
    for system in experiment.systems.values():
        for task in experiment.runs_of(system):
            own = (task.ranked_dataset, task.split)
            pairs = [(split, own) for split in learnt_from(experiment, system.name, own[0]) if split[1] == "train"]
            shared |= {pair: overlap(experiment, *pair) for pair in pairs if pair not in shared}
            if any(shared[pair] for pair in pairs):
                found.setdefault(task.name, []).append(system.name)
    return found


def leaks(experiment: Experiment, features: FeatureSet, queries: Split) -> list[Leak]:
    """Return the features of these queries from systems that learnt from them, even under another dataset's name."""
    found = []
    for entry in features.of:
        system = features.first_stage if entry.family == OF_FIRST_STAGE else entry.system
        if system is not None:
            seen = sorted(learnt_from(experiment, system, queries[0]))
            found += [Leak(entry.name, system, split) for split in seen if overlap(experiment, split, queries)]
    return found


def check_leaks(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if a feature of training queries comes from a system that learnt from them."""
    for name, features in experiment.features.items():
        for task in (experiment.tasks[task] for task in features.tasks):
            if task.split == "train":
                for leak in leaks(experiment, features, (task.ranked_dataset, task.split)):
                    seen = f"{leak.system} learnt from {'/'.join(leak.learnt_from)}"
                    what = f"{leak.feature} on task {task.name} would leak labels to a learner, since {seen}"
                    raise check.fail(f"features.{name}.of", f"{what}; take a system that did not see these queries")


def overlap(experiment: Experiment, first: Split, second: Split) -> bool:
    """Whether two splits are the same or, by the configuration, may share queries."""
    entries = [(experiment.datasets[dataset], split) for dataset, split in (first, second)]
    return first == second or may_share_queries(entries[0], entries[1])


def check_unseen(check: Checker, key: str, experiment: Experiment, taken: str, dataset: str) -> None:
    """Raise UserError if a system learnt from the queries on which a ranker is trained or stopped.

    Systems tuned on dev queries (BM25, a fusion) are accepted for these dev queries.
    """
    for member in behind(experiment.systems[taken], experiment.systems):
        if member.recipe_of and dataset not in member.recipe_of:
            raise check.fail(key, f"its features need runs of {member.name} on {dataset}, for which that has no recipe")
    for other, split in sorted(learnt_from(experiment, taken, dataset)):
        for own, what in (("train", "learns"), ("dev", "stops and chooses")):
            if not split == own == "dev" and overlap(experiment, (other, split), (dataset, own)):
                words = "training" if own == "train" else "dev"
                problem = f"{taken} learnt from the {words} queries of {dataset}, by which this {what}"
                if (other, split) != (dataset, own):
                    problem += f" ({other}/{split} may hold the same ones)"
                raise check.fail(key, f"{problem}: its scores there are too optimistic; train it on other data")


def check_one_seed(check: Checker, key: str, member: System, datasets: list[str]) -> None:
    """Raise UserError if a system's scores come from one seed in training and from another in ranking."""
    chosen = member.selection
    if chosen is not None and len({dataset == chosen.dataset for dataset in datasets}) > 1:
        problem = f"{member.name} selects a seed on {chosen.dataset}, where its own runs have all seeds"
        raise check.fail(key, f"{problem}: features would be of other seeds there than on the other datasets")
