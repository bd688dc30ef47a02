"""effects/{comparison}.tsv: one row per task, with unadjusted p-values; cells that do not apply are empty."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class EffectsRow:
    """One task; the fields are the columns, to which the table adds adjusted p-values."""

    task: str
    n: int | None = None
    control_mean: float | None = None
    treatment_mean: float | None = None
    effect: float | None = None
    variance: float | None = None
    se: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    weight: float | None = None
    log10_p: float | None = None
    t: float | None = None
    t_df: float | None = None
    t_p_value: float | None = None
    t_log10_p: float | None = None
    randomisation_p_value: float | None = None
    equivalence_p_value: float | None = None
    non_inferiority_p_value: float | None = None
    control_judged: float | None = None
    treatment_judged: float | None = None
    control_seeds: int | None = None
    treatment_seeds: int | None = None
    control_seed_sd: float | None = None
    treatment_seed_sd: float | None = None
    variance_with_seeds: float | None = None
    seed_share: float | None = None
    clusters: int | None = None
    design_effect: float | None = None
    seeds_variance: float | None = None
    interval_df: float | None = None
    model_weight: float | None = None
    model_queries: int | None = None
    undefined: str | None = None
