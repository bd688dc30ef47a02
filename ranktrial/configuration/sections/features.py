"""Keys of the section `features`: features of queries and candidates, and their resolved records; no files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ranktrial.common.keys import OTHERS, Depth, Label, Rule
from ranktrial.configuration.sections.comparison import AllOrNames, Coordinate
from ranktrial.statistics.method import FilesOfTasks

Parameters = Annotated[
    dict[str, Coordinate], Rule(title="parameters and their values, such as {k1: 0.9}", min_properties=1)
]
TokenLabels = Annotated[tuple[Label, ...], Rule(min_items=1, unique_items=True)]


@dataclass(frozen=True, kw_only=True)
class TaggerLabels:
    """The token labels that are used, without B- and I-."""

    objects: Annotated[TokenLabels, "labels of the objects of a comparison"]
    aspects: Annotated[TokenLabels | None, "labels of the aspects of a comparison"] = None
    predicates: Annotated[TokenLabels | None, "labels of the predicates, the comparing words"] = None


@dataclass(frozen=True, kw_only=True)
class Tagger:
    """The model that finds objects, aspects and predicates of comparisons in texts."""

    model: Annotated[str, "a model of type token-classification"]
    labels: Annotated[
        TaggerLabels | None,
        "labels of objects, aspects and predicates, without B- and I-; default: those that begin with OBJ, ASP and "
        "PRED",
    ] = None


@dataclass(frozen=True, kw_only=True)
class AskedFeature:
    """A feature with parameters, or the score in a system's run."""

    system: Annotated[str | None, "the system whose score is the feature"] = None
    missing: Annotated[
        Coordinate | Literal["lowest"] | None,
        "value for a document that is not in the run: a number, or lowest, the query's lowest score (default)",
        Rule(title="a number or lowest"),
    ] = None
    parameters: Annotated[dict[str, Parameters], OTHERS] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FeatureEntry:
    """A set of features to compute, or external files with features."""

    first_stage: Annotated[str | None, "the system whose run supplies the candidates"] = None
    depth: Annotated[Depth | None, "candidates per query; default 100"] = None
    tasks: Annotated[AllOrNames | None, "the tasks for which the features are computed; default all"] = None
    analyzer: Annotated[
        Literal["english", "standard"] | None,
        "english stems and removes stop words, standard does neither; default: that of the dataset's language",
    ] = None
    of: Annotated[
        tuple[str | Annotated[AskedFeature, Rule(min_properties=1)], ...] | None,
        "the features (see docs/ranking.md): a name, such as BM25; with .title or .text, the score of that field "
        "alone; a name with parameters, {BM25: {k1: 0.9, b: 0.4}}; or {system: NAME}, the score in the run of that "
        "system (of its first seed)",
        Rule(min_items=1),
    ] = None
    tagger: Annotated[
        Tagger | None,
        "the model (of type token-classification) that finds objects and aspects of a comparison; default: rules",
    ] = None
    letor: Annotated[
        FilesOfTasks | None, "instead of all other keys: one file per task with external features, in LETOR's format"
    ] = None


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
