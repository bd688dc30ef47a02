"""Features as an experiment asks for them; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from scripts.experiment.sections.features import Tagger


@dataclass(frozen=True)
class FeatureColumn:
    """One column: a feature of a family, maybe of one field and with parameters, or the score in a system's run.

    `texts` says that it is computed from texts, which the model `tagger` tags where there is one.
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
    """Features of the first `depth` candidates of a run's queries, one file per task; or files that others computed.

    `files` is task -> file. Without a `tagger` texts are tagged by rules.
    """

    name: str
    tasks: tuple[str, ...]
    first_stage: str | None = None
    depth: int = 0
    analyzer: str = ""
    of: tuple[FeatureColumn, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    tagger: Tagger | None = None
