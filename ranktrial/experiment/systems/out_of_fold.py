"""Out-of-fold scores: each training query is ranked by a re-ranker that was trained without its fold.

Any other query is ranked by the mean of all these re-rankers' scores. A learner that uses the score as a feature thus
never sees a model's score for a query on which that model was trained (Wolpert 1992, Stacked Generalization).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Annotated

from ranktrial.common.keys import JsonObject, Rule
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.configuration.sections.recipe import Recipe
from ranktrial.experiment.datasets import may_share_queries
from ranktrial.experiment.leakage import learnt_from
from ranktrial.experiment.records import UNTRAINED, Experiment, System, Task
from ranktrial.experiment.system_types import Made, SystemType, limited_to
from ranktrial.experiment.systems import rerank
from ranktrial.experiment.trainings import way_of_ranking

NAME = "out-of-fold"


@dataclass(frozen=True, kw_only=True)
class Keys(Made):
    systems: Annotated[
        tuple[str, ...],
        "out-of-fold: the re-rankers, each trained without one of the folds",
        Rule(min_items=2, unique_items=True),
    ]


@dataclass(frozen=True)
class Settings:
    """The re-rankers, in the order of the folds that were left out of their training."""

    systems: tuple[str, ...]


REFERENCES: dict[tuple[str, ...], str] = {("systems",): "systems"}
PLAIN_LISTS: list[tuple[str, ...]] = [("tasks",), ("systems",)]


class OutOfFold(SystemType):
    takes_seed_by_seed = False  # the run of each re-ranker's first seed is used

    def resolve(self, check: Checker, name: str, entry: Keys, tasks: dict[str, Task]) -> System:
        settings = Settings(entry.systems)
        return System(name, NAME, entry.label or name, settings=settings, tasks=limited_to(check, name, entry))

    def takes(self, system: System) -> tuple[str, ...]:
        return system.own(Settings).systems

    def with_seeds(self, check: Checker, system: System, systems: dict[str, System]) -> System:
        """Return the system with its re-rankers in the order of the folds.

        Raises UserError unless the re-rankers differ only in the left-out fold and each fold is left out once.
        """
        key, members = f"systems.{system.name}.systems", [systems[name] for name in self.takes(system)]
        recipes = [_recipe(check, key, member) for member in members]
        for other, recipe in zip(members, recipes, strict=True):
            if _alike(other, recipe) != _alike(members[0], recipes[0]):
                names = f"{members[0].name} and {other.name}"
                raise check.fail(key, f"{names} differ in more than the fold that is left out")
        by_fold = {recipe.left_out_fold: member for recipe, member in zip(recipes, members, strict=True)}
        folds = range(1, (recipes[0].folds or 0) + 1)
        if set(by_fold) != set(folds) or len(members) != len(folds):
            found = ", ".join(str(recipe.left_out_fold) for recipe in recipes)
            raise check.fail(key, f"the folds {found} are left out; expected each from 1 to {len(folds)} once")
        _check_others(check, key, members[0], recipes[0])
        return replace(system, settings=Settings(tuple(by_fold[fold].name for fold in folds)))

    def check_experiment(self, check: Checker, system: System, experiment: Experiment) -> None:
        """Check that neither their first stage nor their published weights learnt from the queries of the folds."""
        member = experiment.systems[self.takes(system)[0]]
        first_stage, published = str(member.first_stage), experiment.models[str(member.model)].trained_on or ()
        for dataset in recipe_of(experiment, system).datasets:
            if dataset in published:
                problem = f"the weights of {member.model} were trained on {dataset}, and so on all folds"
                raise check.fail(f"systems.{system.name}.systems", problem)
            if (dataset, "train") in learnt_from(experiment, first_stage, dataset):
                problem = f"their first stage {first_stage} learnt from {dataset}/train, and so from all folds"
                raise check.fail(f"systems.{system.name}.systems", problem)

    def unseen(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "train")} if dataset in recipe_of(experiment, system).datasets else set()

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return min(depth, *taken)

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {}

    def describe(self, experiment: Experiment, system: System) -> str:
        recipe = recipe_of(experiment, system)
        words = f"out-of-fold scores of {', '.join(self.takes(system))}: each training query of {recipe.datasets_text} "
        return words + f"by the one trained without its fold (of {recipe.folds}), any other query by the mean of all"

    def candidates(self, system: System) -> str:
        return f"the documents of {self.takes(system)[0]}"

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        return {"method": "out-of-fold scores", "folds": recipe_of(experiment, system).folds}


TYPE = OutOfFold()


def recipe_of(experiment: Experiment, system: System) -> Recipe:
    """Return the recipe of the first re-ranker; the others differ only in the fold that is left out."""
    return experiment.recipes[experiment.systems[TYPE.takes(system)[0]].recipe]


def _recipe(check: Checker, key: str, member: System) -> Recipe:
    """Return the recipe of a re-ranker. Raises UserError unless it is a re-ranker trained by one recipe with folds."""
    if member.type != rerank.NAME:
        raise check.fail(key, f"{member.name} does not re-rank; expected re-rankers, which score the same documents")
    recipe = check.config.recipes.get(member.recipe)
    if recipe is None or recipe.folds is None or member.choice or member.selection:
        problem = "is not trained by one recipe with folds and left_out_fold, without a choice of recipes or seeds"
        raise check.fail(key, f"{member.name} {problem}")
    return recipe


def _alike(member: System, recipe: Recipe) -> tuple[object, ...]:
    """Return the properties that all re-rankers must share."""
    return *way_of_ranking(member), member.seeds, member.settings, replace(recipe, left_out_fold=1)


def _check_others(check: Checker, key: str, member: System, recipe: Recipe) -> None:
    """Raise UserError if an earlier training or a teacher of the re-rankers may have used these queries."""
    if recipe.teacher:
        problem = "has a teacher, which may have learnt from all folds; leave it out"
        raise check.fail(key, f"recipe {member.recipe} {problem}")
    before = recipe.start_from
    while before and before != UNTRAINED:
        earlier = check.config.recipes[before]
        if shared := _shared(check, earlier.datasets, recipe.datasets):
            problem = f"recipe {member.recipe} starts from {before}, which learnt from all folds of {shared[0]}"
            raise check.fail(key, f"{problem}; start from a training on other data")
        before = earlier.start_from


def _shared(check: Checker, earlier: tuple[str, ...], own: tuple[str, ...]) -> list[str]:
    """Return the earlier datasets whose training queries may be among a recipe's own."""
    entries = check.config.datasets
    return [
        first
        for first, second in itertools.product(earlier, own)
        if first == second or may_share_queries((entries[first], "train"), (entries[second], "train"))
    ]
