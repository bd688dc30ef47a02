"""A comparison as its figure and its table show it: read from effects/{comparison}.tsv and meta/{comparison}.json.

Writes nothing. Names are replaced by labels here; which p-value a task shows is chosen here, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from scripts.common.errors import UserError
from scripts.reports.comparison.adjustment import Adjustment
from scripts.reports.comparison.dependence_notes import clusters_note, seeds_note
from scripts.reports.comparison.forest_data import Diamond, Forest, Group, Heterogeneity, Row
from scripts.reports.comparison.looks import Looks
from scripts.reports.writing.markdown import escape
from scripts.synthesis.effects import effect_named
from scripts.synthesis.task_intervals import task_interval_named

TESTS = {
    "t-test": ("t_p", "paired t-test"),
    "randomisation": ("randomisation_p", "paired randomisation test"),
}
CORRECTIONS = {"holm": ("holm", "Holm"), "benjamini-hochberg": ("bh", "Benjamini-Hochberg")}


# The columns of an effects file (docs/statistics.md): those that a row of a figure shows, and those for other readers.
SHOWN = tuple(name for name in Row.__dataclass_fields__ if name not in ("task", "p_value"))
NOT_SHOWN = (
    *("variance", "se", "p_value", "log10_p", "t", "t_df", "t_log10_p"),
    *(f"{test}_{p}" for test in ("t_p", "randomisation_p") for p in ("value", "holm", "bh")),
    *("equivalence_p_value", "non_inferiority_p_value", "variance_with_seeds", "seed_share"),
    *("clusters", "design_effect", "seeds_variance", "interval_df"),
    *(f"{role}_{of}" for role in ("control", "treatment") for of in ("seeds", "seed_sd")),
)


@dataclass(frozen=True)
class Labels:
    """Display names of tasks (by folder) and systems; a name without one is its own label."""

    tasks: dict[str, str]
    systems: dict[str, str]

    def task(self, name: str) -> str:
        """The label of a task."""
        return self.tasks.get(name, name)

    def system(self, name: str) -> str:
        """The label of a system."""
        return self.systems.get(name, name)


def escaped(labels: Labels) -> Labels:
    """The labels as they stand in Markdown."""
    return Labels(_escaped(labels.tasks), _escaped(labels.systems))


def _escaped(names: dict[str, str]) -> dict[str, str]:
    return {name: escape(label) for name, label in names.items()}


@dataclass(frozen=True)
class Found:
    """The results of one comparison: its effects file, its meta record, and its place among all comparisons."""

    effects: pd.DataFrame
    meta: dict
    family: Adjustment | None = None


def read_found(effects: Path, meta: Path, family: Adjustment | None = None) -> Found:
    """Read the two files of a comparison; empty cells are None. Raises UserError for columns that do not fit."""
    table = pd.read_csv(effects, sep="\t", dtype={"task": str, "undefined": str}).astype(object)
    check_columns(list(table.columns), str(effects))
    return Found(table.where(table.notna(), None), json.loads(meta.read_text()), family)


def check_columns(columns: list[str], where: str) -> None:
    """Raise UserError, beginning with `where`, for a missing column and for an unknown one."""
    for name in ("task", *SHOWN):
        if name not in columns:
            raise UserError(f"{where}: no column {name!r}")
    for name in columns:
        if name not in ("task", *SHOWN, *NOT_SHOWN):
            raise UserError(f"{where}: unknown column {name!r}")


def p_column(effect_type: str, task_interval: str, test: str, correction: str) -> tuple[str, str]:
    """The column of the effects file that holds the p-values shown, and what they are, in words.

    Where there is no test of a difference it is the p-value of the interval, which has no correction.
    """
    effect = effect_named(effect_type)
    if test == "interval" or not effect.HAS_DIFFERENCE:
        return "p_value", task_interval_named(task_interval).P_VALUE.format(statistic=effect.STATISTIC)
    column, name_of_test = TESTS[test]
    if correction == "none":
        return f"{column}_value", name_of_test
    suffix, name = CORRECTIONS[correction]
    return f"{column}_{suffix}", f"{name_of_test}, {name}-adjusted over the tasks"


def rows(comparison: Found, column: str, labels: Labels) -> tuple[Row, ...]:
    """The tasks of a comparison, in the order of the configuration, with the p-values of `column`."""
    return tuple(
        Row(task=labels.task(cells["task"]), p_value=cells[column], **{name: cells[name] for name in SHOWN})
        for cells in comparison.effects.to_dict("records")
    )


def diamond(comparison: Found, correction: str) -> Diamond | None:
    """The summary of a comparison, its p-value corrected as those of tasks are; None where no task has an effect."""
    summary, family = comparison.meta["summary"], comparison.family
    if summary is None:
        return None
    prediction = comparison.meta["prediction_interval"]
    shown = Diamond(
        **{name: summary[name] for name in ("effect", "ci_low", "ci_high", "p_value")},
        prediction_interval=tuple(prediction) if prediction else None,
    )
    if family is None:
        return shown
    if correction != "none":
        shown = replace(shown, p_value=getattr(family, f"p_{CORRECTIONS[correction][0]}"))
    return replace(shown, p_holm=family.p_holm, family=family.size)


def summary_note(comparisons: list[Found], correction: str) -> str:
    """How the p-values of summaries are adjusted, in words; empty where they are not."""
    family = comparisons[0].family
    if family is None or correction == "none":
        return ""
    return f"{CORRECTIONS[correction][1]}-adjusted over the experiment's {family.size} comparisons"


def heterogeneity(meta: dict) -> Heterogeneity | None:
    """The heterogeneity of a meta file; None for fewer than two tasks."""
    if meta.get("q") is None:
        return None
    return Heterogeneity(
        q=meta["q"], df=meta["q_df"], p_value=meta["q_p_value"], i2=meta["i2"], tau2=meta["tau2"],
        tau2_ci=tuple(meta["tau2_ci"]) if meta["tau2_ci"] else None,
    )  # fmt: skip


def forest(comparisons: list[Found], looks: Looks, labels: Labels) -> Forest:
    """The forest plot of comparisons that share a control and looks."""
    first = comparisons[0].meta
    column, p_note = p_column(first["effect_type"], first["task_interval"], looks.p, looks.correction)
    groups = tuple(
        Group(
            treatment=labels.system(comparison.meta["treatment"]),
            rows=rows(comparison, column, labels),
            summary=diamond(comparison, looks.correction),
            heterogeneity=heterogeneity(comparison.meta),
        )
        for comparison in comparisons
    )
    return Forest(
        control=labels.system(first["control"]),
        groups=groups,
        effect_type=first["effect_type"],
        measure=first["measure"],
        p_note=p_note,
        seeds_note=seeds_note([comparison.meta for comparison in comparisons], labels.system),
        clusters_note=clusters_note(comparisons[0].effects, labels.task),
        summary_note=summary_note(comparisons, looks.correction),
        alpha=looks.alpha,
        estimator=first.get("estimator", looks.estimator),  # that of dependent tasks may be another than asked for
        interval=first.get("interval", looks.interval),
        judged=looks.judged,
        title=looks.title,
        sort=looks.sort,
        width=looks.width,
    )
