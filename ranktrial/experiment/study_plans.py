"""Resolves `plan_study`: the comparisons or assumed variances for planning the next study, and the target."""

from __future__ import annotations

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.plan_records import Plan, StudyPlans
from ranktrial.experiment.records import Comparison
from ranktrial.experiment.sections.study import Assumed, Study
from ranktrial.experiment.sections.synthesis import Statistics
from ranktrial.statistics.effects import effect_named

ALPHA = 0.05  # for assumed variances; a comparison has its own, with this default


def study_plans(check: Checker, comparisons: dict[str, Comparison]) -> StudyPlans:
    """Return the plans of a configuration; without `plan_study`, one per comparison with a difference in one measure.

    Raises UserError for an unknown comparison or one without a difference, two targets, or a power not above alpha.
    """
    study = check.config.plan_study or Study()
    if study.effect and study.half_width:
        raise check.fail("plan_study.half_width", "is a target instead of an effect; give one of both")
    plans = {}
    for name in _comparisons(check, study, comparisons):
        statistics = comparisons[name].statistics
        plans[name] = _plan(study, study.alpha or statistics.alpha, margin=_margin(statistics))
    for name, assumed in (study.assumed or {}).items():
        if name in plans:
            raise check.fail(
                f"plan_study.assumed.{name}", "is the name of a comparison that is planned; choose another"
            )
        plans[name] = _plan(study, study.alpha or ALPHA, assumed=assumed)
    for plan in plans.values():
        if plan.power <= plan.alpha:
            problem = f"{plan.power:g} is what chance alone gives at alpha {plan.alpha:g}; expected more"
            raise check.fail("plan_study.power", problem)
    return StudyPlans(check.config.plan_study is not None, plans)


def _comparisons(check: Checker, study: Study, comparisons: dict[str, Comparison]) -> list[str]:
    asked = study.comparisons or (() if study.assumed else "all")
    with_difference = [
        name for name, found in comparisons.items() if effect_named(found.statistics.effect).HAS_DIFFERENCE
    ]
    of_one_measure = [name for name in with_difference if not comparisons[name].measure_on]
    if asked == "all":
        return of_one_measure
    for name in asked:
        check.known("plan_study.comparisons", name, "comparisons")
        if name not in with_difference:
            effect = comparisons[name].statistics.effect
            raise check.fail("plan_study.comparisons", f"{name} has effect {effect}: there is no difference to detect")
        if name not in of_one_measure:
            raise check.fail("plan_study.comparisons", f"{name} has a measure per task (measure_on); expected one")
    return list(asked)


def _margin(statistics: Statistics) -> float | None:
    """Return the comparison's margin if its effect is in units of the measure, as the smallest effect of interest."""
    return statistics.margin if effect_named(statistics.effect).IN_UNITS_OF_MEASURE else None


def _plan(study: Study, alpha: float, margin: float | None = None, assumed: Assumed | None = None) -> Plan:
    """Return the plan; the margin is the target if the configuration gives none."""
    queries, collections, seeds = (tuple(sorted(sizes)) for sizes in (study.queries, study.collections, study.seeds))
    effect = study.effect if study.effect or study.half_width else margin
    return Plan(study.power, queries, collections, seeds, alpha, effect, study.half_width, assumed)
