"""Keys of the sections `charts`, `matrices` and `curves`: further figures and tables; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import Label, Level, NameOrNames, Names, Rule, Title
from ranktrial.configuration.sections.comparison import AllOrNames

SystemsByLabel = Annotated[dict[Label, Names], Rule(min_properties=1)]


@dataclass(frozen=True, kw_only=True)
class ChartEntry:
    """A bar chart of means."""

    systems: Annotated[
        Names | SystemsByLabel,
        "one bar per model; or several, as a mapping of labels (such as random, hard) to systems",
    ]
    tasks: Annotated[AllOrNames, "tasks, each with bars of its own"] = "all"
    measures: Annotated[Names, "measures, each with bars of its own"]
    baseline: Annotated[str | None, "a system drawn as a line"] = None
    title: Annotated[Title, "title of the figure"] = ""


@dataclass(frozen=True, kw_only=True)
class StudyEntry:
    """The keys that matrices and curves share: baseline, measure, tasks and title of a transfer study."""

    baseline: str
    measure: Annotated[str, "the measure of all values"]
    tasks: Annotated[AllOrNames, "the targets; all: those for which there is a trained system"] = "all"
    title: Annotated[Title, "title of its table or figure"] = ""


@dataclass(frozen=True, kw_only=True)
class MatrixEntry(StudyEntry):
    """A table of sources by targets."""

    zero_shot: Annotated[
        NameOrNames,
        "systems whose models were trained on a source, one row per source; an entry stands for all systems made "
        "from it",
    ]
    full_shot: Annotated[
        NameOrNames | None,
        "systems whose models were trained on all queries of the target, from scratch or starting from a row's model",
    ] = None
    pseudo_labels: Annotated[NameOrNames | None, "systems whose models were trained on the target's pseudo-labels"] = (
        None
    )
    baseline: Annotated[str, "a system such as BM25"]
    alpha: Annotated[Level, "p-value of the paired t-test below which a difference is marked"] = 0.01


@dataclass(frozen=True, kw_only=True)
class CurvesEntry(StudyEntry):
    """A measure over the number of training queries."""

    systems: Annotated[
        NameOrNames,
        "systems trained on different numbers of the target's queries; an entry stands for all systems made from it",
    ]
    baseline: Annotated[str, "a system drawn as a line"]
    interval: Annotated[
        Literal["range", "t"],
        "bars over the samples (seeds) of a point: the range from lowest to highest, or the t interval of the mean",
    ] = "range"
    alpha: Annotated[Level, "significance level; all intervals have confidence level 1 - alpha"] = 0.05
