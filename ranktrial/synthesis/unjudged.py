"""The result of a comparison if its unjudged documents were judged, or removed; and what runs lack.

Writes nothing. Four cases in addition to the comparison itself, in which no unjudged document is relevant:

    lowest       each query is judged in the way of holes.extremes with the lowest difference, treatment minus control
    highest      each query is judged in that with the highest
    all          all unjudged documents that the measure counts are relevant
    condensed    unjudged documents are removed from the rankings before the measure is computed; the rankings of both
                 systems are cut to the same depth first, as otherwise more would be left of the deeper one

Each is compared and combined like the comparison itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ranktrial.experiment.results_paths import fields_of
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.holes import ALL, Case, cut, extremes, has_holes, holes, values
from ranktrial.ir.measure_names import by_subtopic, follows_instructions
from ranktrial.ir.runs import too_short
from ranktrial.ir.trec import Qrels, Run, judged, ranking, read_run
from ranktrial.records.comparison import UnjudgedCase, UnjudgedRecord
from ranktrial.statistics.effects import effect_named
from ranktrial.synthesis.comparing import DependenceData, Pairs, compared
from ranktrial.synthesis.metrics_files import Scores

LOWEST, HIGHEST, CONDENSED = "lowest", "highest", "condensed"
CASES = (LOWEST, HIGHEST, ALL, CONDENSED)
RankedScores = dict[str, dict[str, tuple[int, float]]]  # query id -> document id -> rank (from 1), score
Readers = Mapping[tuple[str, str], Sequence[Callable[[], Run]]]  # task and system -> what reads its runs, one per seed


@dataclass(frozen=True)
class Ranked:
    """The runs of a system, one per seed: each up to the measure's cut-off, and its judged documents with their ranks.

    `depth` is the largest number of documents of a query, `absent` the number of judged queries that a run lacks.
    """

    runs: list[Run]
    judged: list[RankedScores]
    depth: int
    absent: int


def readers(files: Iterable[Path]) -> dict[tuple[str, str], list[Callable[[], Run]]]:
    """What reads the runs of an experiment, by task and system of their paths."""
    found: dict[tuple[str, str], list[Callable[[], Run]]] = {}
    for path in files:
        fields = fields_of("run", path)
        found.setdefault((fields["task"], fields["system"]), []).append(partial(read_run, path))
    return found


class Unjudged(NamedTuple):
    """The means of all cases; and, as text, the judged queries that runs lack, and external runs that are too short."""

    record: UnjudgedRecord | None
    absent: list[str]
    short: list[str]


def unjudged_record(
    pairs: Pairs, runs: Readers, qrels: Mapping[str, Qrels], settings: Settings, dependence: DependenceData
) -> Unjudged:
    """The means of all cases, and what runs lack.

    There are no means without runs or a difference, for a measure that does not count unjudged documents, and if every
    document that counts is judged.
    """
    if not runs:  # external values are of any measure, which ir-measures need not know
        return Unjudged(None, [], [])
    measures = {settings.measure_on.get(task, settings.measure) for task in pairs}
    by_document = not any(by_subtopic(measure) or follows_instructions(measure) for measure in measures)
    if not (effect_named(settings.effect).HAS_DIFFERENCE and by_document):
        return Unjudged(None, [], [])
    numbers: dict[str, float] = {}
    documents: dict[str, float] = {}
    by_case: dict[str, dict[str, tuple[Scores, Scores]]] = {case: {} for case in CASES}
    absent: list[str] = []
    short: dict[str, list[str]] = {}  # how a run falls short: on these tasks
    for task, pair in pairs.items():
        ranked_on = settings.runs_on.get(task, task)
        systems = {name: runs.get((ranked_on, name), ()) for name in (settings.control, settings.treatment)}
        measure = settings.measure_on.get(task, settings.measure)
        control, treatment = (_read(of_system, measure, qrels[task]) for of_system in systems.values())
        if all(map(has_holes, measures)):
            numbers[task], documents[task], cases = _of_task(pair, control, treatment, qrels[task], measure)
            for case, found in cases.items():
                by_case[case][task] = found
        for name, ranked in zip(systems, (control, treatment), strict=True):
            if ranked.absent:
                lacking = f"{ranked.absent} of {len(qrels[task])} judged queries are not in the run of {name}"
                absent.append(f"{task}: {lacking} and score 0")
            if name in settings.external and (fewer := too_short(ranked.depth, [measure])):
                short.setdefault(f"the run of {name} {fewer}", []).append(task)
    on_tasks = [f"{', '.join(tasks)}: {said}" for said, tasks in short.items()]
    if not any(numbers.values()):
        return Unjudged(None, absent, on_tasks)
    means = {case: _means(found, settings, dependence) for case, found in by_case.items()}
    record = UnjudgedRecord(numbers, documents, {case: found for case, found in means.items() if found})
    return Unjudged(record, absent, on_tasks)


def _means(pairs: Pairs, settings: Settings, dependence: DependenceData) -> UnjudgedCase | None:
    """The means of a case; None if no task has an effect. p-values of single tasks are not computed."""
    permutations = settings.permutations if settings.task_interval == "randomisation" else 1
    found = compared(pairs, replace(settings, permutations=permutations, margin=None), dependence)
    if found.on_these is None or found.over_collections is None:
        return None
    return UnjudgedCase(found.on_these, found.over_collections)


def _of_task(
    pair: tuple[Scores, Scores], control: Ranked, treatment: Ranked, qrels: Qrels, measure: str
) -> tuple[float, float, dict[str, tuple[Scores, Scores]]]:
    """Mean numbers per query of unjudged documents and of all that count; and the scores of both systems by case."""
    found = holes(control.runs, treatment.runs, qrels, measure)
    lowest, highest = extremes(control.runs, treatment.runs, qrels, measure)
    depth = min(control.depth, treatment.depth)
    chosen = {
        LOWEST: lowest,
        HIGHEST: highest,
        ALL: found.cases[ALL],
        CONDENSED: Case(*(_condensed(ranked, depth, qrels, measure) for ranked in (control, treatment))),
    }
    queries = pair[0].values.index
    number, documents = (
        float(pd.Series(counts, list(qrels)).loc[queries].mean()) for counts in (found.number, found.documents)
    )
    return number, documents, {name: _scores(case, list(qrels), queries) for name, case in chosen.items()}


def _read(readers: Sequence[Callable[[], Run]], measure: str, qrels: Qrels) -> Ranked:
    """The runs of a system; one whole run at a time is in memory."""
    runs, of_judged, depth, absent = [], [], 0, 0
    for read in readers:
        run = read()
        depth = max([depth, *map(len, run.values())])
        absent = max(absent, len(qrels.keys() - run.keys()))
        of_judged.append(_ranks_of_judged(run, qrels))
        runs.append(cut(run, measure, qrels))
    return Ranked(runs, of_judged, depth, absent)


def _ranks_of_judged(run: Run, qrels: Qrels) -> RankedScores:
    """For each query of a run that is judged, its judged documents with their ranks in the run (from 1) and scores."""
    return {
        query: {one: (rank, run[query][one]) for rank, one in enumerate(ranking(run[query]), 1) if judged(grades, one)}
        for query, grades in qrels.items()
        if query in run
    }


def _condensed(ranked: Ranked, depth: int, qrels: Qrels, measure: str) -> np.ndarray:
    """The values of a system (shape: queries, runs) for the judged documents among its first `depth`."""
    runs = [
        {query: {one: score for one, (rank, score) in scores.items() if rank <= depth} for query, scores in run.items()}
        for run in ranked.judged
    ]
    return values(runs, qrels, measure)


def _scores(case: Case, queries: list[str], paired: pd.Index) -> tuple[Scores, Scores]:
    control, treatment = (
        Scores(pd.DataFrame(values, pd.Index(queries)).loc[paired], None) for values in (case.control, case.treatment)
    )
    return control, treatment
