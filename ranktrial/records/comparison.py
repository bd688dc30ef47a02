"""The records and table rows of comparisons: effects, summary, moderators, and the tables of several comparisons.

effects/{comparison}.tsv: one row per task, with unadjusted p-values. meta/{comparison}.json: the summary of a
comparison, its heterogeneity, and the dependence of its effects. moderators/{comparison}.json: models that explain the
differences between its tasks. tables/comparisons.tsv: one row per comparison, with adjusted p-values.
multiple-comparisons/{family}.json and its table: simultaneous tests of many systems, and their differences. Cells of
tables that do not apply are empty.

Dependence holds plain numbers for jobs that fit the same effects again: it is converted to a record and back to the
same Dependence, to the last digit. Independent tasks with seeds taken as given have no record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, TypeVar

import numpy as np
import pandas as pd

from ranktrial.common.keys import INLINE
from ranktrial.statistics.bayes import BayesianSummary
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.independent_tasks import MetaAnalysis, MetaResult
from ranktrial.statistics.moderation import Model, Subgroups
from ranktrial.statistics.seeds import SeedEffects, SeedSource
from ranktrial.statistics.sensitivity import SameTask
from ranktrial.statistics.summaries import Summary, SummaryEquivalence

Row = TypeVar("Row")


def without_missing(table: pd.DataFrame) -> pd.DataFrame:
    """A table of objects, whose empty cells are None."""
    objects = table.astype(object)
    return objects.where(table.notna(), None)


def rows_of(kind: type[Row], table: pd.DataFrame) -> list[Row]:
    """The rows of a table as records, whose fields are its columns; empty cells are None."""
    return [kind(**row) for row in without_missing(table).to_dict("records")]


def table_of(rows: Iterable[object]) -> pd.DataFrame:
    """Records as the rows of a table of objects."""
    return pd.DataFrame([dict(vars(row)) for row in rows], dtype=object)


@dataclass(frozen=True)
class SeedEffectsRecord:
    """The seed effects of one system (statistics/dependence/seeds_part.py)."""

    source: str
    seeds: int
    covariance: list[list[float]]
    residual: list[list[float]]
    shares: list[list[float]]
    per_unit: list[float]
    groups: list[float]


@dataclass(frozen=True)
class DependenceRecord:
    """The dependence of effects (statistics/dependence/structure.py)."""

    sampling: list[list[float]]
    degrees: list[float]
    collections: list[int]
    shrunk: bool
    seed_effects: tuple[SeedEffectsRecord, ...]


def as_record(dependence: Dependence | None) -> DependenceRecord | None:
    """The record; None if effects are independent and have only their variances."""
    if dependence is None or (dependence.independent and not dependence.seed_effects and not dependence.shrunk):
        return None
    return DependenceRecord(
        sampling=dependence.sampling.tolist(),
        degrees=list(dependence.degrees),
        collections=list(dependence.collections),
        shrunk=dependence.shrunk,
        seed_effects=tuple(map(_seed_effects, dependence.seed_effects)),
    )


def _seed_effects(found: SeedEffects) -> SeedEffectsRecord:
    return SeedEffectsRecord(
        source=found.source.name,
        seeds=found.source.seeds,
        covariance=found.source.covariance.tolist(),
        residual=found.source.residual.tolist(),
        shares=found.shares.tolist(),
        per_unit=found.per_unit.tolist(),
        groups=found.groups.tolist(),
    )


def from_record(kept: DependenceRecord | None) -> Dependence | None:
    """The dependence of the tasks with an effect, in their order; None if there is no record."""
    if kept is None:
        return None
    seed_effects = []
    for one in kept.seed_effects:
        source = SeedSource(one.source, one.seeds, np.array(one.covariance), np.array(one.residual))
        seed_effects.append(SeedEffects(source, *map(np.array, (one.shares, one.per_unit, one.groups))))
    sampling, collections = np.array(kept.sampling), tuple(kept.collections)
    return Dependence(sampling, tuple(kept.degrees), collections, tuple(seed_effects), kept.shrunk)


@dataclass(frozen=True)
class NoEffect:
    """In place of a meta-analysis, if no task has an effect."""

    k: int
    summary: None


@dataclass(frozen=True)
class ShortSummary:
    """The summary of a subset of the tasks."""

    k: int
    interval: str
    summary: Summary
    tau2: float | None
    i2: float | None
    q: float | None


@dataclass(frozen=True)
class Asked:
    """The methods that the configuration requests, if others were used."""

    estimator: str
    interval: str


@dataclass(frozen=True)
class Covariance:
    """The covariance of the effects of tasks that share queries."""

    tasks: list[str]
    matrix: list[list[float]]


@dataclass(frozen=True)
class SeedsSpread:
    """The seeds behind the seed variance of a role: number, share of the summary's variance, sd between them."""

    seeds: int
    df: float
    variance: float
    sd: float
    sd_ci: tuple[float, float]


@dataclass(frozen=True)
class SeedsRecord:
    """The seeds from which the seed variance of a role is estimated: own, borrowed or unknown."""

    status: str
    source: str | None
    spread: Annotated[SeedsSpread | None, INLINE] = None


@dataclass(frozen=True)
class SensitivityRecord:
    """The summaries with the tasks on which every query has the same difference (statistics/sensitivity.py)."""

    assumption: str
    pooled_variance: float
    pooled_df: int
    tasks: dict[str, SameTask]
    k: int
    summary: Summary
    fixed_mean: Summary
    tau2: float | None
    q: float | None
    q_df: int | None
    q_p_value: float | None
    i2: float | None
    prediction_interval: tuple[float, float] | None


@dataclass(frozen=True)
class UnjudgedCase:
    """The means of a comparison in one case of its unjudged documents: on these collections, and over collections."""

    fixed_mean: Summary
    summary: Summary


@dataclass(frozen=True)
class UnjudgedRecord:
    """What unjudged documents could change (synthesis/unjudged.py): the means in each case.

    `number` has their mean number per query of each task, `documents` that of all documents that the measure counts in
    a run of either system.
    """

    number: dict[str, float]
    documents: dict[str, float]
    cases: dict[str, UnjudgedCase]


@dataclass(frozen=True)
class MetaRecord:
    """The record of a comparison. Fields that do not apply have their default and are not written.

    `seeds` by role, or `conditional` if they are taken as given; `collections` numbers the corpora of tasks;
    `clusters` counts those of tasks whose queries are clustered. `own`: keys that the effect type and the interval of
    tasks declare. `of_tasks`: a value is the score of a task of a leaderboard, not of a query. `reach`:
    the largest difference that the measure allows, where intervals end.
    `weightings`: the summary with other common weights (synthesise.py), and
    `fixed_mean_without` the mean on these collections without each task, for two or more.
    """

    control: str
    treatment: str
    measure: str
    ddof: int
    permutations: int
    prediction: str
    small_tasks: str
    effect_type: str
    task_interval: str
    result: Annotated[MetaResult | NoEffect, INLINE]
    fixed_mean: Summary | None
    leave_one_out: dict[str, ShortSummary]
    warnings: list[str]
    asked: Asked | None = None
    cumulative: dict[str, ShortSummary] | None = None
    bayesian: BayesianSummary | None = None
    equivalence: SummaryEquivalence | None = None
    seeds: str | dict[str, SeedsRecord] | None = None
    covariance: Covariance | None = None
    collections: dict[str, int] = field(default_factory=dict)
    dependence: DependenceRecord | None = None
    clusters: dict[str, int] = field(default_factory=dict)
    clusters_as_independent: list[str] = field(default_factory=list)
    sensitivity: SensitivityRecord | None = None
    unjudged: UnjudgedRecord | None = None
    of_tasks: bool = False
    own: dict[str, Any] = field(default_factory=dict)
    reach: float | None = None
    weightings: dict[str, Summary] = field(default_factory=dict)
    fixed_mean_without: dict[str, Summary] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """The number of tasks with an effect."""
        return self.result.k

    @property
    def meta(self) -> MetaResult | None:
        """The meta-analysis; None if no task has an effect."""
        return self.result if isinstance(self.result, MetaResult) else None

    @property
    def summary(self) -> Summary | None:
        """The random-effects mean; None if no task has an effect."""
        return self.result.summary

    @property
    def numbers(self) -> dict[str, Any]:
        """All values of the record, its meta-analysis and its summary by name; None if there is no meta-analysis."""
        result = {one.name: getattr(self.result, one.name, None) for one in fields(MetaResult)}
        summary = {one.name: getattr(self.summary, one.name, None) for one in fields(Summary)}
        return vars(self) | result | summary


def result_of(meta: MetaAnalysis | None) -> MetaResult | NoEffect:
    """The part of a meta-analysis that is stored here; the weights are in the effects file."""
    if meta is None:
        return NoEffect(0, None)
    return MetaResult(**{one.name: getattr(meta, one.name) for one in fields(MetaResult)})


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


@dataclass(frozen=True, kw_only=True)
class EffectsRow:
    """One task; the fields are the columns. `_holm` and `_bh` are p-values corrected for the number of tasks."""

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
    t_p_holm: float | None = None
    t_p_bh: float | None = None
    t_log10_p: float | None = None
    randomisation_p_value: float | None = None
    randomisation_p_holm: float | None = None
    randomisation_p_bh: float | None = None
    equivalence_p_value: float | None = None
    equivalence_p_holm: float | None = None
    equivalence_p_bh: float | None = None
    non_inferiority_p_value: float | None = None
    non_inferiority_p_holm: float | None = None
    non_inferiority_p_bh: float | None = None
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


@dataclass(frozen=True)
class ScopeRecord:
    """The test on one task or over all tasks; `critical_value` None: no difference can be significant."""

    task: str
    queries: int
    permutations: int
    exact: bool
    critical_value: float | None


@dataclass(frozen=True)
class Difference:
    """One row of the table: two systems on one task or over all tasks; the fields are the columns."""

    task: str
    n: int
    system: str
    other: str
    system_mean: float
    other_mean: float
    difference: float
    se: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float
    parametric_p_value: float | None
    system_letters: str | None
    other_letters: str | None


@dataclass(frozen=True)
class FamilyRecord:
    """A family, its settings and its tests; `seeds` is the number of seeds per system. `of_tasks`: a value is the
    score of a task of a leaderboard, not of a query.
    """

    systems: list[str]
    against: str | None
    measure: str
    statistic: str
    alpha: float
    lower_is_better: bool
    seeds: dict[str, int]
    scopes: tuple[ScopeRecord, ...]
    warnings: tuple[str, ...]
    of_tasks: bool = False


@dataclass(frozen=True)
class ModerationRecord:
    """The models of a comparison's effects; `values` by task and moderator, `labels` by moderator.

    `depends_on` is a text: the dependence between effects that the models include.
    """

    effect_type: str
    estimator: str
    interval: str
    alpha: float
    depends_on: list[str]
    labels: dict[str, str]
    values: dict[str, dict[str, float | str]]
    models: tuple[Model, ...]
    subgroups: Subgroups | None = None
