"""All that is computed of one task: its effect with its interval, tests of its difference, and the part of its seeds.

Reads and writes nothing; `rows` are the lines of effects/{comparison}.tsv.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.dependence.observed_tasks import ObservedTask, observed_task
from scripts.synthesis.effect_sizes import EffectSize
from scripts.synthesis.effects import effect_named
from scripts.synthesis.paired import constant
from scripts.synthesis.seeds import EffectVariance, SeedSpread, effect_variance, seed_spread
from scripts.synthesis.significance import (
    CORRECTIONS,
    Equivalence,
    Randomisation,
    TTest,
    randomisation_test,
)
from scripts.synthesis.task_intervals import TaskInterval
from scripts.synthesis.task_tests import by_unit, equivalence, interval_of, t_test

TESTS = ("t_p", "randomisation_p", "equivalence_p", "non_inferiority_p")  # beginnings of columns
FEW = 10  # queries below which no distribution of the mean can be relied on


class Scores(NamedTuple):
    """One system on one task: a measure by query (index query_id) and seed (columns), and Judged@k by query."""

    values: pd.DataFrame
    judged: pd.Series | None


@dataclass(frozen=True)
class TaskResult:
    """One task of a comparison; tests and variance are None where they have no meaning (a correlation, no margin).

    `same` is the difference of systems that differ by it on every query, so that the effect is undefined. Judged@k is
    the mean over the same queries as the effect.
    """

    effect: EffectSize
    interval: TaskInterval | None
    warnings: tuple[str, ...]
    control: SeedSpread
    treatment: SeedSpread
    control_judged: float | None
    treatment_judged: float | None
    t_test: TTest | None = None
    randomisation: Randomisation | None = None
    equivalence: Equivalence | None = None
    variance: EffectVariance | None = None
    same: float | None = None
    observed: ObservedTask | None = None


def observed(
    control: Scores,
    treatment: Scores,
    settings: Settings,
    units: Sequence[Hashable] | None = None,
    shares: bool = False,
    automatic: bool = False,
) -> ObservedTask:
    """Two systems on the queries of one task, the same and in one order; each query is its own unit by default.

    `shares`: another task may have the same units. `automatic`: units are clusters that no user chose.
    """
    x, y = (scores.values.to_numpy().mean(axis=1) for scores in (treatment, control))
    return observed_task(x, y, range(len(x)) if units is None else units, settings, shares, automatic)


def task_result(control: Scores, treatment: Scores, settings: Settings, task: ObservedTask | None = None) -> TaskResult:
    """Compare two systems on the queries of one task, the same and in one order, by a comparison's settings.

    An effect type without a difference has no tests and no variance of a difference. The variance is split over its
    sources only where one of the systems has several seeds. `task` is what is observed, with its clusters and seeds.
    """
    task = task or observed(control, treatment, settings)
    seeds_y, seeds_x = control.values.to_numpy(), treatment.values.to_numpy()
    x, y, effect = task.x, task.y, task.effect
    effect_type = effect_named(settings.effect)
    interval, warning = interval_of(task, settings)
    caution = effect_type.caution(x, y) if interval else None
    described = (
        effect,
        interval,
        tuple(filter(None, (warning, caution))),
        seed_spread(seeds_y),
        seed_spread(seeds_x),
        _mean(control.judged),
        _mean(treatment.judged),
    )
    if not effect_type.HAS_DIFFERENCE:
        return TaskResult(*described, observed=task)
    several = max(seeds_y.shape[1], seeds_x.shape[1]) > 1 and len(x) > 1
    return TaskResult(
        *described,
        t_test=t_test(task, settings),
        randomisation=randomisation_test(*by_unit(task), settings.seed, settings.permutations),
        equivalence=equivalence(task, settings) if settings.margin else None,
        variance=effect_variance(seeds_x, seeds_y, settings.ddof) if several else None,
        same=same_difference(x, y, effect),
        observed=task,
    )


def same_difference(x: np.ndarray, y: np.ndarray, effect: EffectSize) -> float | None:
    """The difference that every query has and that leaves no effect; a standardised one is known only if it is 0."""
    difference = x - y
    if effect.undefined is None or len(x) < 2 or not constant(difference, x, y):
        return None
    if constant(np.append(difference, 0.0), x, y):
        return 0.0
    return float(difference.mean()) if effect_named(effect.effect_type).IN_UNITS_OF_MEASURE else None


def _mean(values: pd.Series | None) -> float | None:
    return None if values is None else float(values.mean())


def rows(results: dict[str, TaskResult], weights: dict[str, float]) -> pd.DataFrame:
    """The lines of effects/{comparison}.tsv; cells that do not exist are empty, and `undefined` says why.

    The family of an adjustment is all tasks, for every test: one without a p-value counts as p = 1, as that of the
    randomisation test is where both systems are the same and there is no t.
    """
    table = pd.DataFrame([_row(task, result, weights.get(task)) for task, result in results.items()])
    for test in TESTS:
        p_values = table[f"{test}_value"].astype(float)
        place = table.columns.get_loc(f"{test}_value")
        for offset, (name, adjusted) in enumerate(CORRECTIONS.items(), 1):
            of_all = pd.Series(adjusted(p_values.fillna(1.0).tolist()), table.index)
            table.insert(place + offset, f"{test}_{name}", of_all.where(p_values.notna()))
    return table


def task_warnings(results: dict[str, TaskResult]) -> list[str]:
    """Which tasks have few queries, another interval than was asked for, an effect to beware of, or clusters that would
    narrow an interval and that nobody asked for, as text.
    """
    few = [
        f"{task} ({result.effect.n})" for task, result in results.items() if result.interval and result.effect.n < FEW
    ]
    warnings = [f"fewer than {FEW} queries: {', '.join(few)}; tests and intervals of so few are rough"] if few else []
    if narrowed := [
        f"{task} ({result.observed.design_effect:.3g})"
        for task, result in results.items()
        if result.observed and result.observed.as_independent
    ]:
        warnings.append(
            f"design effect below 1: {', '.join(narrowed)}; the default clusters leave the variance as that of "
            "independent queries, clusters: gold-document takes it as estimated"
        )
    return warnings + [f"{task}: {warning}" for task, result in results.items() for warning in result.warnings]


def _row(task: str, result: TaskResult, weight: float | None) -> dict[str, Any]:
    effect, t, variance, interval = result.effect, result.t_test or TTest(), result.variance, result.interval
    randomisation, margin = result.randomisation, result.equivalence
    effect_type = effect_named(effect.effect_type)
    reported, in_units = effect_type.reported, effect_type.IN_UNITS_OF_MEASURE  # the split is that of a mean difference
    return {
        "task": task,
        "n": effect.n,
        "control_mean": effect.control_mean,
        "treatment_mean": effect.treatment_mean,
        "effect": effect.effect,
        "variance": effect.variance,
        "se": effect.se,
        "ci_low": reported(interval.ci_low) if interval else None,
        "ci_high": reported(interval.ci_high) if interval else None,
        "p_value": interval.p_value if interval else None,
        "weight": weight,
        "log10_p": interval.log10_p if interval else None,
        "t": t.t,
        "t_df": t.df,
        "t_p_value": t.p_value,
        "t_log10_p": t.log10_p,
        "randomisation_p_value": randomisation.p_value if randomisation else None,
        "equivalence_p_value": margin.p_equivalence if margin else None,
        "non_inferiority_p_value": margin.p_non_inferiority if margin else None,
        "control_judged": result.control_judged,
        "treatment_judged": result.treatment_judged,
        "control_seeds": len(result.control.seed_means),
        "treatment_seeds": len(result.treatment.seed_means),
        "control_seed_sd": result.control.sd,
        "treatment_seed_sd": result.treatment.sd,
        "variance_with_seeds": variance.total if variance and in_units else None,
        "seed_share": variance.seed_share if variance else None,
        "clusters": result.observed.clusters if result.observed else None,
        "design_effect": result.observed.design_effect if result.observed else None,
        "seeds_variance": _seeds_variance(result),
        "interval_df": interval.df if interval else None,
        "undefined": effect.undefined,
    }


def _seeds_variance(result: TaskResult) -> float | None:
    """What seeds add to the variance over queries, as far as the interval holds it."""
    if result.observed is None or result.interval is None or not result.observed.seeds:
        return None
    return sum(part.variance for part in result.observed.seeds)
