"""How a comparison is computed: the keys of `comparisons` that effects, intervals and tests are made by.

Effects and intervals of tasks may declare further keys. What fits which effect is checked in comparisons.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from scripts.common.keys import LEFT_OUT, FilePath, Level, Rule

FilesOfTasks = Annotated[dict[str, FilePath], Rule(min_properties=1)]


@dataclass(frozen=True, kw_only=True)
class Bayesian:
    """The priors of a Bayesian summary."""

    tau_scale: Annotated[
        float | None,
        "the prior's scale, on that of the effect; if left out, for MD a tenth of the measure's (1; for values above 1 "
        "the next power of ten, such as 100 for percentages), 0.5 otherwise",
        Rule(exclusive_minimum=0, maximum=1_000_000),
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """The measure, and how its differences are summarised and tested."""

    measure: Annotated[str, "the measure that is compared, by its name in ir-measures"] = "nDCG@10"
    effect: str = "MD"
    estimator: Annotated[str, "estimator of the variance between tasks"] = "REML"
    interval: Annotated[str, "interval of the summary effect"] = "equal-weights"
    task_interval: Annotated[
        str,
        "interval of each task's effect; a correlation has that of Fisher's z by the normal distribution, or bca",
    ] = "t"
    prediction: Annotated[
        Literal["confidence-distribution", "k-2", "k-1"],
        "interval of the effect in a new collection: by the confidence distribution of tau, or by the t distribution "
        "with these degrees of freedom, of k tasks",
    ] = "confidence-distribution"
    small_tasks: Annotated[
        Literal["shrunk", "own"],
        "variances of tasks of fewer than 50 queries in the summary: shrunk towards the pooled variance of a query, or "
        "own",
    ] = "shrunk"
    seeds: Annotated[
        Literal["random", "conditional"],
        "random: intervals include the variance between training seeds; conditional: given the seeds",
    ] = "random"
    dependence: Annotated[
        Literal["estimated", "independent"],
        "of tasks of one corpus; estimated: from queries and relevant documents that they share, and as a level of its "
        "own; independent: none",
    ] = "estimated"
    clusters: Annotated[
        Literal["auto", "gold-document", "query"] | FilesOfTasks,
        "of queries; gold-document: those that share a relevant document, themselves or over others, count once; auto: "
        "that where there are enough clusters, and never for a narrower interval; query: each query is its own; or by "
        "task, a file of lines of query id, tab, cluster",
    ] = "auto"
    alpha: Annotated[Level, "1 - alpha is the level of all intervals"] = 0.05
    ddof: Annotated[Literal[0, 1], "standard deviations divide by n - ddof"] = 1
    permutations: Annotated[int, "of the randomisation test", Rule(minimum=1, maximum=100_000_000)] = 100_000
    bayesian: Annotated[
        Bayesian | None,
        "add a Bayesian summary: uniform prior of the effect, half-normal prior of tau; {} is enough",
        LEFT_OUT,
    ] = None
    margin: Annotated[
        float | None,
        "the smallest difference in the measure that matters: equivalence and non-inferiority tests",
        Rule(exclusive_minimum=0),
        LEFT_OUT,
    ] = None
    cumulative: Annotated[bool, "add the summaries of the first task, the first two, ..."] = False
