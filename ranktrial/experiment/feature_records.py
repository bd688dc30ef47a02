"""Records of the features of an experiment; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from ranktrial.experiment.sections.features import Tagger


@dataclass(frozen=True)
class FeatureColumn:
    """One column: a feature of a family, optionally of one field and with parameters, or the score in a system's run.

    `texts`: whether it is computed from texts. The model `tagger` tags these, if given.
    """

    name: str
    family: str | None = None
    feature: str | None = None
    field: str | None = None
    parameters: dict[str, float] | None = None
    texts: bool = False
    tagger: str | None = None
    system: str | None = None
    missing: float | str | None = None


@dataclass(frozen=True)
class FeatureSet:
    """Features of the first `depth` candidates of a run's queries, one file per task; or external files.

    `files` maps tasks to files. Without a `tagger`, rules tag the texts.
    """

    name: str
    tasks: tuple[str, ...]
    first_stage: str | None = None
    depth: int = 0
    analyzer: str = ""
    of: tuple[FeatureColumn, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    tagger: Tagger | None = None
