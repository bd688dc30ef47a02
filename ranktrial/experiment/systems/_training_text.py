"""The part of a system's description that concerns its training; reads and writes nothing."""

from __future__ import annotations

from ranktrial.experiment import adapter_checks, choosing, teachers
from ranktrial.experiment.epochs_by_queries import size_text
from ranktrial.experiment.records import Experiment, System
from ranktrial.models.model_keys import Model

NAMED = 5  # datasets of published weights that a description names; the configuration has all


def training_text(experiment: Experiment, system: System) -> str:
    """Return a description of a trained system's recipes and seeds, and of the selection among them."""
    if system.recipe_of:
        trained = [f"{recipe} for {dataset}" for dataset, recipe in system.recipe_of.items()]
        words = f", fine-tuned with the recipes {', '.join(trained)}"
    elif system.choice:
        learnt = experiment.recipes[system.recipe].datasets_text
        words = f", fine-tuned on {learnt} with {choosing.as_text(experiment, system.choice)}"
    else:
        recipe = experiment.recipes[system.recipe]
        words = f", fine-tuned with recipe {system.recipe} on {recipe.datasets_text}"
        words += teachers.as_text(recipe)
    sizes = dict.fromkeys(size_text(experiment.recipes[recipe]) for recipe in system.recipes)
    words += ";".join(filter(None, sizes))  # recipes of several datasets mostly have the same text
    words += "".join(dict.fromkeys(adapter_checks.as_text(experiment.recipes[recipe]) for recipe in system.recipes))
    words += f", {len(system.seeds)} {'seed' if len(system.seeds) == 1 else 'seeds'}"
    if chosen := system.selection:
        words += f"; on other datasets the seed with the highest {chosen.formula} of {chosen.by} on {chosen.task}"
        if chosen.split == "test":
            words += " (a test set: for reproduction only)"
    return words


def published_training(model: Model) -> str:
    """Return a description of the training data of the published weights."""
    if model.trained_on is None:
        return "training data of the weights not stated"
    by_card = " by their model card" if model.trained_on_by_card else ""
    named, others = model.trained_on[:NAMED], len(model.trained_on) - NAMED
    more = f" and {others} more" if others > 0 else ""
    return f"weights trained on {', '.join(named) or 'no dataset'}{more}{by_card}"
