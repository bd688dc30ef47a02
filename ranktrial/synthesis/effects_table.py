"""The lines of effects/{comparison}.tsv, one per task; reads and writes nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from ranktrial.records.comparison import EffectsRow
from ranktrial.statistics.corrections import CORRECTIONS
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.significance import TTest
from ranktrial.statistics.task_results import TaskResult

TESTS = ("t_p", "randomisation_p", "equivalence_p", "non_inferiority_p")  # prefixes of columns


class Judged(NamedTuple):
    """The mean Judged@k of each system over the queries of a task's effect; None if it was not measured."""

    control: float | None = None
    treatment: float | None = None


def rows(
    results: Mapping[str, TaskResult], weights: Mapping[str, float], judged: Mapping[str, Judged] | None = None
) -> pd.DataFrame:
    """The rows by task; cells that do not apply are empty, and `undefined` states why.

    The family of an adjustment is all tasks, for every test: a task without a p-value counts as p = 1, the value of the
    randomisation test if both systems are the same and t is undefined.
    """
    measured = judged or {}
    lines = [_row(task, one, weights.get(task), measured.get(task, Judged())) for task, one in results.items()]
    table = pd.DataFrame(lines)
    for test in TESTS:
        p_values = table[f"{test}_value"].astype(float)
        place = table.columns.get_loc(f"{test}_value")
        for offset, (name, adjusted) in enumerate(CORRECTIONS.items(), 1):
            of_all = pd.Series(adjusted(p_values.fillna(1.0).tolist()), table.index)
            table.insert(place + offset, f"{test}_{name}", of_all.where(p_values.notna()))
    return table


def _row(task: str, result: TaskResult, weight: float | None, judged: Judged) -> EffectsRow:
    effect, t, variance, interval = result.effect, result.t_test or TTest(), result.variance, result.interval
    randomisation, margin, powered = result.randomisation, result.equivalence, result.observed.powered
    ci_low, ci_high = result.ends or (None, None)
    in_units = effect_named(effect.effect_type).IN_UNITS_OF_MEASURE  # the decomposition is that of a mean difference
    return EffectsRow(
        task=task,
        n=effect.n,
        control_mean=effect.control_mean,
        treatment_mean=effect.treatment_mean,
        effect=effect.effect,
        variance=effect.variance,
        se=effect.se,
        ci_low=ci_low,
        ci_high=ci_high,
        p_value=interval.p_value if interval else None,
        weight=weight,
        log10_p=interval.log10_p if interval else None,
        t=t.t,
        t_df=t.df,
        t_p_value=t.p_value,
        t_log10_p=t.log10_p,
        randomisation_p_value=randomisation.p_value if randomisation else None,
        equivalence_p_value=margin.p_equivalence if margin else None,
        non_inferiority_p_value=margin.p_non_inferiority if margin else None,
        control_judged=judged.control,
        treatment_judged=judged.treatment,
        control_seeds=len(result.control.seed_means),
        treatment_seeds=len(result.treatment.seed_means),
        control_seed_sd=result.control.sd,
        treatment_seed_sd=result.treatment.sd,
        variance_with_seeds=variance.total if variance and in_units else None,
        seed_share=variance.seed_share if variance else None,
        clusters=result.observed.clusters,
        design_effect=result.observed.design_effect,
        seeds_variance=result.seeds_variance,
        interval_df=interval.df if interval else None,
        model_weight=powered.weight if powered and interval else None,
        model_queries=powered.further if powered and interval else None,
        undefined=effect.undefined,
    )
