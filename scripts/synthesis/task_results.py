"""All that is computed of one task: its effect with its interval, tests of its difference, and the part of its seeds.

Reads and writes nothing; `rows` are the lines of effects/{comparison}.tsv.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.effect_sizes import EffectSize, effect_size
from scripts.synthesis.effects import effect_named
from scripts.synthesis.seeds import EffectVariance, SeedSpread, effect_variance, seed_spread
from scripts.synthesis.significance import (
    Equivalence,
    Randomisation,
    TTest,
    benjamini_hochberg,
    equivalence_test,
    holm,
    paired_t_test,
    randomisation_test,
)
from scripts.synthesis.task_interval import task_interval
from scripts.synthesis.task_intervals import TaskInterval

FEW = 10  # queries below which no distribution of the mean can be relied on
CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}


class Scores(NamedTuple):
    """One system on one task: a measure by query (index query_id) and seed (columns), and the mean Judged@k."""

    values: pd.DataFrame
    judged: float | None


@dataclass(frozen=True)
class TaskResult:
    """One task of a comparison; tests and variance are None where they have no meaning (a correlation, no margin)."""

    effect: EffectSize
    interval: TaskInterval | None
    interval_warning: str | None
    control: SeedSpread
    treatment: SeedSpread
    control_judged: float | None
    treatment_judged: float | None
    t_test: TTest | None = None
    randomisation: Randomisation | None = None
    equivalence: Equivalence | None = None
    variance: EffectVariance | None = None


def task_result(control: Scores, treatment: Scores, settings: Settings) -> TaskResult:
    """Compare two systems on the queries of one task, the same and in one order, by a comparison's settings.

    An effect type without a difference has no tests and no variance of a difference. The variance is split over its
    sources only where one of the systems has several seeds.
    """
    seeds_y, seeds_x = control.values.to_numpy(), treatment.values.to_numpy()
    y, x = seeds_y.mean(axis=1), seeds_x.mean(axis=1)
    effect = effect_size(x, y, settings.effect, settings.ddof, settings.hedges)
    interval, warning = task_interval(x, y, effect, settings)
    described = (
        effect,
        interval,
        warning,
        seed_spread(seeds_y),
        seed_spread(seeds_x),
        control.judged,
        treatment.judged,
    )
    if not effect_named(settings.effect).HAS_DIFFERENCE:
        return TaskResult(*described)
    several = max(seeds_y.shape[1], seeds_x.shape[1]) > 1 and len(x) > 1
    return TaskResult(
        *described,
        t_test=paired_t_test(x, y),
        randomisation=randomisation_test(x, y, settings.seed, settings.permutations),
        equivalence=equivalence_test(x, y, settings.margin, settings.alpha) if settings.margin else None,
        variance=effect_variance(seeds_x, seeds_y) if several else None,
    )


def rows(results: dict[str, TaskResult], weights: dict[str, float]) -> pd.DataFrame:
    """The lines of effects/{comparison}.tsv; cells that do not exist are empty, and `undefined` says why."""
    table = pd.DataFrame([_row(task, result, weights.get(task)) for task, result in results.items()])
    for test in ("t_p", "randomisation_p"):
        p_values = [None if np.isnan(p) else p for p in table[f"{test}_value"].astype(float)]
        place = table.columns.get_loc(f"{test}_value")
        for offset, (name, adjusted) in enumerate(CORRECTIONS.items(), 1):
            table.insert(place + offset, f"{test}_{name}", adjusted(p_values))
    return table


def interval_warnings(results: dict[str, TaskResult]) -> list[str]:
    """Which tasks have few queries, and which have another interval than was asked for, in words."""
    few = [
        f"{task} ({result.effect.n})" for task, result in results.items() if result.interval and result.effect.n < FEW
    ]
    warnings = [f"fewer than {FEW} queries: {', '.join(few)}; tests and intervals of so few are rough"] if few else []
    return warnings + [
        f"{task}: {result.interval_warning}" for task, result in results.items() if result.interval_warning
    ]


def _row(task: str, result: TaskResult, weight: float | None) -> dict[str, Any]:
    effect, t, variance, interval = result.effect, result.t_test or TTest(), result.variance, result.interval
    randomisation, equivalence = result.randomisation, result.equivalence
    reported = effect_named(effect.effect_type).reported
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
        "equivalence_p_value": equivalence.p_equivalence if equivalence else None,
        "non_inferiority_p_value": equivalence.p_non_inferiority if equivalence else None,
        "control_judged": result.control_judged,
        "treatment_judged": result.treatment_judged,
        "control_seeds": len(result.control.seed_means),
        "treatment_seeds": len(result.treatment.seed_means),
        "control_seed_sd": result.control.sd,
        "treatment_seed_sd": result.treatment.sd,
        "variance_with_seeds": variance.total if variance else None,
        "seed_share": variance.seed_share if variance else None,
        "undefined": effect.undefined,
    }
