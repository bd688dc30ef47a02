"""Which queries a system's runs have learnt from, and which features would leak that to a learner.

A model's score of a query on which it was trained is better than it will be on any other query. A learner that is
trained with such scores trusts them too much (Wolpert 1992, Stacked Generalization, Neural Networks 5(2)). So a feature
for training has to come from a model that did not see the query. Reads and writes nothing. What others trained or
computed (weights as published, external runs, files of features) nobody can know here.
"""

from __future__ import annotations

from typing import NamedTuple

from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import may_share_queries
from scripts.experiment.feature_records import FeatureSet
from scripts.experiment.records import Experiment, System
from scripts.experiment.system_kinds import behind, system_kind

Split = tuple[str, str]  # a dataset and a split of it
OF_FIRST_STAGE = "first-stage"  # the family of what its run says


class Leak(NamedTuple):
    """A feature, the system whose score it is, and the queries that this learnt from."""

    feature: str
    system: str
    learnt_from: Split


def learnt_from(experiment: Experiment, system: str, dataset: str) -> set[Split]:
    """What all that is behind a system's runs on a dataset was trained, tuned or selected on.

    Without that of which each query is ranked by what has not learnt it.
    """
    own = experiment.systems[system]
    kind, selection = system_kind(own), own.selection
    found = set().union(*(learnt_from(experiment, name, dataset) for name in kind.takes(own)))
    found |= kind.learnt_from(experiment, own, dataset)
    if selection and selection.dataset != dataset:
        found.add((selection.dataset, selection.split))
    return found - kind.unseen(experiment, own, dataset)


def leaks(experiment: Experiment, features: FeatureSet, queries: Split) -> list[Leak]:
    """The features of these queries that come from a system which learnt from them, be it under another name."""
    found = []
    for entry in features.of:
        system = features.first_stage if entry.family == OF_FIRST_STAGE else entry.system
        if system is not None:
            seen = sorted(learnt_from(experiment, system, queries[0]))
            found += [Leak(entry.name, system, split) for split in seen if overlap(experiment, split, queries)]
    return found


def check_leaks(check: Checker, experiment: Experiment) -> None:
    """Raise UserError for a feature of training queries that comes from a system which learnt from them."""
    for name, features in experiment.features.items():
        for task in (experiment.tasks[task] for task in features.tasks):
            if task.split == "train":
                for leak in leaks(experiment, features, (task.ranked_dataset, task.split)):
                    seen = f"{leak.system} learnt from {'/'.join(leak.learnt_from)}"
                    what = f"{leak.feature} on task {task.name} would leak labels to a learner, since {seen}"
                    raise check.fail(f"features.{name}.of", f"{what}; take a system that did not see these queries")


def overlap(experiment: Experiment, first: Split, second: Split) -> bool:
    """Whether two splits are one, or may have queries in common as far as the configuration says."""
    entries = [(experiment.datasets[dataset], split) for dataset, split in (first, second)]
    return first == second or may_share_queries(entries[0], entries[1])


def check_unseen(check: Checker, key: str, experiment: Experiment, taken: str, dataset: str) -> None:
    """Raise UserError where a system has learnt from the queries by which a ranker is learnt, or by which it stops.

    What was tuned on the dev queries themselves (BM25, a fusion) is accepted.
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
    """Raise UserError where a system's scores are of one seed to learn from, and of another to rank by."""
    chosen = member.selection
    if chosen is not None and len({dataset == chosen.dataset for dataset in datasets}) > 1:
        problem = f"{member.name} selects a seed on {chosen.dataset}, where its own runs have all seeds"
        raise check.fail(key, f"{problem}: features would be of other seeds there than on the other datasets")
