"""meta/{comparison}.json: the summary of a comparison, its heterogeneity, and the dependence of its effects."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from ranktrial.common.keys import INLINE
from ranktrial.records.dependence import DependenceRecord
from ranktrial.statistics.meta_analysis.bayes import BayesianSummary
from ranktrial.statistics.meta_analysis.equivalence import SummaryEquivalence
from ranktrial.statistics.meta_analysis.independent import MetaAnalysis, MetaResult
from ranktrial.statistics.meta_analysis.summaries import Summary
from ranktrial.statistics.sensitivity import SameTask


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
