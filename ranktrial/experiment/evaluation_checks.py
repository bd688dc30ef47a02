"""Checks of a recipe's use of dev: evaluation during training, best weights, early stopping."""

from __future__ import annotations

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.dataset_keys import check_split
from ranktrial.experiment.sections.recipe import Recipe

NEEDED = {"load_best_model_at_end": "evaluate", "early_stopping_patience": "evaluate",
          "early_stopping_threshold": "early_stopping_patience"}  # fmt: skip


def check_evaluation(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError for settings without the evaluation they need, unknown measures and missing dev queries."""
    for key, needed in NEEDED.items():
        if getattr(recipe, key) and getattr(recipe, needed) is None:
            example = "{measure: nDCG@10}" if needed == "evaluate" else "3"
            raise check.fail(f"recipes.{name}.{key}", f"nothing decides without {needed}; add {needed}: {example}")
    if recipe.evaluate:
        check_measure(check, f"recipes.{name}.evaluate.measure", recipe.evaluate.measure)
        if len(recipe.datasets) > 1:
            problem = "only valid with one dataset in train_on: which dev queries would decide?"
            raise check.fail(f"recipes.{name}.evaluate", problem)
        check_split(check, f"recipes.{name}.evaluate", recipe.datasets[0], "dev")


def check_measure(check: Checker, key: str, measure: str) -> None:
    """Raise UserError for a measure that cannot be computed or is better if lower, since the highest value wins."""
    check.computable(key, measure)
    if measure in check.config.lower_is_better:
        raise check.fail(key, f"a lower value of {measure} is better, but the highest would be chosen; name another")
