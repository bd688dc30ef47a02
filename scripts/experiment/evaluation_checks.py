"""The checks of what a recipe says of dev: evaluation while it is trained, the best weights, early stopping."""

from __future__ import annotations

from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.sections.recipe import Recipe

NEEDED = {"load_best_model_at_end": "evaluate", "early_stopping_patience": "evaluate",
          "early_stopping_threshold": "early_stopping_patience"}  # fmt: skip


def check_evaluation(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError for what nothing decides, a measure that is unknown, and a dataset without dev queries."""
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
    """Raise UserError for a measure that cannot be computed, or of which a lower value is better: the highest wins."""
    check.computable(key, measure)
    if measure in check.config.lower_is_better:
        raise check.fail(key, f"a lower value of {measure} is better, but the highest would be chosen; name another")
