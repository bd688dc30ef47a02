"""The means of a comparison as figures, tables and sentences show them: on these collections, over collections like
these, against the margin, and their heterogeneity.

Reads and writes nothing: a meta record and the adjusted p-values become the typed parts of a forest plot.
"""

from __future__ import annotations

from dataclasses import replace

from ranktrial.records.comparison import MetaRecord
from ranktrial.reports.comparison.adjustment import Adjusted, Adjustment
from ranktrial.reports.comparison.forest_data import AgainstMargin, Diamond, Heterogeneity, Margin
from ranktrial.statistics.meta_analysis.summaries import Summary

CORRECTIONS = {"holm": ("holm", "Holm"), "benjamini-hochberg": ("bh", "Benjamini-Hochberg")}


def summary(meta: MetaRecord, family: Adjustment | None, correction: str) -> Diamond | None:
    """The random-effects summary, its p-value corrected as those of tasks are; None if no task has an effect."""
    found = meta.meta
    if found is None:
        return None
    shown = _adjusted(_mean(found.summary), family.summary if family else None, correction)
    if found.prediction_interval is None:
        return shown
    return replace(shown, prediction_interval=found.prediction_interval, prediction_df=found.prediction_df)


def fixed_mean(meta: MetaRecord, family: Adjustment | None, correction: str) -> Diamond | None:
    """The mean on these collections, its p-value corrected as those of tasks are; None if no task has an effect."""
    mean = meta.fixed_mean
    return _adjusted(_mean(mean), family.fixed_mean if family else None, correction) if mean else None


def _adjusted(mean: Diamond, adjusted: Adjusted | None, correction: str) -> Diamond:
    if adjusted is None:
        return mean
    shown = _shown(mean.own_p, adjusted, correction)
    return replace(mean, p_value=shown, p_holm=adjusted.holm, hypotheses=adjusted.hypotheses)


def _shown(own_p: float | None, adjusted: Adjusted | None, correction: str) -> float | None:
    """The p-value that a figure with this correction shows."""
    if adjusted is None or correction == "none":
        return own_p
    return {"holm": adjusted.holm, "benjamini-hochberg": adjusted.bh}[correction]


def margin(meta: MetaRecord, family: Adjustment | None, correction: str) -> Margin | None:
    """The tests of the summary against the margin, if the comparison has one."""
    found = meta.equivalence
    if found is None:
        return None

    def tested(own_p: float | None, adjusted: Adjusted | None) -> AgainstMargin:
        holm = {"p_holm": adjusted.holm, "hypotheses": adjusted.hypotheses} if adjusted else {}
        return AgainstMargin(own_p, _shown(own_p, adjusted, correction), **holm)

    return Margin(
        found.margin,
        equivalence=tested(found.p_equivalence, family.equivalence if family else None),
        non_inferiority=tested(found.p_non_inferiority, family.non_inferiority if family else None),
    )


def fixed(meta: MetaRecord) -> Diamond | None:
    """The fixed-effect summary of a meta file; None for fewer than two tasks, where it is the summary."""
    return _mean(meta.meta.fixed) if meta.meta and meta.k > 1 else None


def _mean(found: Summary) -> Diamond:
    return Diamond(found.effect, found.ci_low, found.ci_high, found.p_value, df=found.df_of_p, own_p=found.p_value)


def heterogeneity(meta: MetaRecord) -> Heterogeneity | None:
    """The heterogeneity of a meta file; None for fewer than two tasks."""
    found = meta.meta
    if found is None or found.q is None:
        return None
    return Heterogeneity(
        q=found.q, df=found.q_df, p_value=found.q_p_value, i2=found.i2, tau2=found.tau2, tau2_ci=found.tau2_ci
    )
