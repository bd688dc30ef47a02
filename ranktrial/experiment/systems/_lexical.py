"""Common parts of BM25 and query likelihood: analyser and fields of a Lucene index, feedback, tuning on dev."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

from ranktrial.common.keys import OTHERS, Depth, JsonObject, Not, Rule, Share, given, keys_of
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.experiment.datasets import OF_LANGUAGE, check_split, usual_analyzer
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.system_types import Made, SystemType, limited_to
from ranktrial.ir.feedback import METHODS, NEGATIVE, RM3_DOCUMENTS, parameters_of
from ranktrial.ir.measure_names import cutoff, parse

LUCENE = "Lucene searches the same without a server"
Count = Annotated[int, Rule(minimum=1, maximum=1000)]
Weight = Annotated[float, Rule(minimum=0, maximum=1000)]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of feedback. The default values are Anserini's."""

    feedback_terms: Annotated[Count | None, "feedback: number of terms added to the query; default 10"] = None
    feedback_documents: Annotated[
        Count | None, "feedback: number of top documents from which the terms are taken; default 10"
    ] = None
    original_query_weight: Annotated[
        Share | None, "rm3: weight of the query's own terms, the others share the rest; default 0.5"
    ] = None
    alpha: Annotated[Weight | None, "rocchio: weight of the query's own terms; default 1"] = None
    beta: Annotated[Weight | None, "rocchio: weight of the terms of the top documents; default 0.75"] = None
    gamma: Annotated[
        Weight | None,
        "rocchio: weight with which the terms of the run's last documents are subtracted; default 0, none",
    ] = None
    negative_terms: Annotated[Count | None, "rocchio with gamma: number of terms that are subtracted; default 10"] = (
        None
    )
    negative_documents: Annotated[
        Count | None, "rocchio with gamma: number of last documents from which these terms are taken; default 10"
    ] = None


@dataclass(frozen=True, kw_only=True)
class FeedbackKeys(Parameters):
    """The keys of a system's feedback."""

    feedback: Annotated[
        Literal["rm3", "rocchio"] | None,
        "pseudo-relevance feedback: terms of a query's top documents are added to it, and it is searched again "
        "(with fields: together)",
        Not("engine: elasticsearch", LUCENE),
    ] = None


@dataclass(frozen=True)
class Parameter:
    """The default value of a parameter, and the values that tuning tries."""

    usual: float
    tried: tuple[float, ...] = ()

    def value(self, given: float) -> float:
        """Return the value as in a job's settings: counts as integers, weights as floats."""
        return int(given) if isinstance(self.usual, int) else float(given)


PARAMETERS = {
    "feedback_terms": Parameter(10, (5, 10, 20)),
    "feedback_documents": Parameter(10, (5, 10, 20)),
    "original_query_weight": Parameter(0.5, (0.3, 0.5, 0.7)),
    "alpha": Parameter(1.0),
    "beta": Parameter(0.75, (0.5, 0.75, 1.0)),
    "gamma": Parameter(0.0),
    "negative_terms": Parameter(10),
    "negative_documents": Parameter(10),
}
NONE: Mapping[str, Sequence[float]] = MappingProxyType({})
Used = Mapping[str, Mapping[str, float]]  # method -> parameter -> value
Tried = Mapping[str, Mapping[str, list[float]]]  # method -> parameter -> values to try
BOTH_ZERO = "is 0, and so is beta: no term would have a weight; expected one of them above 0"


def feedback_values(
    check: Checker, key: str, entry: FeedbackKeys, tuned: bool = False, tried: Mapping[str, Sequence[float]] = NONE
) -> Tried:
    """Return the method with a list of values per parameter: one value each, or several to try if it is `tuned`.

    `tried` are the values given in the grid. Empty without feedback. Raises UserError for parameters that the method
    does not have, or for values that it cannot use.
    """
    method, fixed = entry.feedback, parameters_in(entry, PARAMETERS)
    place = {name: f"{key}.{name}" if name in fixed else f"{key}.grid.{name}" for name in PARAMETERS}
    given = [name for name in PARAMETERS if name in fixed or name in tried]
    if method is None:
        if given:
            raise check.fail(place[given[0]], f"only valid with feedback: {' or '.join(METHODS)}")
        return {}
    names = parameters_of(method, given)
    if alien := [name for name in given if name not in names]:
        why = f"only valid with {NEGATIVE}; without it" if alien[0] in METHODS[method] else "no parameter of feedback:"
        raise check.fail(place[alien[0]], f"{why} {method} has {', '.join(names)}")
    if twice := [name for name in names if name in fixed and name in tried]:
        raise check.fail(f"{key}.grid.{twice[0]}", f"{twice[0]} is given beside the grid; leave one of both out")
    most = RM3_DOCUMENTS if method == "rm3" else getattr(entry, "depth", None) or check.config.depth
    values = {name: _values(name, fixed, tried, most if tuned else None) for name in names}
    for name in ("feedback_documents", "negative_documents"):
        if name in names and max(values[name]) > most:
            sees = f"the best {most} of the first search" if method == "rm3" else f"the {most} that a run keeps (depth)"
            problem = f"{max(values[name])} are more documents than {method} sees, {sees}; expected at most {most}"
            raise check.fail(place[name] if name in given else f"{key}.{name}", problem)
    if "alpha" in names and 0 in values["alpha"] and 0 in values["beta"]:
        raise check.fail(place["alpha"], BOTH_ZERO)
    if NEGATIVE in names and 0 in values[NEGATIVE]:
        raise check.fail(place[NEGATIVE], "is 0, so no document would count against a term; leave it out")
    return {method: values}


def parameters_in(record: object, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the named parameters that an entry, or its grid, gives."""
    values = {name: getattr(record, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _values(
    name: str, fixed: Mapping[str, float], tried: Mapping[str, Sequence[float]], most: int | None
) -> list[float]:
    """Return the values of a parameter: as given, from the grid, or the default; with tuning, the default grid.

    `most` is the largest number of feedback documents if the system is tuned, otherwise None.
    """
    parameter = PARAMETERS[name]
    if name in fixed:
        return [parameter.value(fixed[name])]
    if name in tried:
        return [parameter.value(value) for value in tried[name]]
    if most is None or not parameter.tried:
        return [parameter.usual]
    if name == "feedback_documents":
        return [value for value in parameter.tried if value <= most] or [most]
    return list(parameter.tried)


def one_of_each(feedback: Tried) -> Used:
    """Return the feedback of a system that is not tuned, with one value per parameter."""
    return {method: {name: values[0] for name, values in tried.items()} for method, tried in feedback.items()}


def as_text(feedback: Used | Tried) -> str:
    """Return the feedback as part of a system's description; empty without feedback."""
    if not feedback:
        return ""
    ((method, given),) = feedback.items()
    name, values = {"rm3": "RM3", "rocchio": "Rocchio"}[method], single(given)
    if values is None:
        return f", feedback by {name} tuned on dev"
    return f", feedback by {name} ({', '.join(f'{key} = {value:g}' for key, value in values.items())})"


def single(parameters: Mapping[str, float] | Mapping[str, list[float]]) -> dict[str, float] | None:
    """Return the value of each parameter; None if tuning chooses among several values of one."""
    values = [value if isinstance(value, Sequence) else (value,) for value in parameters.values()]
    if any(len(value) > 1 for value in values):
        return None
    return {name: value[0] for name, value in zip(parameters, values, strict=True)}


SEVERAL = Rule(min_items=1, unique_items=True)
APPENDED = "appended"


@dataclass(frozen=True)
class Similarity:
    """A scoring function: its parameters with Pyserini's defaults, and the values that tuning tries."""

    type: str
    label: str
    usual: dict[str, float]
    tried: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class LexicalKeys(FeedbackKeys, Made):
    """The keys of systems that search a Lucene index; each type has its own grid."""

    analyzer: Annotated[
        Literal["english", "standard"] | None,
        "bm25, query-likelihood: english (Anserini's: stop words, stemming) or standard (Elasticsearch's usual "
        "one: neither); Lucene's default is the analyser of the dataset's language",
    ] = None
    fields: Annotated[
        Literal["together", "best"] | None,
        "bm25, query-likelihood: together: title and text as one field (default with Lucene); best: the score of "
        "the better field (default with Elasticsearch)",
    ] = None
    texts: Annotated[
        Literal["own", "appended"] | None,
        "bm25, query-likelihood: which texts of the documents are indexed: their own (default), or also those "
        "appended by the dataset's key texts (Lucene)",
        Not("engine: elasticsearch", of="appended"),
    ] = None
    depth: Annotated[
        Depth | None, "bm25, query-likelihood: documents kept per query; default: the experiment's depth"
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of indexing and search; with `measure`, parameters and feedback are lists of values to try."""

    analyzer: str
    fields: str
    texts: str | None = None
    url: str | None = None  # of a server
    measure: str | None = None
    parameters: Annotated[Mapping[str, float] | Mapping[str, list[float]], OTHERS]
    depth: int | None = None
    feedback: Used | Tried = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MeasureOfGrid:
    """The measure by which a grid is decided."""

    measure: Annotated[str | None, "measure that decides; default: the first of the measures"] = None


def grid_of(*parameters: type) -> type:
    """Return the record class of a grid: a list of values per parameter, and the measure that decides."""
    lists: list[tuple[str, Any, None]] = []
    for key in itertools.chain(*(keys_of(record).values() for record in (*parameters, Parameters))):
        several: Any = tuple[key.type_of_values, ...] | None  # type: ignore[name-defined]
        lists.append((key.field, Annotated[several, "values to try", SEVERAL], None))
    return dataclasses.make_dataclass("Grid", lists, bases=(MeasureOfGrid,), frozen=True, kw_only=True)


def plain_lists(similarity: Similarity) -> list[tuple[str, ...]]:
    """Return the key paths of its systems at which a list is a single value and does not fan out."""
    return [("tasks",), *(("grid", name) for name in (*similarity.usual, *PARAMETERS))]


class Lexical(SystemType):
    """Systems that score by a Lucene similarity."""

    searches = True

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity

    def settings(self, check: Checker, key: str, entry: LexicalKeys) -> Settings:
        """Return the settings of indexing and search. Raises UserError for keys that exclude each other."""
        return lexical_settings(check, key, entry, self.similarity)

    def engine(self, system: System) -> str:
        return "Lucene"

    def resolve(self, check: Checker, name: str, entry: LexicalKeys, tasks: dict[str, Task]) -> System:
        ranked = limited_to(check, name, entry)
        settings = self.settings(check, f"systems.{name}", entry)
        label = entry.label or name
        return System(name, self.similarity.type, label, depth=entry.depth, settings=settings, tasks=ranked)

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        for task in (task for task in tasks.values() if system.ranks(task.name)):
            if tunes(system):
                fixed = f"{_names(self.similarity.usual, 'and')} instead of tune: true"
                check_split(check, f"systems.{system.name}.tune", task.dataset, "dev", fixed)
            if appends(system):
                _check_texts(check, system.name, task.ranked_dataset)

    def tried(self, system: System) -> int:
        if not tunes(system):
            return 0
        settings = settings_of(system)
        grids: list[Any] = [settings.parameters, *settings.feedback.values()]
        return sum(math.prod(len(set(values)) for values in grid.values()) for grid in grids)

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "dev")} if tunes(system) else set()

    def identity(self, config: Configuration, system: System) -> JsonObject:
        return {**super().identity(config, system), "depth": system.depth or config.depth}

    def documents_held(self, system: System, depth: int, taken: list[int]) -> int:
        return system.depth or depth

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = settings_of(system)
        fixed = single(settings.parameters)
        if fixed is None or (tunes(system) and not settings.feedback):
            parameters = f"{_names(settings.parameters, 'and')} tuned on dev"
        else:
            parameters = ", ".join(f"{name} = {value}" for name, value in fixed.items())
        fields = "title and text as one field" if settings.fields == "together" else "the better of title and text"
        named = settings.analyzer
        analyzer = "analyser of the dataset's language" if named == OF_LANGUAGE else f"{named} analyser"
        texts = ", documents with the texts appended that their dataset names" if appends(system) else ""
        words = f"{self.similarity.label} ({self.engine(system)}, {analyzer}, {fields}{texts}), {parameters}"
        kept = f", {system.depth} documents kept" if system.depth else ""
        return words + as_text(settings.feedback) + kept

    def provenance(self, experiment: Experiment, system: System) -> JsonObject:
        method = {"method": f"{self.similarity.label} ({self.engine(system)})", **given(system.settings)}
        return {**method, "kept_depth": system.depth} if system.depth else method


def settings_of(system: System) -> Settings:
    """Return the settings of a lexical system."""
    return system.own(Settings)


def tunes(system: System) -> bool:
    """Whether the system's parameters are tuned on a dev split."""
    return settings_of(system).measure is not None


def appends(system: System) -> bool:
    """Whether the system searches documents with appended texts."""
    return settings_of(system).texts == APPENDED


def _check_texts(check: Checker, system: str, dataset: str) -> None:
    """Raise UserError if the dataset has no texts to append to its documents."""
    datasets = check.config.datasets
    owner = datasets[dataset].corpus or dataset
    if not datasets[owner].texts:
        raise check.fail(
            f"systems.{system}.texts", f"dataset {owner} names no texts to append (texts: {{append: file}})"
        )


def lexical_settings(check: Checker, key: str, entry: LexicalKeys, similarity: Similarity) -> Settings:
    """Return the settings of indexing and search: analyser, fields, parameters or their grid, and feedback.

    Raises UserError for keys that exclude each other.
    """
    tuned, grid = bool(getattr(entry, "tune", None)), getattr(entry, "grid", None)
    how = Settings(
        analyzer=entry.analyzer or usual_analyzer(check.config),
        fields=entry.fields or "together",
        texts=APPENDED if entry.texts == APPENDED else None,
        parameters=parameters_of_entry(entry, similarity.usual),
    )
    tried = parameters_in(grid, PARAMETERS)
    feedback = feedback_values(check, key, entry, tuned, tried)
    if feedback and (how.fields != "together" or how.analyzer == "standard"):
        one_field = "an index of Pyserini's: fields: together, and another analyzer than standard"
        raise check.fail(f"{key}.feedback", f"takes the terms of documents from {one_field}")
    if tuned:
        return _tuned(check, key, entry, similarity, dataclasses.replace(how, feedback=feedback))
    return dataclasses.replace(how, feedback=one_of_each(feedback))


def parameters_of_entry(entry: LexicalKeys, usual: Mapping[str, float]) -> dict[str, float]:
    """Return the value of each parameter: as given, or the default."""
    given = parameters_in(entry, usual)
    return {name: float(given.get(name, value)) for name, value in usual.items()}


def _tuned(check: Checker, key: str, entry: LexicalKeys, similarity: Similarity, how: Settings) -> Settings:
    """Return the settings with the values that tuning tries and the measure that decides.

    A given value is kept. Raises UserError if one is given without feedback, since nothing is left to tune.
    """
    grid = getattr(entry, "grid", None)
    tried = parameters_in(grid, similarity.usual)
    given = {name: [value] for name, value in parameters_in(entry, similarity.usual).items()}
    if given and not how.feedback:
        problem = f"{_names(similarity.usual)} is given, so tune: true has nothing to choose; list values under grid"
        raise check.fail(key, problem)
    if twice := [name for name in given if name in tried]:
        raise check.fail(f"{key}.grid.{twice[0]}", f"{twice[0]} is given beside the grid; leave one of both out")
    values = {name: tried.get(name, given.get(name, similarity.tried[name])) for name in similarity.usual}
    if given and all(map(single, (values, *how.feedback.values()))):
        raise check.fail(key, "all parameters are given, so tune: true has nothing to choose; list values under grid")
    measure = getattr(grid, "measure", None) or check.config.measures[0]
    check.computable(f"{key}.grid.measure", measure)
    kept = entry.depth or check.config.depth
    depth = cutoff(parse(measure)) or kept
    if "rocchio" in how.feedback:  # it uses the documents that a search keeps
        depth = kept
    floats = {name: [float(value) for value in one] for name, one in values.items()}
    return dataclasses.replace(how, measure=measure, parameters=floats, depth=depth)


def _names(names: Iterable[str], word: str = "or") -> str:
    return f" {word} ".join(names)
