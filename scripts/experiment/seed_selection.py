"""Which seed of a system is kept for other datasets: the one that scores best on a task, often a dev split.

On the tasks of that dataset all seeds are run; on all others the chosen one alone, under the name `selected`.
"""

from __future__ import annotations

from dataclasses import replace

from scripts.common.errors import UserError
from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.dataset_schema import format_of
from scripts.experiment.records import Selection, System
from scripts.ir.measures import check_computable

WANTED = "select_seed needs 'task' (such as DATASET/dev) or 'by' (another system that selects), and not both"


def selection(check: Checker, name: str, entry: dict) -> Selection | None:
    """What a system's `select_seed` with a task says; None without one. Raises UserError for what does not fit."""
    key, asked = f"systems.{name}.select_seed", entry.get("select_seed")
    if asked is None:
        return None
    if "recipe" not in entry:
        raise check.fail(key, "without a recipe nothing is trained, so there is no seed to select")
    if ("task" in asked) == ("by" in asked):
        raise check.fail(key, WANTED)
    if "by" in asked:
        if "score" in asked:
            raise check.fail(key, f"the score is that of the system {asked['by']!r}; leave it out here")
        return None
    dataset, _, split = asked["task"].partition("/")
    check.known(f"{key}.task", dataset, "datasets")
    its = check.config["datasets"][dataset]
    if not format_of(its).has_documents:
        raise check.fail(f"{key}.task", f"{dataset} has format {its['format']}: nothing can be searched there")
    check_split(check, f"{key}.task", dataset, split or "test")
    score = asked.get("score", {"R@1": 3, "R@3": 2, "R@5": 1})
    for measure in score:
        try:
            check_computable(measure)
        except UserError as error:
            raise check.fail(f"{key}.score", str(error)) from None
    return Selection(asked["task"], dataset, split or "test", score, name)


def share_selections(check: Checker, systems: dict[str, System]) -> dict[str, System]:
    """The systems, where those that select `by` another one have its selection.

    The other may be named as in the file: what it was fanned out to is told by the model and the recipe.
    """
    shared = dict(systems)
    for name, system in systems.items():
        by = check.config["systems"][name].get("select_seed", {}).get("by")
        if by is None:
            continue
        own = (system.model, system.recipe, system.seeds)
        alike = [one for one in systems.values() if one.selection and (one.model, one.recipe, one.seeds) == own]
        found = [one for one in alike if one.name == by] or [one for one in alike if one.name.startswith(f"{by}-")]
        if len(found) != 1:
            said = f"{by!r} is not one system with the same model, recipe and seeds that selects"
            raise check.fail(f"systems.{name}.select_seed.by", said)
        shared[name] = replace(system, selection=found[0].selection)
    return shared
