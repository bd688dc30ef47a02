"""The settings of the explorer's job, which planning.py makes; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class Source:
    """The location of a system's results on a task, which may be those of another task."""

    system: str
    metrics: Annotated[str, "the folder of the task whose metrics they are"]
    runs: Annotated[str, "that of its runs; empty if values are given"]


@dataclass(frozen=True)
class Task:
    label: str
    corpora: Annotated[list[str], "files of documents; may be empty"]
    queries: Annotated[str, "the file of queries; empty if there is none"]
    qrels: Annotated[str, "the file of judgements; empty if values are given"]
    sources: Annotated[dict[str, Source], "by the system's name"]


@dataclass(frozen=True)
class Comparison:
    control: str
    treatment: str
    measure: str
    alpha: float
    lower_is_better: bool
    tasks: Annotated[list[str], "by their folders"]


@dataclass(frozen=True)
class Settings:
    experiment: str
    texts: Annotated[bool, "whether the page shows texts, or ids alone"]
    depth: Annotated[int, "the most documents of a ranking"]
    megabytes: Annotated[int, "the most that the folder takes"]
    tasks: Annotated[dict[str, Task], "by their folders"]
    systems: Annotated[dict[str, str], "labels by name"]
    comparisons: dict[str, Comparison]
    order: Annotated[list[str], "of the comparisons, as configured"]


def compared_systems(settings: Settings, task: str) -> list[str]:
    """The systems that comparisons name on a task, in the order of its sources."""
    over = [one for one in settings.comparisons.values() if task in one.tasks]
    named = {system for one in over for system in (one.control, one.treatment)}
    return [system for system in settings.tasks[task].sources if system in named]
