"""The results of comparisons as figures, tables and sentences show them; no text is made here.

Reads effects/{comparison}.tsv, meta/{comparison}.json and moderators/{comparison}.json; writes nothing. A forest plot
is these records with its looks and the facts of its systems and tasks. What follows from them is here: which p-value a
task shows, the p-values of means among all comparisons (tables/comparisons.tsv), and which columns are shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated

from ranktrial.common.errors import UserError
from ranktrial.common.settings import read_record
from ranktrial.common.tables import EFFECTS, read_table
from ranktrial.configuration.sections.comparison import Figure
from ranktrial.ir.nouns import Nouns, nouns_of
from ranktrial.records.comparison import ComparisonRow, EffectsRow, MetaRecord, ModerationRecord, rows_of
from ranktrial.records.facts import Facts, Labels
from ranktrial.statistics.bayes import BayesianSummary
from ranktrial.statistics.effects import EffectType, effect_named
from ranktrial.statistics.independent_tasks import MetaResult
from ranktrial.statistics.moderation import Subgroups
from ranktrial.statistics.summaries import Summary

WIDTHS = {"single column": 3.4, "double column": 7.0}  # inches, of a two-column journal page
NARROW = 5.2  # inches: the middle of both
MOST_WITH_TASKS = 3  # treatments of a figure with a row for each task of each
ROLES = ("treatment", "control")
# Of the columns of p-values: what they begin with by test, and end with by correction
TESTS = {"t-test": "t_p", "randomisation": "randomisation_p"}
ENDINGS = {"none": "value", "holm": "holm", "benjamini-hochberg": "bh"}
HYPOTHESES = {  # tests of a comparison, by their columns -> the column with the number of hypotheses
    "p": "hypotheses",
    "fixed_mean_p": "hypotheses",
    "p_equivalence": "margin_hypotheses",
    "p_non_inferiority": "margin_hypotheses",
}


@dataclass(frozen=True)
class PValues:
    """A test: its own p-value (None: no test), the one that is shown, and Holm's for a number of hypotheses."""

    p_value: float | None
    shown: float | None
    holm: float | None = None
    hypotheses: int = 1


@dataclass(frozen=True, kw_only=True)
class Mean(Summary):
    """A mean effect and its test."""

    test: PValues


@dataclass(frozen=True, kw_only=True)
class Looks(Figure):
    """The settings of a figure or table of a comparison: how it is shown."""

    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    judged: Annotated[str, "column of the metrics with the share of judged documents, such as Judged@10; empty: none"]


@dataclass(frozen=True)
class Found:
    """The results of one comparison: its tasks, its meta record, its row among all, its moderators."""

    effects: tuple[EffectsRow, ...]
    meta: MetaRecord
    family: ComparisonRow | None = None
    moderation: ModerationRecord | None = None

    @property
    def nouns(self) -> Nouns:
        """What it is over, in words."""
        return nouns_of(self.meta.measure, self.meta.of_tasks)

    @property
    def tested(self) -> list[EffectsRow]:
        """The tasks with an effect."""
        return [row for row in self.effects if row.effect is not None]

    def test(self, name: str, p_value: float | None, correction: str) -> PValues:
        """A test of the comparison, one of HYPOTHESES, as a figure with this correction shows it."""
        if self.family is None:
            return PValues(p_value, p_value)
        of_family = {ending: getattr(self.family, f"{name}_{ending}") for ending in ("holm", "bh")} | {"value": p_value}
        shown, hypotheses = of_family[ENDINGS[correction]], getattr(self.family, HYPOTHESES[name])
        return PValues(p_value, shown, of_family["holm"], hypotheses)


def read_found(effects: Path, meta: Path, family: ComparisonRow | None = None, moderators: Path | None = None) -> Found:
    """Read the files of a comparison. Raises UserError for columns that do not fit."""
    table = read_table(effects, *EFFECTS)
    check_columns(list(table.columns), str(effects))
    moderation = read_record(ModerationRecord, moderators) if moderators else None
    return Found(tuple(rows_of(EffectsRow, table)), read_record(MetaRecord, meta), family, moderation)


def check_columns(columns: Sequence[str], where: str) -> None:
    """Raise UserError, beginning with `where`, for a missing column of an effects file and for an unknown one."""
    known = [one.name for one in fields(EffectsRow)]
    for name in known:
        if name not in columns:
            raise UserError(f"{where}: no column {name!r}")
    for name in columns:
        if name not in known:
            raise UserError(f"{where}: unknown column {name!r}")


@dataclass(frozen=True)
class Group:
    """One treatment against the control, in a forest plot. `subgroups`: of its tasks, where they are shown."""

    found: Found
    looks: Looks
    facts: Facts
    subgroups: Subgroups | None = None

    @property
    def treatment(self) -> str:
        """Its label."""
        return self.facts.labels.system(self.found.meta.treatment)

    @property
    def rows(self) -> tuple[EffectsRow, ...]:
        """Its tasks in the order of the configuration."""
        return self.found.effects

    @property
    def result(self) -> MetaResult | None:
        """Its meta-analysis; None if no task has an effect."""
        return self.found.meta.meta

    @property
    def heterogeneity(self) -> MetaResult | None:
        """The same, where there are two tasks or more."""
        return self.result if self.result and self.result.q is not None else None

    @cached_property
    def summary(self) -> Mean | None:
        """The random-effects mean, over collections like these."""
        return self._mean("p", self.result.summary if self.result else None)

    @cached_property
    def fixed_mean(self) -> Mean | None:
        """The mean on these collections."""
        return self._mean("fixed_mean_p", self.found.meta.fixed_mean)

    def _mean(self, test: str, mean: Summary | None) -> Mean | None:
        if mean is None:
            return None
        return Mean(**vars(mean), test=self.found.test(test, mean.p_value, self.looks.correction))

    @property
    def fixed(self) -> Summary | None:
        """The fixed-effect summary, if it is asked for and no other is the same."""
        return self.result.fixed if self.looks.fixed and self.result and self.result.k > 1 else None

    @property
    def only_task(self) -> EffectsRow | None:
        """The only task with an effect, if the summary and its test say no more than its row."""
        if self.summary is None or len(self.found.tested) != 1 or self.summary.test.shown != self.summary.p_value:
            return None
        row = self.found.tested[0]
        same = math.isclose(row.ci_low, self.summary.ci_low) and math.isclose(row.ci_high, self.summary.ci_high)
        return row if same else None

    @property
    def posterior(self) -> BayesianSummary | None:
        """The Bayesian summary, if it is asked for."""
        return self.found.meta.bayesian if self.looks.bayesian else None

    @property
    def prediction(self) -> tuple[float, float] | None:
        """The prediction interval, if there is one."""
        return self.result.prediction_interval if self.result else None

    @property
    def margin(self) -> float | None:
        """The difference that does not matter, if the comparison has one."""
        return self.found.meta.equivalence.margin if self.found.meta.equivalence else None

    def against_margin(self, test: str) -> PValues:
        """The test of the summary against the margin: equivalence or non_inferiority."""
        name = f"p_{test}"
        return self.found.test(name, getattr(self.found.meta.equivalence, name), self.looks.correction)

    def learnt(self, row: EffectsRow, role: str) -> bool:
        """Whether the control or the treatment learnt from training queries of a task's dataset."""
        return self.facts.marked("trained", getattr(self.found.meta, role), row.task)


@dataclass(frozen=True)
class Forest:
    """A forest plot: comparisons with one control and the same looks, a group per treatment.

    `axis`: limits that it shares with other figures.
    """

    comparisons: tuple[Found, ...]
    looks: Looks
    facts: Facts
    axis: tuple[float, float] | None = None

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One per treatment; the tasks are in subgroups only where there is one treatment."""
        first, *others = self.comparisons
        subgroups = first.moderation.subgroups if first.moderation and not others else None
        return tuple(Group(one, self.looks, self.facts, subgroups) for one in self.comparisons)

    @property
    def labels(self) -> Labels:
        """Of tasks and systems."""
        return self.facts.labels

    @property
    def control(self) -> str:
        """The label of the control."""
        return self.labels.system(self.comparisons[0].meta.control)

    @property
    def measure(self) -> str:
        """What is compared."""
        return self.comparisons[0].meta.measure

    @property
    def nouns(self) -> Nouns:
        """What its comparisons are over, in words."""
        return self.comparisons[0].nouns

    @property
    def effect(self) -> EffectType:
        """All that is known of the type of its effects."""
        return effect_named(self.comparisons[0].meta.effect_type)

    @property
    def alpha(self) -> float:
        """1 - alpha is the level of confidence."""
        return self.looks.alpha

    @property
    def lower_is_better(self) -> bool:
        """Whether a negative effect favours the treatment."""
        return self.measure in self.facts.lower_is_better

    @property
    def unstated(self) -> list[str]:
        """The labels of systems of whose published weights nobody states what they were trained on."""
        systems = dict.fromkeys([self.comparisons[0].meta.control, *(one.meta.treatment for one in self.comparisons)])
        return [self.labels.system(name) for name in systems if name in self.facts.marks.get("unstated", {})]

    @property
    def limits(self) -> tuple[float, ...] | None:
        """Those of the axis, if they do not follow from the data."""
        return self.axis or self.looks.limits

    @property
    def of_treatments(self) -> bool:
        """Whether a row is a treatment, with its means alone, not a task."""
        treatments = len(self.comparisons)
        usual = "treatments" if treatments > MOST_WITH_TASKS else "tasks"
        return treatments > 1 and (self.looks.rows or usual) == "treatments"

    @property
    def inches(self) -> float:
        """Its width."""
        return WIDTHS[self.looks.width] if isinstance(self.looks.width, str) else self.looks.width

    @property
    def single(self) -> bool:
        """Whether it is so narrow that n and p are below task and effect."""
        return self.inches < NARROW

    @property
    def weighted(self) -> bool:
        """Whether tasks of a group have different weights in print; a column that is constant says nothing."""
        printed = [{f"{row.weight:.3f}" for row in group.rows if row.weight is not None} for group in self.groups]
        return any(len(weights) > 1 for weights in printed)

    @property
    def measured(self) -> bool:
        """Whether a task has the mean of a system; effects that are taken from a paper have none."""
        return any(row.control_mean is not None for group in self.groups for row in group.rows)

    def task(self, row: EffectsRow) -> str:
        """The label of a task."""
        return self.labels.task(row.task)

    @cached_property
    def p_column(self) -> str:
        """The column of the tasks' p-values: that of the interval, uncorrected, where no difference is tested."""
        if self.looks.p == "interval" or not self.effect.HAS_DIFFERENCE:
            return "p_value"
        return f"{TESTS[self.looks.p]}_{ENDINGS[self.looks.correction]}"

    def shows(self, column: str) -> bool:
        """Whether it shows a column (or, where it is narrow, n or p in the second line of a task)."""
        if self.looks.columns is not None:
            return column in self.looks.columns
        if self.of_treatments and column not in ("effect", "p"):
            return False
        if column == "weight" and not self.weighted:
            return False
        return not self.single or column in ("n", "effect", "p")
