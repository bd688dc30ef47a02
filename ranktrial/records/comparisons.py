"""tables/comparisons.tsv: one row per comparison, with adjusted p-values; cells that do not apply are empty."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One comparison; the fields are the columns."""

    comparison: str
    control: str
    treatment: str
    measure: str
    effect_type: str
    k: int
    effect: float | None = None
    se: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    family: str | None = None
    hypotheses: int = 1
    p_holm: float | None = None
    p_bh: float | None = None
    log10_p: float | None = None
    fixed_mean_effect: float | None = None
    fixed_mean_ci_low: float | None = None
    fixed_mean_ci_high: float | None = None
    fixed_mean_p_value: float | None = None
    fixed_mean_p_holm: float | None = None
    fixed_mean_p_bh: float | None = None
    margin_hypotheses: int = 0
    p_equivalence: float | None = None
    p_equivalence_holm: float | None = None
    p_equivalence_bh: float | None = None
    p_non_inferiority: float | None = None
    p_non_inferiority_holm: float | None = None
    p_non_inferiority_bh: float | None = None
    prediction_low: float | None = None
    prediction_high: float | None = None
    q: float | None = None
    q_df: int | None = None
    q_p_value: float | None = None
    i2: float | None = None
    h2: float | None = None
    tau2: float | None = None
    tau2_low: float | None = None
    tau2_high: float | None = None
    estimator: str | None = None
    interval: str | None = None
    alpha: float | None = None
    ddof: int | None = None
    fixed_effect: float | None = None
    fixed_ci_low: float | None = None
    fixed_ci_high: float | None = None
    fixed_p_value: float | None = None
    of_tasks: int = 0
    unjudged: float | None = None
    lowest_effect: float | None = None
    lowest_ci_low: float | None = None
    highest_effect: float | None = None
    highest_ci_high: float | None = None
    all_effect: float | None = None
    condensed_effect: float | None = None
    condensed_ci_low: float | None = None
    condensed_ci_high: float | None = None
    control_tried: int = 1
    treatment_tried: int = 1
