"""The results of a comparison for figures and tables, from effects/{comparison}.tsv and meta/{comparison}.json.

Writes nothing. A meta record and the adjusted p-values of tables/comparisons.tsv become the typed parts of a forest
plot: means on these collections, over collections like these, against the margin, their heterogeneity, and notes on
seeds, clustered queries and weights. Names are replaced by labels here; which p-value a task shows is chosen here, too,
by the settings that figures and tables share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.common.settings import read_record
from ranktrial.common.tables import EFFECTS, read_table
from ranktrial.configuration.sections.comparison import Figure
from ranktrial.records.comparison import ComparisonRow, MetaRecord, ModerationRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.forest_data import (
    AgainstMargin,
    Diamond,
    Forest,
    Group,
    Heterogeneity,
    Margin,
    Row,
    Subgroup,
)
from ranktrial.reports.comparison.moderation import between_groups, read_moderation
from ranktrial.reports.comparison.plot_text import degrees_of_freedom
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.moderation import Subgroups
from ranktrial.statistics.summaries import Summary
from ranktrial.statistics.task_intervals import task_interval_named


@dataclass(frozen=True)
class Adjusted:
    """A p-value by Holm and by Benjamini-Hochberg for a number of hypotheses; None if there is no test."""

    holm: float | None = None
    bh: float | None = None
    hypotheses: int = 1


@dataclass(frozen=True)
class Adjustment:
    """The adjusted tests of one comparison: of its random-effects summary, of its mean on these collections, and of the
    summary against the margin; and the name of the family within which they are adjusted, if it has one.
    """

    summary: Adjusted
    fixed_mean: Adjusted
    equivalence: Adjusted
    non_inferiority: Adjusted
    family: str = ""

    @property
    def scope(self) -> str:
        """What p-values are corrected for, as text."""
        whole = f"family {self.family}" if self.family else "the experiment"
        return f"the {self.summary.hypotheses} hypotheses of {whole}"


def rows_of(comparisons: pd.DataFrame) -> list[ComparisonRow]:
    """The rows of tables/comparisons.tsv; empty cells are None."""
    filled = comparisons.astype(object).where(comparisons.notna(), None)
    return [ComparisonRow(**row) for row in filled.to_dict("records")]


def adjustments(comparisons: pd.DataFrame) -> dict[str, Adjustment]:
    """Comparison -> its adjusted tests, from the rows of tables/comparisons.tsv."""
    return {row.comparison: _adjustment(row) for row in rows_of(comparisons)}


def _adjustment(row: ComparisonRow) -> Adjustment:
    tests, margin = row.hypotheses, row.margin_hypotheses
    return Adjustment(
        summary=Adjusted(row.p_holm, row.p_bh, tests),
        fixed_mean=Adjusted(row.fixed_mean_p_holm, row.fixed_mean_p_bh, tests),
        equivalence=Adjusted(row.p_equivalence_holm, row.p_equivalence_bh, margin),
        non_inferiority=Adjusted(row.p_non_inferiority_holm, row.p_non_inferiority_bh, margin),
        family=row.family or "",
    )


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


def seeds_note(found: list[tuple[pd.DataFrame, MetaRecord]], system: Callable[[str], str]) -> str:
    """Which intervals of these effects and meta records include the variance between training seeds, in sentences;
    empty where no system is trained here. `system` gives a system's label.
    """
    said: dict[str, dict[str, None]] = {}
    unknown: dict[str, None] = {}
    for effects, meta in found:
        for role, record in meta.seeds.items() if isinstance(meta.seeds, dict) else []:
            names = {"control": [meta.control], "treatment": [meta.treatment]}
            name = " and ".join(system(name) for name in names.get(role, [meta.control, meta.treatment]))
            if record.status == "unknown":
                unknown[name] = None
            elif meta.meta is not None:
                lender = f" of {system(record.source)}" if record.status == "borrowed" else ""
                seeds = f"{name}: {record.spread.seeds} seeds{lender}" if record.spread else name
                said.setdefault(_includes_seeds(effects, meta), {})[seeds] = None
    parts = [form.format("; ".join(names)) for form, names in said.items()]
    if unknown:
        parts.append(
            f"The seed variance of {', '.join(unknown)} is unknown: intervals do not include it and are too narrow."
        )
    return " ".join(parts)


def _includes_seeds(effects: pd.DataFrame, meta: MetaRecord) -> str:
    """Which intervals include seed variance, as a sentence with a place for its sources."""
    shown = effects[effects["effect"].notna()]
    of_tasks = int(shown["seeds_variance"].notna().sum()) if "seeds_variance" in shown else 0
    if meta.meta is None or meta.meta.given_seeds is None:
        return "Intervals take the seeds as given ({})."
    if of_tasks == len(shown):
        return "Intervals include seed variance ({})."
    others = "those of tasks" if not of_tasks else f"those of {len(shown) - of_tasks} of {len(shown)} tasks"
    included = "Intervals of means" if not of_tasks else "Intervals"
    return f"{included} include seed variance ({{}}); {others} take the seeds as given."


def by_treatment(notes: Mapping[str, str]) -> str:
    """The notes of a figure's treatments: one where all have the same, else each with the name of its treatment."""
    if len(set(notes.values())) == 1:
        return next(iter(notes.values()))
    return " ".join(f"{treatment}: {note}" for treatment, note in notes.items() if note)


def clusters_note(effects: pd.DataFrame, meta: MetaRecord, task: Callable[[str], str]) -> str:
    """The tasks whose queries are clustered, with the design effect as estimated and the degrees of freedom of the
    t-test; empty if none is. `task` gives a task's label. What counts as 1 because clusters are the default's choice
    is said.
    """
    if not (clustered := clustered_tasks(effects)):
        return ""
    rows = effects[effects["task"].isin(clustered)].to_dict("records")
    degrees = [_df(row.get("t_df")) for row in rows]
    tasks = [
        f"{task(row['task'])} {row['clusters']:,.0f} ({row['design_effect']:.2f}{df})"
        for row, df in zip(rows, degrees, strict=True)
    ]
    counts_as_1 = ", values below 1 count as 1" if meta.clusters_as_independent else ""
    of_test = ", df of t" if any(degrees) else ""
    return f"Clusters of queries (design effect{counts_as_1}{of_test}): {'; '.join(tasks)}."


def _df(df: float | None) -> str:
    return "" if df is None or pd.isna(df) else f", {degrees_of_freedom(df)}"


def clustered_tasks(effects: pd.DataFrame) -> list[str]:
    """The tasks whose queries are clustered."""
    if "clusters" not in effects:
        return []
    return effects.loc[effects["clusters"].notna() & effects["design_effect"].notna(), "task"].tolist()


def note_of_test(effects: pd.DataFrame, meta: MetaRecord, test: str) -> str:
    """On how many tasks a test includes clusters of queries or seeds; empty if on none.

    `test` is t-test, randomisation or interval. Seeds enter what follows from a variance, not a randomisation test,
    which flips clusters as a whole unless they count as independent.
    """
    tested = int(effects["effect"].notna().sum())
    clustered = clustered_tasks(effects)
    if test == "randomisation":
        flipped = set(clustered) - set(meta.clusters_as_independent)
        return f" (clusters flipped as a whole on {_of(len(flipped), tested)})" if flipped else ""
    with_seeds = int((effects["seeds_variance"].astype(float) > 0).sum()) if "seeds_variance" in effects else 0
    parts = [f"cluster-robust on {_of(len(clustered), tested)}"] if clustered else []
    parts += [f"including seed variance, above 0 on {_of(with_seeds, tested)}"] if with_seeds else []
    return f" ({', '.join(parts)})" if parts else ""


def _of(some: int, whole: int) -> str:
    return f"all {whole} tasks" if some == whole > 1 else f"{some} of {whole} task{'' if whole == 1 else 's'}"


def negative_weights_note(effects: list[pd.DataFrame], task: Callable[[str], str]) -> str:
    """Which tasks have a weight below 0 in a summary of these effects, and why; empty if none has. `task` gives a
    task's label.
    """
    rows = [row for of_comparison in effects for row in of_comparison.itertuples(index=False)]
    below = ", ".join(dict.fromkeys(task(row.task) for row in rows if pd.notna(row.weight) and row.weight < 0))
    if not below:
        return ""
    return f"Negative weight ({below}): the effect correlates strongly with a more precise one."


@dataclass(frozen=True, kw_only=True)
class Looks(Figure):
    """The settings of a figure or table of a comparison: what is compared, and how it is shown."""

    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    estimator: Annotated[str, "of tau2, to be named"]
    interval: Annotated[str, "of the summary, to be named"]
    judged: Annotated[str, "column of the metrics with the share of judged documents, such as Judged@10; empty: none"]
    lower_is_better: Annotated[bool, "of the measure: a negative difference favours the treatment"] = False
    trained: Annotated[dict[str, list[str]], "system: the tasks on whose training queries it learnt"] = field(
        default_factory=dict
    )
    unstated: Annotated[list[str], "systems of whose published weights nobody states what they were trained on"] = (
        field(default_factory=list)
    )


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

# The columns of an effects file (docs/results.md): those that a row of a figure shows, and those for other readers.
SHOWN = tuple(name for name in Row.__dataclass_fields__ if name not in ("task", "name", "p_value", "trained"))
NOT_SHOWN = (
    *("variance", "se", "p_value", "log10_p", "t", "t_df", "t_log10_p"),
    *(f"{test}_{p}" for test in ("t_p", "randomisation_p") for p in ("value", "holm", "bh")),
    *(f"{test}_{p}" for test in AGAINST_MARGIN for p in ("holm", "bh")),
    *("control_seed_sd", "treatment_seed_sd", "variance_with_seeds", "seed_share"),
    *("clusters", "design_effect", "seeds_variance", "interval_df", "model_weight", "model_queries"),
)


@dataclass(frozen=True)
class Found:
    """The results of one comparison: its effects file, its meta record, its place among all, its moderators' record."""

    effects: pd.DataFrame
    meta: MetaRecord
    family: Adjustment | None = None
    moderation: ModerationRecord | None = None


def read_found(effects: Path, meta: Path, family: Adjustment | None = None, moderators: Path | None = None) -> Found:
    """Read the files of a comparison; empty cells are None. Raises UserError for columns that do not fit."""
    table = read_table(effects, *EFFECTS)
    check_columns(list(table.columns), str(effects))
    moderation = read_moderation(moderators) if moderators else None
    return Found(without_missing(table), read_record(MetaRecord, meta), family, moderation)


def without_missing(table: pd.DataFrame) -> pd.DataFrame:
    """A table of objects, whose empty cells are None."""
    objects = table.astype(object)
    return objects.where(table.notna(), None)


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
    suffix, author = CORRECTIONS[correction]
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
    corrected = "value" if looks.correction == "none" else CORRECTIONS[looks.correction][0]
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
    return f"{CORRECTIONS[correction][1]}-corrected for {family.scope}"


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
        correction=CORRECTIONS[looks.correction][1] if looks.correction != "none" else "",
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
        summary=summary(meta, family, correction),
        fixed_mean=fixed_mean(meta, family, correction),
        heterogeneity=heterogeneity(meta),
        fixed=fixed(meta) if looks.fixed else None,
        posterior=meta.bayesian if looks.bayesian else None,
        margin=margin(meta, family, correction),
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
