"""Records that planning resolves and jobs of the synthesis read: the settings of a comparison, sources of seed
variance, cells of a matrix of sources and targets, and points of curves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ranktrial.statistics.method import Method
from ranktrial.statistics.seeds import DIFFERENCE as DIFFERENCE

ZERO, FULL = "zero", "full"  # trained on none of the target's judgements, or on all


@dataclass(frozen=True)
class MatrixCell:
    """The cell of a system in a matrix."""

    row: Annotated[str, "the source's name, the baseline's or pseudo-labels"]
    kind: Annotated[str, "of its row: source, baseline or pseudo-labels"]
    target: Annotated[str, "task"]
    shot: Annotated[str, "zero: not trained on the target's judgements; full: trained on all of them"]
    system: str


@dataclass(frozen=True)
class Matrix:
    """A table of sources by targets; `rows` maps the names of rows to labels, in the order of the table."""

    name: str
    cells: tuple[MatrixCell, ...]
    rows: dict[str, str]
    targets: tuple[str, ...]
    measure: str
    alpha: float
    title: str


@dataclass(frozen=True)
class CurvePoint:
    """A system trained from `start` with `queries` of the target; 0 queries: the starting point itself."""

    target: Annotated[str, "task"]
    start: Annotated[str, "the starting point: scratch, pseudo-labels or a source"]
    queries: Annotated[int | str, "of the target, or all; 0: the starting point itself"]
    system: str


@dataclass(frozen=True)
class Curves:
    """Curves over the number of training queries; `starts` maps the names of starting points to labels."""

    name: str
    points: tuple[CurvePoint, ...]
    starts: dict[str, str]
    targets: tuple[str, ...]
    baseline: str
    measure: str
    alpha: float
    interval: str
    title: str


OWN, BORROWED, UNKNOWN = "own", "borrowed", "unknown"


@dataclass(frozen=True)
class SeedsOf:
    """The system whose seeds are used to estimate the seed variance of a trained system."""

    status: Annotated[str, "own: several seeds of its own; borrowed: those of another system; unknown"]
    system: Annotated[str | None, "whose seeds these are"] = None


@dataclass(frozen=True, kw_only=True)
class JudgedBy:
    """The properties of a task's judge."""

    model: Annotated[str, "the language model"]
    humans: Annotated[str | None, "the task with the humans' judgements; null: there are none"] = None
    queries: Annotated[int | None, "so many of its queries count as judged by humans, a sample; null: all"] = None
    probabilities: Annotated[str | None, "the file of those with which its queries were chosen; null: a sample"] = None
    holes: Annotated[bool, "the model judged only what humans had not"] = False
    relatives: Annotated[list[str], "models behind the compared systems that are of its family"] = field(
        default_factory=list
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings(Method):
    """One comparison and its method: the settings of its job. Tasks are named by their folders, as in paths."""

    control: Annotated[str, "the control's name"]
    treatment: Annotated[str, "the treatment's name"]
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )
    gain_over: Annotated[dict[str, str], "role: the system over which its gain is compared"] = field(
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
