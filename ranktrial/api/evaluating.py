"""Runs and judgements in memory or in files, and the values of their measures per query."""

from __future__ import annotations

import numbers
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ranktrial.api.scored import ONE_TASK, Scored
from ranktrial.common.errors import UserError, shortened
from ranktrial.common.extras import names_extras
from ranktrial.common.wording import hint
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.measures import evaluate as values_of
from ranktrial.ir.runs import order_warning
from ranktrial.ir.trec import Qrels, Run, none_judged, read_run

QUERY = ("query_id", "qid", "query", "query-id", "topic")
DOCUMENT = ("doc_id", "docno", "docid", "document", "corpus-id", "did")
GRADE = ("relevance", "label", "grade", "rel", "score")
SCORE = ("score",)
TASK = ("task", "dataset")
DEFAULT = "nDCG@10"  # the measure of runs
Judgements = dict[str, Qrels]  # by task
Runs = dict[tuple[str, str], list[Run]]  # by task and system, one per seed


@names_extras()
def evaluate(qrels: Any, runs: Mapping[str, Any], measures: str | Sequence[str] = (DEFAULT,)) -> pd.DataFrame:
    """Score runs: the value of each judged query, as `trec_eval -c` computes it.

    Args:
        qrels: a file (TREC's four columns, or BEIR's three), `{query: {document: grade}}` or a DataFrame with columns
            such as query_id, doc_id and relevance; of several tasks, `{task: one of these}`.
        runs: by system a run file (TREC), `{query: {document: score}}` or a DataFrame with columns such as query_id,
            doc_id and score; of several seeds a list of these, of several tasks `{task: one of these}`.
        measures: names of ir-measures, or of trec_eval.

    Returns:
        A table with the columns task, query, system, seed, measure and value, which `compare` takes. A judged query
            that a run lacks has the value 0; a warning counts them.

    Raises:
        UserError: for a file, table or mapping of another form, a measure that is unknown, and a run without a query of
            the judgements.
    """
    measures = [measures] if isinstance(measures, str) else list(dict.fromkeys(measures))
    if not measures:
        raise UserError("evaluate: no measure; expected names such as nDCG@10")
    judged = judgements(qrels)
    rows = []
    for (task, system), seeds in runs_by_task(runs, judged).items():
        for seed, run in enumerate(seeds):
            table = values_of(run, judged[task], [canonical(name) or name for name in measures])
            named = {"task": task, "query": table.index, "system": system, "seed": seed}
            for measure in measures:
                values = table[canonical(measure) or measure].to_numpy()
                rows.append(pd.DataFrame({**named, "measure": measure, "value": values}))
    return pd.concat(rows, ignore_index=True)


def scored(qrels: Any, runs: Mapping[str, Any], measure: str | None) -> Scored:
    """The values of runs by a measure, with what they were computed from."""
    judged = judgements(qrels)
    name = canonical(measure or DEFAULT) or str(measure)
    of_runs = runs_by_task(runs, judged)
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for (task, system), seeds in of_runs.items():
        columns = [values_of(run, judged[task], [name])[name] for run in seeds]
        tables.setdefault(task, {})[system] = pd.concat(columns, axis=1, keys=range(len(columns)))
    return Scored(tables, name, qrels=judged, runs=of_runs)


def judgements(given: Any) -> Judgements:
    """The judgements by task. Raises UserError for what is none."""
    if isinstance(given, pd.DataFrame):
        return _by_task(given, "qrels", GRADE)
    if isinstance(given, str | os.PathLike):
        return {ONE_TASK: read_judgements(_file(given, "qrels"))}
    if not isinstance(given, Mapping) or not given:
        raise UserError(f"qrels: expected a file, a table, or a mapping of queries or tasks, not {shortened(given)}")
    if all(_is_ranked(value) for value in given.values()):
        return {ONE_TASK: _mapping(given, "qrels", int)}
    found: Judgements = {}
    for task, value in given.items():
        of_task = judgements(value)
        if len(of_task) > 1:
            raise UserError(f"qrels: {task}: expected the judgements of one task")
        found[str(task)] = next(iter(of_task.values()))
    return found


def runs_by_task(runs: Mapping[str, Any], judged: Judgements) -> Runs:
    """The runs by task and system. Raises UserError for what is none, and for runs of other queries."""
    if not isinstance(runs, Mapping) or not runs:
        raise UserError(f"runs: expected {{system: run}}, not {shortened(runs)}")
    found: Runs = {}
    for system, given in runs.items():
        by_task = given if isinstance(given, Mapping) and not all(map(_is_ranked, given.values())) else None
        if by_task is None and len(judged) > 1:
            tasks = ", ".join(judged)
            raise UserError(f"runs: {system}: expected {{task: run}}, since the judgements are of the tasks {tasks}")
        for task, value in (by_task or {next(iter(judged)): given}).items():
            if str(task) not in judged:
                raise UserError(f"runs: {system}: no judgements of the task {task}{hint(str(task), judged)}")
            seeds = list(value) if isinstance(value, list | tuple) else [value]
            found[str(task), str(system)] = [_run(one, f"runs: {system}", judged[str(task)]) for one in seeds]
    return dict(sorted(found.items(), key=lambda item: list(judged).index(item[0][0])))


def _run(given: Any, where: str, qrels: Qrels) -> Run:
    """A run, of which at least one query is judged; a warning counts the queries that it lacks."""
    reversed_order = None
    if isinstance(given, str | os.PathLike):
        path = _file(given, where)
        run, where, reversed_order = read_run(path), str(given), order_warning(path)
    elif isinstance(given, pd.DataFrame):
        run = next(iter(_by_task(given, where, SCORE).values()), {})
        reversed_order = order_warning(_places(given, where)) if "rank" in given else None
    elif isinstance(given, Mapping):
        run = _mapping(given, where, float)
    else:
        raise UserError(f"{where}: expected a file, a table or {{query: {{document: score}}}}, not {shortened(given)}")
    if not run.keys() & qrels.keys():
        of_run, of_qrels = (shortened(next(iter(one), "")) for one in (run, qrels))
        problem = f"none of its {len(run)} queries is in the qrels"
        raise UserError(f"{where}: {problem}: the run has queries such as {of_run}, the qrels {of_qrels}")
    if (missing := len(qrels.keys() - run.keys())) and len(qrels) > missing:
        warnings.warn(f"{where}: {missing} of {len(qrels)} judged queries are not in the run and score 0", stacklevel=4)
    for said in filter(None, (none_judged(run, qrels), reversed_order)):
        warnings.warn(f"{where}: {said.removeprefix('warning: ')}", stacklevel=4)
    return run


def _places(table: pd.DataFrame, where: str) -> Iterator[tuple[str, float, float]]:
    """Query, rank and score of each row, by query."""
    query, score = column_of(table, QUERY, where), column_of(table, SCORE, where)
    ranks = pd.to_numeric(table["rank"], errors="coerce").fillna(0)
    rows = zip(table[query].astype(str), ranks, pd.to_numeric(table[score]), strict=True)
    return iter(sorted(rows, key=lambda row: row[0]))


def _file(given: str | os.PathLike[str], where: str) -> Path:
    path = Path(given)
    if not path.is_file():
        raise UserError(f"{where}: no file {str(path)!r}")
    return path


def _is_ranked(value: Any) -> bool:
    """Whether a value is what a query has: documents with a number each."""
    return isinstance(value, Mapping) and all(isinstance(one, numbers.Real) for one in value.values())


def _mapping(given: Mapping[Any, Any], where: str, number: type) -> dict[str, dict[str, Any]]:
    found = {}
    for query, of_query in given.items():
        if not _is_ranked(of_query):
            raise UserError(f"{where}: query {query}: expected {{document: number}}, not {shortened(of_query)}")
        place = f"{where}: query {query}, document "
        found[str(query)] = {str(name): _number(value, number, f"{place}{name}") for name, value in of_query.items()}
    return found


def _number(given: Any, number: type, where: str) -> Any:
    """A score, or a whole grade. Raises UserError for another value."""
    value = pd.to_numeric(given, errors="coerce")
    if pd.isna(value) or (number is int and value % 1):
        raise UserError(f"{where}: {shortened(given)}; expected a {'whole number' if number is int else 'number'}")
    return number(value)


def _by_task(table: pd.DataFrame, where: str, columns: Sequence[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """The rows of a table by task, query and document. Raises UserError for a missing column or a duplicate row."""
    query, document, number = (column_of(table, names, where) for names in (QUERY, DOCUMENT, columns))
    task = next((name for name in TASK if name in table), None)
    tasks = table[task].astype(str) if task else pd.Series(ONE_TASK, table.index)
    whole = columns is GRADE
    found: dict[str, dict[str, dict[str, Any]]] = {}
    cells = (tasks, table[query].astype(str), table[document].astype(str), table[number])
    for row, (of_task, of_query, one, value) in enumerate(zip(*cells, strict=True)):
        documents = found.setdefault(of_task, {}).setdefault(of_query, {})
        if one in documents:
            raise UserError(f"{where}: row {row}: document {one} is given twice for query {of_query}")
        documents[one] = _number(value, int if whole else float, f"{where}: row {row}")
    return found


def column_of(table: pd.DataFrame, names: Sequence[str], where: str) -> str:
    """The first of the names that is a column. Raises UserError if none is."""
    found = next((name for name in names if name in table), None)
    if found is None:
        there = ", ".join(map(str, table.columns))
        raise UserError(f"{where}: no column {', '.join(names[:-1])} or {names[-1]} among {there}")
    return found
