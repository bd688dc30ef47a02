"""Resolves `plan_study`: of which comparisons or assumed variances the next study is planned, and for which target."""

from __future__ import annotations

import copy
from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.reading import add_defaults
from scripts.experiment.records import Comparison, StudyPlans
from scripts.experiment.schema import schema
from scripts.statistics.effects import effect_named

ALPHA = 0.05  # where variances are assumed; a comparison has its own, with this default
SETTINGS = ("power", "queries", "collections", "seeds")  # as they stand, the same in all plans


def study_plans(check: Checker, comparisons: dict[str, Comparison]) -> StudyPlans:
    """The plans that a configuration asks for; without `plan_study` one of each comparison that has a difference.

    Raises UserError for an unknown comparison or one without a difference, two targets, or a power that alpha gives.
    """
    configured = "plan_study" in check.config
    entry = copy.deepcopy(check.config.get("plan_study", {}))
    entry = add_defaults(entry, schema()["properties"]["plan_study"], schema())
    if "effect" in entry and "half_width" in entry:
        raise check.fail("plan_study.half_width", "is a target instead of an effect; give one of both")
    shared = {key: sorted(entry[key]) if isinstance(entry[key], list) else entry[key] for key in SETTINGS}
    plans = {}
    for name in _comparisons(check, entry, comparisons):
        alpha, target = comparisons[name].settings["alpha"], _target(entry, comparisons[name].settings)
        plans[name] = {**shared, "alpha": entry.get("alpha", alpha), **target}
    for name, assumed in entry.get("assumed", {}).items():
        if name in plans:
            raise check.fail(
                f"plan_study.assumed.{name}", "is the name of a comparison that is planned; choose another"
            )
        plans[name] = {**shared, "alpha": entry.get("alpha", ALPHA), **_target(entry, {}), "assumed": assumed}
    for plan in plans.values():
        if plan["power"] <= plan["alpha"]:
            problem = f"{plan['power']:g} is what chance alone gives at alpha {plan['alpha']:g}; expected more"
            raise check.fail("plan_study.power", problem)
    return StudyPlans(configured, plans)


def _comparisons(check: Checker, entry: dict[str, Any], comparisons: dict[str, Comparison]) -> list[str]:
    asked = entry.get("comparisons", [] if "assumed" in entry else "all")
    with_difference = [
        name for name, found in comparisons.items() if effect_named(found.settings["effect"]).HAS_DIFFERENCE
    ]
    if asked == "all":
        return with_difference
    for name in asked:
        check.known("plan_study.comparisons", name, "comparisons")
        if name not in with_difference:
            effect = comparisons[name].settings["effect"]
            raise check.fail("plan_study.comparisons", f"{name} has effect {effect}: there is no difference to detect")
    return list(asked)


def _target(entry: dict[str, Any], statistics: dict[str, Any]) -> dict[str, float]:
    """What a study is to show; a margin, the difference that does not matter, is the smallest effect that does."""
    for key in ("effect", "half_width"):
        if key in entry:
            return {key: entry[key]}
    margin = statistics.get("margin")
    return {"effect": margin} if margin and effect_named(statistics["effect"]).IN_UNITS_OF_MEASURE else {}
