"""Common parts of BM25 and query likelihood: analyser and fields of a Lucene index, feedback, tuning on dev."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import LEFT_OUT, OTHERS, Depth, JsonObject, Rule, given, keys_of
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.dataset_keys import check_split
from ranktrial.experiment.languages import OF_LANGUAGE, usual_analyzer
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.sections.configuration import Configuration
from ranktrial.experiment.systems import _feedback
from ranktrial.experiment.systems._system_type import Made, SystemType, limited_to
from ranktrial.ir.measure_names import cutoff, parse

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
class LexicalKeys(_feedback.FeedbackKeys, Made):
    """The keys of systems that search a Lucene index; each type has its own grid."""

    analyzer: Annotated[
        Literal["english", "standard"] | None,
        "bm25, query-likelihood: english (Anserini's: stop words, stemming) or standard (Elasticsearch's usual "
        "one: neither); Lucene's default is the analyser of the dataset's language",
        LEFT_OUT,
    ] = None
    fields: Annotated[
        Literal["together", "best"] | None,
        "bm25, query-likelihood: together: title and text as one field (default with Lucene); best: the score of "
        "the better field (default with Elasticsearch)",
        LEFT_OUT,
    ] = None
    texts: Annotated[
        Literal["own", "appended"] | None,
        "bm25, query-likelihood: which texts of the documents are indexed: their own (default), or also those "
        "appended by the dataset's key texts (Lucene)",
        LEFT_OUT,
    ] = None
    depth: Annotated[
        Depth | None, "bm25, query-likelihood: documents kept per query; default: the experiment's depth", LEFT_OUT
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
    feedback: _feedback.Used | _feedback.Tried = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MeasureOfGrid:
    """The measure by which a grid is decided."""

    measure: Annotated[str | None, "measure that decides; default: the first of the measures", LEFT_OUT] = None


def grid_of(*parameters: type) -> type:
    """Return the record class of a grid: a list of values per parameter, and the measure that decides."""
    lists: list[tuple[str, Any, None]] = []
    for key in itertools.chain(*(keys_of(record).values() for record in (*parameters, _feedback.Parameters))):
        several: Any = tuple[key.type_of_values, ...] | None  # type: ignore[name-defined]
        lists.append((key.field, Annotated[several, f"values of {key.name} to try", SEVERAL, LEFT_OUT], None))
    return dataclasses.make_dataclass("Grid", lists, bases=(MeasureOfGrid,), frozen=True, kw_only=True)


def plain_lists(similarity: Similarity) -> list[tuple[str, ...]]:
    """Return the key paths of its systems at which a list is a single value and does not fan out."""
    return [("tasks",), *(("grid", name) for name in (*similarity.usual, *_feedback.PARAMETERS))]


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
        single = _feedback.single(settings.parameters)
        if single is None or (tunes(system) and not settings.feedback):
            parameters = f"{_names(settings.parameters, 'and')} tuned on dev"
        else:
            parameters = ", ".join(f"{name} = {value}" for name, value in single.items())
        fields = "title and text as one field" if settings.fields == "together" else "the better of title and text"
        named = settings.analyzer
        analyzer = "analyser of the dataset's language" if named == OF_LANGUAGE else f"{named} analyser"
        texts = ", documents with the texts appended that their dataset names" if appends(system) else ""
        words = f"{self.similarity.label} ({self.engine(system)}, {analyzer}, {fields}{texts}), {parameters}"
        kept = f", {system.depth} documents kept" if system.depth else ""
        return words + _feedback.as_text(settings.feedback) + kept

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
    if grid is not None and not tuned:
        raise check.fail(key, "a grid is only valid with tune: true")
    how = Settings(
        analyzer=entry.analyzer or usual_analyzer(check.config),
        fields=entry.fields or "together",
        texts=APPENDED if entry.texts == APPENDED else None,
        parameters=parameters_of(entry, similarity.usual),
    )
    tried = _feedback.parameters_in(grid, _feedback.PARAMETERS)
    feedback = _feedback.feedback_values(check, key, entry, tuned, tried)
    if feedback and (how.fields != "together" or how.analyzer == "standard"):
        one_field = "an index of Pyserini's: fields: together, and another analyzer than standard"
        raise check.fail(f"{key}.feedback", f"takes the terms of documents from {one_field}")
    if tuned:
        return _tuned(check, key, entry, similarity, dataclasses.replace(how, feedback=feedback))
    return dataclasses.replace(how, feedback=_feedback.one_of_each(feedback))


def parameters_of(entry: LexicalKeys, usual: Mapping[str, float]) -> dict[str, float]:
    """Return the value of each parameter: as given, or the default."""
    given = _feedback.parameters_in(entry, usual)
    return {name: float(given.get(name, value)) for name, value in usual.items()}


def _tuned(check: Checker, key: str, entry: LexicalKeys, similarity: Similarity, how: Settings) -> Settings:
    """Return the settings with the values that tuning tries and the measure that decides.

    A given value is kept. Raises UserError if one is given without feedback, since nothing is left to tune.
    """
    grid = getattr(entry, "grid", None)
    tried = _feedback.parameters_in(grid, similarity.usual)
    given = {name: [value] for name, value in _feedback.parameters_in(entry, similarity.usual).items()}
    if given and not how.feedback:
        problem = f"{_names(similarity.usual)} is given, so tune: true has nothing to choose; list values under grid"
        raise check.fail(key, problem)
    if twice := [name for name in given if name in tried]:
        raise check.fail(f"{key}.grid.{twice[0]}", f"{twice[0]} is given beside the grid; leave one of both out")
    values = {name: tried.get(name, given.get(name, similarity.tried[name])) for name in similarity.usual}
    if given and all(map(_feedback.single, (values, *how.feedback.values()))):
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
