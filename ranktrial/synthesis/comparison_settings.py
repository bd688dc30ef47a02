"""The settings of a comparison's job (compare.py), from the configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.experiment.synthesis_records import SeedsOf
from ranktrial.statistics.method import Method
from ranktrial.synthesis.judged_tasks import JudgedBy


@dataclass(frozen=True)
class Bayesian:
    """The settings of the additional Bayesian summary."""

    tau_scale: Annotated[float | None, "of the half-normal prior of tau; none: by effect type and measure"] = None


@dataclass(frozen=True, kw_only=True)
class Settings(Method):
    """One comparison and its method. The configuration's schema has checked the values."""

    control: Annotated[str, "the control's name"]
    treatment: Annotated[str, "the treatment's name"]
    measure: Annotated[str, "column of the metrics files"]
    cumulative: Annotated[bool, "add the summaries of the first task, the first two, ..."] = False
    bayesian: Annotated[Bayesian | None, "add a Bayesian summary"] = None
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )
    measure_on: Annotated[dict[str, str], "task: its column of the metrics files, where each has its own"] = field(
        default_factory=dict
    )
    corpora: Annotated[dict[str, str], "task: its corpus, where tasks share one"] = field(default_factory=dict)
    qrels: Annotated[dict[str, str], "task: its relevance judgements, by which queries are clustered"] = field(
        default_factory=dict
    )
    judgements: Annotated[dict[str, str], "task: its relevance judgements, where queries are not clustered by them"] = (
        field(default_factory=dict)
    )
    of_tasks: Annotated[bool, "a value is the score of a task of a leaderboard, not of a query"] = False
    runs_on: Annotated[dict[str, str], "task: the one whose runs it scores, where it is another"] = field(
        default_factory=dict
    )
    external: Annotated[list[str], "systems whose runs are files of the user, of any depth"] = field(
        default_factory=list
    )
    judged: Annotated[dict[str, JudgedBy], "task: the language model that judges it"] = field(default_factory=dict)
    cluster_files: Annotated[dict[str, str], "task: a file with the cluster of each of its queries"] = field(
        default_factory=dict
    )
    seed_sources: Annotated[dict[str, SeedsOf], "role: from whose seeds seed variance is estimated"] = field(
        default_factory=dict
    )
    checkpoints: Annotated[
        dict[str, dict[str, str]], "role: by task, what the checkpoints were trained by, where tasks have their own"
    ] = field(default_factory=dict)
