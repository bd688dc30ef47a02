"""The means of a comparison as figures, tables and sentences show them: on these collections, over collections like
these, against the margin, and their heterogeneity.

Reads and writes nothing: a meta record and the adjusted p-values become the typed parts of a forest plot.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scripts.reports.comparison.adjustment import Adjusted, Adjustment
from scripts.reports.comparison.forest_data import AgainstMargin, Diamond, Heterogeneity, Margin, Posterior

CORRECTIONS = {"holm": ("holm", "Holm"), "benjamini-hochberg": ("bh", "Benjamini-Hochberg")}


def summary(meta: dict[str, Any], family: Adjustment | None, correction: str) -> Diamond | None:
    """The random-effects summary, its p-value corrected as those of tasks are; None where no task has an effect."""
    if meta["summary"] is None:
        return None
    shown = _adjusted(_mean(meta["summary"]), family.summary if family else None, correction)
    if prediction := meta["prediction_interval"]:
        ends, df = (prediction[0], prediction[1]), meta["prediction_df"]
        shown = replace(shown, prediction_interval=ends, prediction_df=df)
    return shown


def fixed_mean(meta: dict[str, Any], family: Adjustment | None, correction: str) -> Diamond | None:
    """The mean on these collections, its p-value corrected as those of tasks are; None where no task has an effect."""
    mean = meta["fixed_mean"]
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


def margin(meta: dict[str, Any], family: Adjustment | None, correction: str) -> Margin | None:
    """The tests of the summary against the margin, if the comparison has one."""
    found = meta.get("equivalence")
    if found is None:
        return None

    def tested(own_p: float | None, adjusted: Adjusted | None) -> AgainstMargin:
        holm = {"p_holm": adjusted.holm, "hypotheses": adjusted.hypotheses} if adjusted else {}
        return AgainstMargin(own_p, _shown(own_p, adjusted, correction), **holm)

    return Margin(
        found["margin"],
        equivalence=tested(found["p_equivalence"], family.equivalence if family else None),
        non_inferiority=tested(found["p_non_inferiority"], family.non_inferiority if family else None),
    )


def fixed(meta: dict[str, Any]) -> Diamond | None:
    """The fixed-effect summary of a meta file; None for fewer than two tasks, where it is the summary."""
    return _mean(meta["fixed"]) if meta["summary"] and meta["k"] > 1 else None


def _mean(values: dict[str, Any]) -> Diamond:
    ends = {name: values[name] for name in ("effect", "ci_low", "ci_high", "p_value", "df")}
    return Diamond(**ends, own_p=values["p_value"])


def posterior(meta: dict[str, Any]) -> Posterior | None:
    """The Bayesian summary of a meta file, if it has one."""
    found = meta.get("bayesian")
    if not found:
        return None
    ends = {name: found[name] for name in ("effect", "ci_low", "ci_high", "p_above_0", "tau_scale")}
    return Posterior(**ends, prediction_interval=tuple(found["prediction_interval"]))


def heterogeneity(meta: dict[str, Any]) -> Heterogeneity | None:
    """The heterogeneity of a meta file; None for fewer than two tasks."""
    if meta.get("q") is None:
        return None
    return Heterogeneity(
        q=meta["q"], df=meta["q_df"], p_value=meta["q_p_value"], i2=meta["i2"], tau2=meta["tau2"],
        tau2_ci=tuple(meta["tau2_ci"]) if meta["tau2_ci"] else None,
    )  # fmt: skip
