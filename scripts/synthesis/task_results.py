"""All that is computed of one task: its effect, the tests of its difference, and what its seeds have to do with it.

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
from scripts.synthesis.tails import normal_two_sided

CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}


class Scores(NamedTuple):
    """One system on one task: a measure by query (index query_id) and seed (columns), and the mean Judged@k."""

    values: pd.DataFrame
    judged: float | None


@dataclass(frozen=True)
class TaskResult:
    """One task of a comparison; tests and variance are None where they have no meaning (a correlation, no margin)."""

    effect: EffectSize
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
    described = (effect, seed_spread(seeds_y), seed_spread(seeds_x), control.judged, treatment.judged)
    if not effect_named(settings.effect).HAS_DIFFERENCE:
        return TaskResult(*described)
    better, worse = (y, x) if settings.lower_is_better else (x, y)
    several = max(seeds_y.shape[1], seeds_x.shape[1]) > 1 and len(x) > 1
    return TaskResult(
        *described,
        t_test=paired_t_test(x, y),
        randomisation=randomisation_test(x, y, settings.seed, settings.permutations),
        equivalence=equivalence_test(better, worse, settings.margin, settings.alpha) if settings.margin else None,
        variance=effect_variance(seeds_x, seeds_y) if several else None,
    )


def rows(results: dict[str, TaskResult], weights: dict[str, float], alpha: float) -> pd.DataFrame:
    """The lines of effects/{comparison}.tsv; cells that do not exist are empty, and `undefined` says why."""
    table = pd.DataFrame([_row(task, result, weights.get(task), alpha) for task, result in results.items()])
    for test in ("t_p", "randomisation_p"):
        p_values = [None if np.isnan(p) else p for p in table[f"{test}_value"].astype(float)]
        place = table.columns.get_loc(f"{test}_value")
        for offset, (name, adjusted) in enumerate(CORRECTIONS.items(), 1):
            table.insert(place + offset, f"{test}_{name}", adjusted(p_values))
    return table


def _row(task: str, result: TaskResult, weight: float | None, alpha: float) -> dict[str, Any]:
    effect, t, variance = result.effect, result.t_test or TTest(), result.variance
    randomisation, equivalence = result.randomisation, result.equivalence
    low, high = effect.interval(alpha) or (None, None)
    return {
        "task": task,
        "n": effect.n,
        "control_mean": effect.control_mean,
        "treatment_mean": effect.treatment_mean,
        "effect": effect.effect,
        "variance": effect.variance,
        "se": effect.se,
        "ci_low": low,
        "ci_high": high,
        "p_value": effect.p_value,
        "weight": weight,
        "log10_p": None if effect.z is None else normal_two_sided(effect.z).log10_p,
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
