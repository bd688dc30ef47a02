"""A task of the explorer: values and counts of its queries, its rankings and documents; and the overview of all tasks.

Writes chunks of the page's data. A run is in memory only while it is cut. Several seeds of a system are averaged query
by query, as comparisons do. Values have full precision, so that intervals on the page are those of the report.
A chunk is small enough to be read between two frames, and large enough that there are a few thousand files at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import scipy

from ranktrial.common.keys import JsonObject
from ranktrial.common.version import VERSION
from ranktrial.explorer import rankings as packed
from ranktrial.explorer.rankings import (
    Numbering,
    RankingLimits,
    Rankings,
    Shown,
    Size,
    TextLimits,
    query_record,
    text_limits,
)
from ranktrial.ir.collection import Document
from ranktrial.ir.holes import cut, has_holes, holes
from ranktrial.ir.measure_names import cutoff, parse
from ranktrial.ir.trec import Qrels, Run, judged, ranking
from ranktrial.statistics.measure_scale import reach_of
from ranktrial.statistics.superiority import without_rounding


@dataclass(frozen=True)
class Comparison:
    control: str
    treatment: str
    measure: str
    alpha: float
    lower_is_better: bool
    tasks: Annotated[list[str], "by name; in the workflow, their folders"]


@dataclass(frozen=True, kw_only=True)
class Explored:
    """What the pages show of all tasks."""

    experiment: str
    depth: Annotated[int, "the most documents of a ranking"]
    megabytes: Annotated[int, "the most that the folder takes"]
    systems: Annotated[dict[str, str], "labels by name"]
    comparisons: dict[str, Comparison]
    order: Annotated[list[str], "of the comparisons, as configured"]
    report: Annotated[str, "the page beside the explorer, to which it links"] = "report.html"

    def over(self, task: str) -> dict[str, Comparison]:
        """The comparisons over a task."""
        return {name: one for name, one in self.comparisons.items() if task in one.tasks}


NEAR_TOP = 10  # ranks within which unjudged documents are counted


def unjudged(run: Run, qrels: Qrels, queries: Sequence[str]) -> np.ndarray:
    """The number of unjudged documents among the first of each query."""
    first = {query: ranking(run.get(query, {}))[:NEAR_TOP] for query in queries}
    return np.array([sum(not judged(qrels[query], one) for one in first[query]) for query in queries])


def relevant_documents(qrels: Qrels, query: str) -> list[str]:
    """The documents judged relevant for a query, the most relevant first."""
    grades = {document: grade for document, grade in qrels[query].items() if grade > 0}
    return sorted(grades, key=lambda document: -grades[document])


@dataclass(frozen=True)
class Data:
    """A task before its runs are read. `values` are those of each system by query and measure, means over its seeds;
    `runs` reads those of each system by seed; `compared` are the systems of comparisons. `folder` has its data.
    """

    name: str
    label: str
    folder: str
    queries: list[str]
    qrels: Qrels
    values: Mapping[str, pd.DataFrame]
    runs: Mapping[str, Mapping[str, Callable[[], Run]]]
    compared: list[str]
    texts: Annotated[Mapping[str, str], "of queries; empty if they are not shown"] = field(default_factory=dict)
    documents: Annotated[Iterable[Document] | None, "with what is ranked; None if only ids are shown"] = None

    @property
    def size(self) -> Size:
        """The size of the task."""
        seeds = {system: len(readers) for system, readers in self.runs.items()}
        return Size(len(self.queries), sum(seeds.values()), sum(seeds.get(system, 0) for system in self.compared))


def differences(data: Data, comparison: Comparison) -> np.ndarray:
    """Treatment minus control on each query; NaN if one of them has no value."""
    of_treatment, of_control = (data.values[system] for system in (comparison.treatment, comparison.control))
    treatment, control = (values[comparison.measure].to_numpy() for values in (of_treatment, of_control))
    return without_rounding(treatment, control)


def shown_queries(data: Data, comparisons: Sequence[Comparison], limits: RankingLimits) -> list[str]:
    """The queries that have rankings: all, or those on which compared systems differ most, in the task's order."""
    if limits.queries >= len(data.queries):
        return data.queries
    largest = np.nanmax(np.abs([differences(data, one) for one in comparisons]), axis=0)
    first = np.sort(np.argsort(-np.nan_to_num(largest), kind="stable")[: limits.queries])
    return [data.queries[place] for place in first]


def read_rankings(data: Data, queries: list[str], limits: RankingLimits) -> tuple[Rankings, dict[str, list[float]]]:
    """Read all runs: their shown parts, and the numbers of unjudged documents near the top, by system and query."""
    rankings = Rankings(queries, {query: relevant_documents(data.qrels, query) for query in queries}, limits.depth)
    for query in queries:
        for document in rankings.relevant[query]:
            rankings.number(document)
    counts = {}
    for system, readers in data.runs.items():
        numbers = []
        for seed, read in readers.items():
            run = read()
            numbers.append(unjudged(run, data.qrels, data.queries))
            if limits.all_systems or system in data.compared:
                rankings.add(system, seed, run, queries)
        counts[system] = np.mean(numbers, axis=0).round(2).tolist()
    return rankings, counts


def task_summary(data: Data, one: Comparison) -> JsonObject:
    """The mean difference on a task, and the numbers of queries that each system wins."""
    found = differences(data, one)
    found = found[~np.isnan(found)]
    gains = -found if one.lower_is_better else found
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    mean = float(found.mean()) if len(found) else None
    return {"n": len(found), "mean": mean, "wins": wins, "losses": losses}


def comparison_record(name: str, one: Comparison, summaries: dict[str, JsonObject]) -> JsonObject:
    """A comparison, with the summary of each of its tasks."""
    return {
        "name": name,
        "control": one.control,
        "treatment": one.treatment,
        "measure": one.measure,
        "alpha": one.alpha,
        "lower": one.lower_is_better,
        "tasks": {task: summaries[task] for task in one.tasks},
    }


def overview(
    shown: Explored, tasks: JsonObject, summaries: dict[str, dict[str, JsonObject]], tops: dict[str, int | None]
) -> JsonObject:
    """The whole overview. `summaries` are those of each comparison by task, `tops` the ranks in which holes count."""
    comparisons = [comparison_record(name, shown.comparisons[name], summaries[name]) for name in shown.order]
    return {
        "experiment": shown.experiment,
        "report": shown.report,
        "version": VERSION,
        "comparisons": comparisons,
        "tops": tops,
        "systems": shown.systems,
        "tasks": tasks,
    }


def tops_of(shown: Explored, tasks: Sequence[Data]) -> dict[str, int | None]:
    """The number of documents that each measure counts; None if it counts all."""
    judged_tasks = {data.name for data in tasks if data.qrels}
    with_runs = [one.measure for one in shown.comparisons.values() if judged_tasks & set(one.tasks)]
    return {measure: cutoff(parse(measure)) for measure in dict.fromkeys(with_runs)}


LISTED = 300  # characters of a query in the list
DECIMALS = 6  # of differences in the cases of holes


def query_table(data: Data, shown: Explored, counts: dict[str, list[float]]) -> JsonObject:
    """The whole table, one value per query in each list."""
    over = shown.over(data.name)
    whole = [data.texts.get(query, "") for query in data.queries]
    measures = dict.fromkeys(one.measure for one in over.values())
    return {
        "ids": data.queries,
        "texts": [text[:LISTED] for text in whole],
        "words": [len(text.split()) for text in whole],
        "relevant": [sum(grade > 0 for grade in data.qrels.get(query, {}).values()) for query in data.queries],
        "unjudged": counts,
        "values": {measure: values_of(data, measure) for measure in measures},
        "ranges": {measure: range_of(data, measure) for measure in measures},
        "quantiles": {f"{alpha:g}": quantiles(len(data.queries), alpha) for alpha in _alphas(over.values())},
        "holes": {name: found for name, one in over.items() if (found := hole_record(data, one))},
    }


def _alphas(over) -> dict[float, None]:
    return dict.fromkeys(one.alpha for one in over)


def values_of(data: Data, measure: str) -> dict[str, list[float | None]]:
    """The values of a measure by system; None for missing values."""
    columns = {system: table[measure] for system, table in data.values.items() if measure in table}
    return {system: [None if np.isnan(one) else one for one in column] for system, column in columns.items()}


def range_of(data: Data, measure: str) -> tuple[float, float] | None:
    """Between what differences in a measure lie; None if nobody knows."""
    reach = reach_of(
        measure, (table[measure].dropna().to_numpy() for table in data.values.values() if measure in table)
    )
    return None if reach is None else (-reach, reach)


def quantiles(n: int, alpha: float) -> list[float]:
    """The 1 - alpha/2 quantiles of Student's t with 1, 2, … n - 1 degrees of freedom, for intervals of any subset."""
    return [] if n < 2 else (-scipy.special.stdtrit(np.arange(1, n), alpha / 2)).tolist()


def hole_record(data: Data, one: Comparison) -> JsonObject | None:
    """The holes of a comparison; None if the measure has none, values are external or one of the systems has no run."""
    sides: Sequence[str] = (one.control, one.treatment)
    if not data.qrels or not has_holes(one.measure) or any(side not in data.runs for side in sides):
        return None
    control, treatment = ([cut(read(), one.measure, data.qrels) for read in data.runs[side].values()] for side in sides)
    found = holes(control, treatment, data.qrels, one.measure)
    cases = {name: case.difference.round(DECIMALS).tolist() for name, case in found.cases.items()}
    return {"number": found.number.tolist(), **cases}


RAW = 150_000  # characters of a chunk before it is packed
_OF_DOCUMENT, _OF_LINE, _OF_RANK = 9, 11, 3  # characters of a number, of a ranked document with its score, of a rank


def size_of(record: JsonObject) -> int:
    """The approximate number of characters of a query's record."""
    lines = sum(_OF_LINE * len(run[0]) + _OF_RANK * len(run[2]) for run in record["runs"].values())
    return _OF_DOCUMENT * len(record["documents"]) + len(record["text"]) + lines


def gathered(records: Iterable[JsonObject]) -> Iterator[list[JsonObject]]:
    """The records in groups of about RAW characters each, at least one per group."""
    group: list[JsonObject] = []
    size = 0
    for record in records:
        if group and size + size_of(record) > RAW:
            yield group
            group, size = [], 0
        group.append(record)
        size += size_of(record)
    if group:
        yield group


def write_rankings(place: Path, data: Data, rankings: Rankings, numbering: Numbering) -> tuple[list[int], int]:
    """Write all rankings; return the position of the first query of each chunk, and the total bytes."""
    ids = list(rankings.ids)
    records = (
        query_record(rankings, query, ids, data.qrels[query], numbering) | {"text": data.texts.get(query, "")}
        for query in rankings.queries
    )
    firsts, first, used = [], 0, 0
    for group in gathered(records):
        used += packed.write(place, f"rankings-{len(firsts)}", group)
        firsts.append(first)
        first += len(group)
    return firsts, used


def chosen_texts(
    shown: dict[str, Shown], ids: Sequence[str], best: Sequence[int], depth: int, room: float
) -> TextLimits:
    """The texts that fit."""
    lengths = [len(shown[document].text) if document in shown else 0 for document in ids]
    return text_limits(np.array(best), np.array(lengths), depth, room)


def document_records(
    shown: dict[str, Shown], ids: Sequence[str], best: Sequence[int], limits: TextLimits | None
) -> list[list[Any]]:
    """Each document as the page reads it: its id; title and text, and the full length if it was cut."""
    return [_document(document, shown.get(document), rank, limits) for document, rank in zip(ids, best, strict=True)]


def _document(document: str, of_it: Shown | None, rank: int, limits: TextLimits | None) -> list[Any]:
    if limits is None or of_it is None or rank > limits.rank:
        return [document]
    text = of_it.text[: limits.length]
    cut = [of_it.length] if len(text) < of_it.length else []
    return [document, of_it.title[: limits.length], text, *cut]


def write_documents(place: Path, records: list[list[Any]]) -> int:
    """Write the documents; return the number per chunk."""
    characters = sum(len(part) for record in records for part in record if isinstance(part, str))
    per_chunk = max(1, RAW * len(records) // max(1, characters))
    for number, first in enumerate(range(0, len(records), per_chunk)):
        packed.write(place, f"documents-{number}", records[first : first + per_chunk])
    return per_chunk
