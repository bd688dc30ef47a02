"""The methods of a comparison of two systems: keys of a comparison in a configuration, and settings of its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from ranktrial.common.keys import FilePath, Level, Needs, Rule
from ranktrial.common.plugins import own_keys
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.task_intervals import task_interval_named

RANDOM, CONDITIONAL = "random", "conditional"  # seeds
ESTIMATED, INDEPENDENT = "estimated", "independent"  # dependence
FIRST = "first"  # of the measures of the tasks
FilesOfTasks = Annotated[dict[str, FilePath], Rule(min_properties=1)]


def _has_difference(effect: str) -> bool:
    return effect_named(effect).HAS_DIFFERENCE


DIFFERENCE = Needs("an effect of a difference, as MD", path="effect", such=_has_difference)


@dataclass(frozen=True, kw_only=True)
class Bayesian:
    """The priors of a Bayesian summary."""

    tau_scale: Annotated[
        float | None,
        "scale of the prior, on the scale of the effect; default for MD a tenth of the measure's scale (1; for "
        "values above 1 the next power of ten, such as 100 for percentages), otherwise 0.5",
        Rule(exclusive_minimum=0, maximum=1_000_000),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """The measure, and the statistics that summarise and test its differences."""

    measure: Annotated[
        str,
        "the measure that is compared: one of measures (first: the first of them) or, for scores, that of the dataset",
    ] = FIRST
    effect: str = "MD"
    estimator: Annotated[str, "estimator of the variance between tasks"] = "REML"
    interval: Annotated[str, "interval of the summary effect"] = "equal-weights"
    task_interval: Annotated[
        str, "interval of each task's effect; for a correlation, Fisher's z with the normal distribution, or bca"
    ] = "t"
    prediction: Annotated[
        Literal["confidence-distribution", "k-2", "k-1"],
        "interval of the effect in a new collection: from the confidence distribution of tau, or from the t "
        "distribution with this number of degrees of freedom for k tasks",
    ] = "confidence-distribution"
    small_tasks: Annotated[
        Literal["shrunk", "own"],
        "variances in the summary of tasks with fewer than 50 queries: shrunk towards the pooled variance of a "
        "query, or their own",
    ] = "shrunk"
    seeds: Annotated[
        Literal["random", "conditional"],
        "random: intervals include the variance between training seeds; conditional: given the seeds",
    ] = "random"
    dependence: Annotated[
        Literal["estimated", "independent"],
        "dependence between tasks that share a corpus; estimated: from the queries and relevant documents that "
        "they share, and as a separate level of the model; independent: none",
    ] = "estimated"
    clusters: Annotated[
        Literal["auto", "gold-document", "query"] | FilesOfTasks,
        "clusters of queries; gold-document: queries that share a relevant document, directly or through others, "
        "count as one; auto: as gold-document if there are at least two clusters, and never for a narrower interval; "
        "query: each query is its own cluster; or a mapping of tasks to files with lines of query id, tab, cluster",
    ] = "auto"
    alpha: Annotated[Level, "significance level; all intervals have confidence level 1 - alpha"] = 0.05
    ddof: Annotated[Literal[0, 1], "standard deviations divide by n - ddof"] = 1
    permutations: Annotated[
        int, "number of permutations in the randomisation test", Rule(minimum=1, maximum=100_000_000)
    ] = 100_000
    bayesian: Annotated[
        Bayesian | None,
        "add a Bayesian summary with a uniform prior on the effect and a half-normal prior on tau; {} uses the "
        "defaults",
    ] = None
    margin: Annotated[
        float | None,
        "smallest difference in the measure that matters, for equivalence and non-inferiority tests",
        DIFFERENCE,
        Rule(exclusive_minimum=0),
    ] = None
    cumulative: Annotated[bool, "add the cumulative summaries: of the first task, the first two, ..."] = False


@dataclass(frozen=True, kw_only=True)
class Method(Statistics):
    """The methods of a comparison, with what its key in the configuration does not say."""

    seed: Annotated[int, "of the randomisation test and of resampling"] = 42
    lower_is_better: Annotated[bool, "of the measure: not worse is not higher by more than the margin"] = False
    reach: Annotated[float | None, "the largest difference that the measure allows, where intervals end"] = None
    own: Annotated[Mapping[str, Any], "keys that the effect type and the interval of tasks declare"] = field(
        default_factory=dict
    )

    @property
    def effect_keys(self) -> Any:
        """The effect type's own keys."""
        return own_keys(effect_named(self.effect), self.own)

    @property
    def interval_keys(self) -> Any:
        """The own keys of the interval of tasks."""
        return own_keys(task_interval_named(self.task_interval), self.own)


DEFAULTS = Method()
