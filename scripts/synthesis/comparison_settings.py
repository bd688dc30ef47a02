"""The settings of a comparison's job (compare.py): what the configuration says of one comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from scripts.experiment.seeds_of import SeedsOf


@dataclass(frozen=True)
class Bayesian:
    """The Bayesian summary beside the other."""

    tau_scale: Annotated[float | None, "of the half-normal prior of tau; none: by effect type and measure"] = None


@dataclass(frozen=True)
class Settings:
    """One comparison. Whether the values are allowed is for the configuration's schema to say."""

    control: Annotated[str, "the control's name"]
    treatment: Annotated[str, "the treatment's name"]
    measure: Annotated[str, "column of the metrics files"]
    effect: Annotated[str, "effect type: a file in scripts/synthesis/effects"]
    estimator: Annotated[str, "estimator of tau2: a file in scripts/synthesis/estimators"]
    interval: Annotated[str, "interval of the summary: a file in scripts/synthesis/intervals"]
    task_interval: Annotated[str, "interval of each task: a file in scripts/synthesis/task_intervals"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    ddof: Annotated[int, "standard deviations divide by n - ddof"]
    hedges: Annotated[bool, "correct a standardised difference for small samples"]
    permutations: Annotated[int, "of the randomisation test, at most"]
    seed: Annotated[int, "of the randomisation test and of resampling"]
    cumulative: Annotated[bool, "add the summaries of the first task, the first two, ..."]
    resamples: Annotated[int, "of the bootstrap intervals of tasks"] = 9999
    prediction: Annotated[str, "kind of prediction interval (prediction.py)"] = "confidence-distribution"
    small_tasks: Annotated[str, "variances of tasks of few queries: shrunk towards the pooled one, or own"] = "shrunk"
    seeds: Annotated[str, "random: other seeds are part of what is uncertain; conditional: as they were drawn"] = (
        "random"
    )
    dependence: Annotated[str, "of tasks that share queries or a corpus: estimated or independent"] = "estimated"
    clusters: Annotated[str | dict[str, str], "of queries: auto, gold-document, query, or a file by task"] = "auto"
    bayesian: Annotated[Bayesian | None, "add a Bayesian summary"] = None
    margin: Annotated[float | None, "the difference in the measure that does not matter"] = None
    lower_is_better: Annotated[bool, "of the measure: not worse is not higher by more than the margin"] = False
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )
    corpora: Annotated[dict[str, str], "task: its corpus, where tasks share one"] = field(default_factory=dict)
    qrels: Annotated[dict[str, str], "task: its relevance judgements, by which queries are clustered"] = field(
        default_factory=dict
    )
    seed_sources: Annotated[dict[str, SeedsOf], "role: from whose seeds seed variance is estimated"] = field(
        default_factory=dict
    )
    checkpoints: Annotated[
        dict[str, dict[str, str]], "role: by task, what the checkpoints were trained by, where tasks have their own"
    ] = field(default_factory=dict)
