"""The results of a comparison for figures and tables, from effects/{comparison}.tsv and meta/{comparison}.json.

Writes nothing. Names are replaced by labels here; which p-value a task shows is chosen here, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.records import read_record
from ranktrial.common.tables import EFFECTS, read_table
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.moderation import ModerationRecord
from ranktrial.reports.comparison import means
from ranktrial.reports.comparison.adjustment import Adjustment
from ranktrial.reports.comparison.dependence_notes import (
    by_treatment,
    clusters_note,
    negative_weights_note,
    note_of_test,
    seeds_note,
)
from ranktrial.reports.comparison.forest_data import Diamond, Forest, Group, Row, Subgroup
from ranktrial.reports.comparison.looks import Looks
from ranktrial.reports.comparison.moderation import between_groups, read_moderation
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.meta_regression.moderation import Subgroups
from ranktrial.statistics.task_intervals import task_interval_named

MOST_WITH_TASKS = 3  # treatments of a figure with a row for each task of each
TESTS = {
    "t-test": ("t_p", "paired t-test"),
    "randomisation": ("randomisation_p", "paired randomisation test"),
}
ROLES = ("control", "treatment")
AGAINST_MARGIN = ("equivalence_p", "non_inferiority_p")  # beginnings of the columns of both tests
# What a forest plot has as it is asked for.
AS_IN_LOOKS = (
    *("alpha", "judged", "title", "sort", "width", "height", "x_label", "limits", "ticks", "columns", "digits"),
    *("lower_is_better", "notes"),
)

# The columns of an effects file (docs/statistics.md): those that a row of a figure shows, and those for other readers.
SHOWN = tuple(name for name in Row.__dataclass_fields__ if name not in ("task", "name", "p_value", "trained"))
NOT_SHOWN = (
    *("variance", "se", "p_value", "log10_p", "t", "t_df", "t_log10_p"),
    *(f"{test}_{p}" for test in ("t_p", "randomisation_p") for p in ("value", "holm", "bh")),
    *(f"{test}_{p}" for test in AGAINST_MARGIN for p in ("holm", "bh")),
    *("control_seed_sd", "treatment_seed_sd", "variance_with_seeds", "seed_share"),
    *("clusters", "design_effect", "seeds_variance", "interval_df", "model_weight", "model_queries"),
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


@dataclass(frozen=True)
class Found:
    """The results of one comparison: its effects file, its meta record, its place among all, its moderators' record."""

    effects: pd.DataFrame
    meta: MetaRecord
    family: Adjustment | None = None
    moderation: ModerationRecord | None = None


def read_found(effects: Path, meta: Path, family: Adjustment | None = None, moderators: Path | None = None) -> Found:
    """Read the files of a comparison; empty cells are None. Raises UserError for columns that do not fit."""
    table = read_table(effects, *EFFECTS).astype(object)
    check_columns(list(table.columns), str(effects))
    moderation = read_moderation(moderators) if moderators else None
    return Found(table.where(table.notna(), None), read_record(MetaRecord, meta), family, moderation)


def check_columns(columns: list[str], where: str) -> None:
    """Raise UserError, beginning with `where`, for a missing column and for an unknown one."""
    for name in ("task", *SHOWN):
        if name not in columns:
            raise UserError(f"{where}: no column {name!r}")
    for name in columns:
        if name not in ("task", *SHOWN, *NOT_SHOWN):
            raise UserError(f"{where}: unknown column {name!r}")


def p_column(comparison: Found, test: str, correction: str) -> tuple[str, str]:
    """The column of the effects file that holds the p-values shown, and what they are, as text.

    Where there is no test of a difference it is the p-value of the interval, which has no correction.
    """
    meta = comparison.meta
    effect = effect_named(meta.effect_type)
    if test == "interval" or not effect.HAS_DIFFERENCE:
        name = task_interval_named(meta.task_interval).P_VALUE.format(statistic=effect.STATISTIC)
        return "p_value", name + note_of_test(comparison.effects, meta, "interval")
    column, name = TESTS[test]
    name += note_of_test(comparison.effects, meta, test)
    if correction == "none":
        return f"{column}_value", name
    suffix, author = means.CORRECTIONS[correction]
    return f"{column}_{suffix}", f"{name}, {author}-corrected for the number of tasks"


def p_note(comparisons: list[Found], looks: Looks, labels: Labels) -> str:
    """The method of the tasks' p-values, as text; by treatment if comparisons differ."""
    treatments: dict[str, list[str]] = {}
    for one in comparisons:
        _, name = p_column(one, looks.p, looks.correction)
        treatments.setdefault(name, []).append(labels.system(one.meta.treatment))
    if len(treatments) == 1:
        return next(iter(treatments))
    return "; ".join(f"{', '.join(names)}: {name}" for name, names in treatments.items())


def rows(comparison: Found, column: str, looks: Looks, labels: Labels) -> tuple[Row, ...]:
    """The tasks of a comparison, in the order of the configuration, with the p-values of `column`; those of the tests
    against the margin are corrected as the figure's are.
    """
    made, trained = [], looks.trained
    corrected = "value" if looks.correction == "none" else means.CORRECTIONS[looks.correction][0]
    for cells in comparison.effects.to_dict("records"):
        roles = [role for role in ROLES if cells["task"] in trained.get(getattr(comparison.meta, role), [])]
        shown = {name: cells.get(name) for name in SHOWN}
        shown |= {f"{test}_value": cells.get(f"{test}_{corrected}") for test in AGAINST_MARGIN}
        names = {"task": labels.task(cells["task"]), "name": cells["task"]}
        made.append(Row(**names, p_value=cells[column], trained=tuple(roles), **shown))
    return tuple(made)


def summary_note(comparisons: list[Found], correction: str) -> str:
    """How the p-values of means are adjusted, as text; empty if they are not."""
    family = comparisons[0].family
    if family is None or correction == "none" or family.summary.hypotheses < 2:
        return ""
    return f"{means.CORRECTIONS[correction][1]}-corrected for {family.scope}"


def task_interval(meta: MetaRecord) -> str:
    """The method of the tasks' intervals, as text."""
    effect, label = effect_named(meta.effect_type), task_interval_named(meta.task_interval).LABEL
    return label if effect.HAS_DIFFERENCE else f"{label} on {effect.STATISTIC}"


def subgroups(groups: Subgroups | None, labels: Labels) -> tuple[Subgroup, ...]:
    """The subgroups of a comparison's tasks, if it has any; without subtotals where their model cannot be fitted."""
    if groups is None:
        return ()
    levels = (groups.model.fit.levels if groups.model.fit else None) or {}
    subtotals = {
        word: Diamond(one.summary.effect, one.summary.ci_low, one.summary.ci_high, one.summary.p_value)
        for word, one in levels.items()
    }
    return tuple(
        Subgroup(f"{groups.label}: {word}", tuple(map(labels.task, tasks)), subtotals.get(word))
        for word, tasks in groups.tasks.items()
    )


def forest(comparisons: list[Found], looks: Looks, labels: Labels) -> Forest:
    """The forest plot of comparisons that share a control and looks."""
    first = comparisons[0].meta
    column, _ = p_column(comparisons[0], looks.p, looks.correction)
    alone = len(comparisons) == 1
    used = first.meta or looks  # of the first treatment; others name their own
    return Forest(
        control=labels.system(first.control),
        groups=tuple(_group(comparison, column, looks, labels, alone) for comparison in comparisons),
        effect_type=first.effect_type,
        measure=first.measure,
        p_note=p_note(comparisons, looks, labels),
        correction=means.CORRECTIONS[looks.correction][1] if looks.correction != "none" else "",
        seeds_note=seeds_note([(one.effects, one.meta) for one in comparisons], labels.system),
        clusters_note=by_treatment(
            {
                labels.system(one.meta.treatment): clusters_note(one.effects, one.meta, labels.task)
                for one in comparisons
            }
        ),
        weights_note=negative_weights_note([comparison.effects for comparison in comparisons], labels.task),
        summary_note=summary_note(comparisons, looks.correction),
        estimator=used.estimator,
        interval=used.interval,
        task_interval=task_interval(first),
        unstated=tuple(map(labels.system, looks.unstated)),
        of_treatments=len(comparisons) > 1 and (looks.rows or _rows_by(len(comparisons))) == "treatments",
        **{name: getattr(looks, name) for name in AS_IN_LOOKS},
    )


def _rows_by(treatments: int) -> str:
    return "treatments" if treatments > MOST_WITH_TASKS else "tasks"


def _group(comparison: Found, column: str, looks: Looks, labels: Labels, alone: bool) -> Group:
    """The tasks and means of one treatment."""
    meta, family, correction = comparison.meta, comparison.family, looks.correction
    return Group(
        treatment=labels.system(meta.treatment),
        rows=rows(comparison, column, looks, labels),
        summary=means.summary(meta, family, correction),
        fixed_mean=means.fixed_mean(meta, family, correction),
        heterogeneity=means.heterogeneity(meta),
        fixed=means.fixed(meta) if looks.fixed else None,
        posterior=meta.bayesian if looks.bayesian else None,
        margin=means.margin(meta, family, correction),
        estimator=meta.meta.estimator if meta.meta else "",
        interval=meta.meta.interval if meta.meta else "",
        **_grouped(comparison, labels, alone),
    )


def _grouped(comparison: Found, labels: Labels, alone: bool) -> dict:
    """The subgroups of a comparison that is shown alone, and how they differ."""
    record = comparison.moderation if alone else None
    if record is None or record.subgroups is None:
        return {}
    return {"subgroups": subgroups(record.subgroups, labels), "between": between_groups(record.subgroups, record.alpha)}
