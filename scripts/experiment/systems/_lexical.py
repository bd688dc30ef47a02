"""What BM25 and query likelihood have in common: analyser and fields of an index of Lucene, feedback, tuning on dev."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from scripts.common.keys import LEFT_OUT, Rule, keys_of, stated
from scripts.experiment.checker import Checker
from scripts.experiment.dataset_keys import check_split
from scripts.experiment.languages import OF_LANGUAGE, usual_analyzer
from scripts.experiment.records import Experiment, System, Task
from scripts.experiment.systems import _feedback
from scripts.experiment.systems._kind import Made, SystemKind, limited_to
from scripts.ir.measure_names import cutoff, parse

SEVERAL = Rule(min_items=1, unique_items=True)
APPENDED = "appended"


@dataclass(frozen=True)
class Similarity:
    """A way to score: its parameters with the values that Pyserini gives them, and those that tuning tries."""

    kind: str
    label: str
    usual: dict[str, float]
    tried: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class LexicalKeys(_feedback.FeedbackKeys, Made):
    """The keys of systems that search an index of Lucene's; their grid is each kind's own."""

    analyzer: Annotated[
        Literal["english", "standard"] | None,
        "bm25, query-likelihood: english (Anserini's: stop words, stemming) or standard (the usual one of "
        "Elasticsearch: neither); Lucene's default is the analyser of the dataset's language",
        LEFT_OUT,
    ] = None
    fields: Annotated[
        Literal["together", "best"] | None,
        "bm25, query-likelihood: title and text as one field (Lucene's default), or the better one counts "
        "(Elasticsearch's)",
        LEFT_OUT,
    ] = None
    texts: Annotated[
        Literal["own", "appended"] | None,
        "bm25, query-likelihood: what is indexed of documents: their own texts (default), or with those appended that "
        "the dataset names under texts (Lucene)",
        LEFT_OUT,
    ] = None


@dataclass(frozen=True, kw_only=True)
class MeasureOfGrid:
    """What decides in a grid."""

    measure: Annotated[str | None, "the measure that decides; default: the first of the measures", LEFT_OUT] = None


def grid_of(*parameters: type) -> type:
    """The record of a grid: a list of values of each of the parameters, and the measure that decides."""
    lists: list[tuple[str, Any, None]] = []
    for key in itertools.chain(*(keys_of(record).values() for record in (*parameters, _feedback.Parameters))):
        several: Any = tuple[key.type_of_values, ...] | None  # type: ignore[name-defined]
        lists.append((key.field, Annotated[several, SEVERAL, LEFT_OUT], None))
    return dataclasses.make_dataclass("Grid", lists, bases=(MeasureOfGrid,), frozen=True, kw_only=True)


def plain_lists(similarity: Similarity) -> list[tuple[str, ...]]:
    """The key paths of its systems at which a list is a value of its own."""
    return [("tasks",), *(("grid", name) for name in (*similarity.usual, *_feedback.PARAMETERS))]


class Lexical(SystemKind):
    """Systems that score by a similarity of Lucene's."""

    searches = True

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity

    def settings(self, check: Checker, key: str, entry: LexicalKeys) -> dict[str, Any]:
        """How a system indexes and searches. Raises UserError for keys that exclude each other."""
        return lexical_settings(check, key, stated(entry), self.similarity)

    def engine(self, system: System) -> str:
        return "Lucene"

    def resolve(self, check: Checker, name: str, entry: LexicalKeys, tasks: dict[str, Task]) -> System:
        ranked = limited_to(check, name, entry)
        settings = self.settings(check, f"systems.{name}", entry)
        return System(name, self.similarity.kind, entry.label or name, settings=settings, tasks=ranked)

    def check(self, check: Checker, system: System, tasks: dict[str, Task]) -> None:
        for task in (task for task in tasks.values() if system.ranks(task.name)):
            if tunes(system):
                check_split(check, f"systems.{system.name}.tune", task.dataset, "dev")
            if appends(system):
                _check_texts(check, system.name, task.ranked_dataset)

    def tried(self, system: System) -> int:
        if not tunes(system):
            return 0
        grids = [{name: system.settings[name] for name in self.similarity.usual}]
        grids += system.settings.get("feedback", {}).values()
        return sum(math.prod(len(set(values)) for values in grid.values()) for grid in grids)

    def learnt_from(self, experiment: Experiment, system: System, dataset: str) -> set[tuple[str, str]]:
        return {(dataset, "dev")} if tunes(system) else set()

    def describe(self, experiment: Experiment, system: System) -> str:
        settings = system.settings
        names, feedback = self.similarity.usual, settings.get("feedback", {})
        if tunes(system) and not (feedback and all(len(settings[name]) == 1 for name in names)):
            parameters = f"{_names(names, 'and')} tuned on dev"
        else:
            values = {name: settings[name][0] if tunes(system) else settings[name] for name in names}
            parameters = ", ".join(f"{name} = {value}" for name, value in values.items())
        fields = "title and text as one field" if settings["fields"] == "together" else "the better of title and text"
        named = settings["analyzer"]
        analyzer = "analyser of the dataset's language" if named == OF_LANGUAGE else f"{named} analyser"
        texts = ", documents with the texts appended that their dataset names" if appends(system) else ""
        words = f"{self.similarity.label} ({self.engine(system)}, {analyzer}, {fields}{texts}), {parameters}"
        return words + _feedback.as_text(feedback)

    def provenance(self, experiment: Experiment, system: System) -> dict[str, Any]:
        return {"method": f"{self.similarity.label} ({self.engine(system)})", **system.settings}


def tunes(system: System) -> bool:
    """Whether the system's parameters are chosen on a dev split."""
    return "measure" in system.settings


def appends(system: System) -> bool:
    """Whether the system searches documents with further texts."""
    return system.settings.get("texts") == APPENDED


def _check_texts(check: Checker, system: str, dataset: str) -> None:
    """The documents of a dataset have further texts. Raises UserError where they do not."""
    datasets = check.config.datasets
    owner = datasets[dataset].corpus or dataset
    if not datasets[owner].texts:
        raise check.fail(
            f"systems.{system}.texts", f"dataset {owner} names no texts to append (texts: {{append: file}})"
        )


def lexical_settings(check: Checker, key: str, entry: dict[str, Any], similarity: Similarity) -> dict[str, Any]:
    """How a system indexes and searches: analyzer, fields, its parameters or the grid to tune them on, and feedback.

    Raises UserError for keys that exclude each other.
    """
    usual = {"analyzer": usual_analyzer(check.config), "fields": "together"}
    how = {name: entry.get(name, value) for name, value in usual.items()}
    if entry.get("texts") == APPENDED:
        how["texts"] = APPENDED
    tuned = bool(entry.get("tune"))
    if "grid" in entry and not tuned:
        raise check.fail(key, "a grid is only valid with tune: true")
    feedback = _feedback.feedback_values(check, key, entry, entry.get("grid", {}) if tuned else None)
    if feedback and (how["fields"] != "together" or how["analyzer"] == "standard"):
        one_field = "an index of Pyserini's: fields: together, and another analyzer than standard"
        raise check.fail(f"{key}.feedback", f"takes the terms of documents from {one_field}")
    if not tuned:
        of_feedback = {"feedback": _feedback.one_of_each(feedback)} if feedback else {}
        return how | {name: float(entry.get(name, value)) for name, value in similarity.usual.items()} | of_feedback
    return how | _grid(check, key, entry, similarity, feedback)


def _grid(
    check: Checker, key: str, entry: dict[str, Any], similarity: Similarity, feedback: dict[str, Any]
) -> dict[str, Any]:
    """What tuning tries, and by which measure. A value that is given stays; without feedback there is none to give."""
    tried, given = entry.get("grid", {}), {name: [entry[name]] for name in similarity.usual if name in entry}
    if given and not feedback:
        problem = f"{_names(similarity.usual)} is given, so tune: true has nothing to choose; list values under grid"
        raise check.fail(key, problem)
    if twice := [name for name in given if name in tried]:
        raise check.fail(f"{key}.grid.{twice[0]}", f"{twice[0]} is given beside the grid; leave one of both out")
    values = {name: tried.get(name, given.get(name, similarity.tried[name])) for name in similarity.usual}
    every = [*values.values(), *(one for method in feedback.values() for one in method.values())]
    if given and all(len(one) == 1 for one in every):
        raise check.fail(key, "all parameters are given, so tune: true has nothing to choose; list values under grid")
    measure = tried.get("measure", check.config.measures[0])
    check.computable(f"{key}.grid.measure", measure)
    depth = cutoff(parse(measure)) or check.config.depth
    if "rocchio" in feedback:  # it sees the documents that a search keeps
        depth = check.config.depth
    floats = {name: [float(value) for value in one] for name, one in values.items()}
    return {"measure": measure, **floats, "depth": depth, **({"feedback": feedback} if feedback else {})}


def _names(names: dict[str, float], word: str = "or") -> str:
    return f" {word} ".join(names)
