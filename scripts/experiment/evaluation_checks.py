"""The checks of what a recipe says of dev: evaluation while it is trained, the best weights, early stopping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.training_datasets import datasets_of

MEASURE, CANDIDATES = "nDCG@10", 100  # the schema says so too
NEEDED = {"load_best_model_at_end": "evaluate", "early_stopping_patience": "evaluate",
          "early_stopping_threshold": "early_stopping_patience"}  # fmt: skip


def check_evaluation(check: Checker, name: str, entry: dict[str, Any]) -> None:
    """Raise UserError for what nothing decides, a measure that is unknown, and a dataset without dev queries."""
    for key, needed in NEEDED.items():
        if entry.get(key) and needed not in entry:
            example = "{measure: nDCG@10}" if needed == "evaluate" else "3"
            raise check.fail(f"recipes.{name}.{key}", f"nothing decides without {needed}; add {needed}: {example}")
    if "evaluate" in entry:
        check_measure(check, f"recipes.{name}.evaluate.measure", entry["evaluate"].get("measure", MEASURE))
        if len(datasets_of(entry)) > 1:
            problem = "only valid with one dataset in train_on: which dev queries would decide?"
            raise check.fail(f"recipes.{name}.evaluate", problem)
        check_split(check, f"recipes.{name}.evaluate", entry["train_on"], "dev")


def check_measure(check: Checker, key: str, measure: str) -> None:
    """Raise UserError for a measure that cannot be computed, or of which a lower value is better: the highest wins."""
    check.computable(key, measure)
    if measure in check.config.get("lower_is_better", []):
        raise check.fail(key, f"of {measure} a lower value is better, and the highest would be chosen; name another")


def decides(entry: Mapping[str, Any]) -> bool:
    """Whether the dev queries decide which weights a training ends with."""
    return bool(entry.get("load_best_model_at_end")) or "early_stopping_patience" in entry
