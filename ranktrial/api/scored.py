"""Values of one measure by task, system, query and seed: read from a table, or from arrays of two systems.

A table is a DataFrame. The names of its columns say what they are, as in files of scores (ranktrial/ir/outside_table):
task (or dataset …), query (or qid, sample, id …), system (or model, run, name …), seed, measure, and a column of values
that is called value, score or by the measure. Without a column of systems, each column of values is a system. Without
queries, each row is the score of a task: a leaderboard. Reads and writes nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import pandas as pd

from ranktrial.common.errors import UserError, shortened
from ranktrial.common.wording import hint
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.outside_table import VALUES, Roles, is_summary, lacks_queries, roles
from ranktrial.ir.trec import Qrels, Run
from ranktrial.synthesis.families import ScoresBySystem

ONE_TASK = "all"  # the only task of a table without tasks
LEADERBOARD = "leaderboard"
UNNAMED = "score"  # the measure that nobody names
BEYOND = 1e100  # whose squares overflow: no value of a measure
PAIR = ("control", "treatment")
EXPECTED = "expected the columns task, query, system, value"


@dataclass(frozen=True)
class Scored:
    """The values of systems by task and system: tables of queries (index) by seeds (columns).

    `of_tasks`: a value is the score of a task of a leaderboard, not of a query. `qrels` and `runs` (by task and system,
    one per seed) are known if values were computed from runs. `seeds` are the names of columns by system and task.
    """

    tables: Mapping[str, ScoresBySystem]
    measure: str
    of_tasks: bool = False
    qrels: Mapping[str, Qrels] = field(default_factory=dict)
    runs: Mapping[tuple[str, str], Sequence[Run]] = field(default_factory=dict)
    seeds: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def by_seed(cls, tables: Mapping[str, ScoresBySystem], measure: str, of_tasks: bool = False) -> Scored:
        """The values of tables whose columns are named by seeds. A seed has the same place on all tasks of a system."""
        order: dict[str, dict[str, None]] = {}
        for of_task in tables.values():
            for system, table in of_task.items():
                order.setdefault(system, {}).update(dict.fromkeys(table.columns))
        placed: dict[str, dict[str, pd.DataFrame]] = {}
        seeds: dict[str, dict[str, tuple[str, ...]]] = {}
        for task, of_task in tables.items():
            for system, table in of_task.items():
                names = [name for name in order[system] if name in table.columns]
                placed.setdefault(task, {})[system] = table[names].set_axis(range(len(names)), axis=1)
                seeds.setdefault(system, {})[task] = tuple(names)
        return cls(placed, measure, of_tasks, seeds=seeds)

    @property
    def systems(self) -> list[str]:
        """All systems, in the order of their first values."""
        return list(dict.fromkeys(name for of_task in self.tables.values() for name in of_task))

    def of(self, systems: Sequence[str]) -> Scored:
        """The values of these systems. Raises UserError for a task on which one has none."""
        for task, of_task in self.tables.items():
            if missing := [name for name in systems if name not in of_task]:
                there = ", ".join(name for name in systems if name in of_task) or "none"
                problem = f"task {task}: no values of {missing[0]} (of the systems compared, there: {there})"
                raise UserError(f"{problem}; leave out the task, or the system")
        return replace(self, tables={task: {name: of[name] for name in systems} for task, of in self.tables.items()})

    def several(self, system: str) -> int:
        """The largest number of seeds that a system has on a task."""
        return max(int(of_task[system].shape[1]) for of_task in self.tables.values())

    def trainings(self, system: str) -> dict[str, str]:
        """By task, the seeds of a system, if tasks have others: separate trainings. Empty if all have the same.

        Raises UserError for tasks that share some of their seeds.
        """
        named = {task: names for task, names in self.seeds.get(system, {}).items() if len(names) > 1}
        for (task, one), (other, beside) in combinations(named.items(), 2):
            if one != beside and set(one) & set(beside):
                problem = f"{system} has the seeds {_listed(one)}, and {_listed(beside)} on {other}"
                raise UserError(f"task {task}: {problem}; expected the same on both, or none in common")
        return {task: _listed(names) for task, names in named.items()} if len(set(named.values())) > 1 else {}


def of_pairs(pairs: Mapping[object, object], names: tuple[str, str], measure: str | None) -> Scored:
    """The values of {task: (control, treatment)}: arrays of shape (queries,) or (queries, seeds), paired by position,
    or Series or mappings by query id, paired by it.

    Raises UserError, with the task, for another shape, a value that is not finite, and systems without common queries.
    """
    tables: dict[str, ScoresBySystem] = {}
    if names[0] == names[1]:
        raise UserError(f"control and treatment are both {names[0]!r}; expected two names")
    for task, pair in pairs.items():
        if not isinstance(pair, Sequence) or len(pair) != len(PAIR):
            table = (
                "; for a table give pd.DataFrame(data)"
                if roles([str(name) for name in pairs]).system is not None
                else ""
            )
            raise UserError(f"task {task}: expected a pair (control, treatment), not {shortened(pair)}{table}")
        own = [_matrix(f"task {task}, {name}", values) for name, values in zip(names, pair, strict=True)]
        if not any(isinstance(values, pd.Series | pd.DataFrame | Mapping) for values in pair):
            counts = [len(table) for table in own]
            if counts[0] != counts[1]:
                problem = f"{counts[0]} values of {names[0]} and {counts[1]} of {names[1]} cannot be paired by position"
                raise UserError(f"task {task}: {problem}; give the same queries in one order, or Series by query id")
        tables[str(task)] = dict(zip(names, own, strict=True))
    if not tables:
        raise UserError("no task is given; expected {task: (control, treatment)}")
    return Scored.by_seed(tables, measure or UNNAMED)


def _matrix(where: str, values: object) -> pd.DataFrame:
    """Values by query and seed. Raises UserError for another shape, and for values that are not finite numbers."""
    if isinstance(values, Mapping):
        values = pd.Series(values)
    try:
        table = pd.DataFrame(np.ma.filled(np.ma.asarray(values, dtype=float), np.nan))
    except (TypeError, ValueError):
        raise UserError(f"{where}: expected numbers, one per query, not {shortened(values)}") from None
    if not table.size:
        raise UserError(f"{where}: no values; expected shape (queries,) or (queries, seeds)")
    ids = values.index if isinstance(values, pd.Series | pd.DataFrame) else range(1, len(table) + 1)
    table.index = pd.Index([str(query) for query in ids])
    of_seeds = values.columns if isinstance(values, pd.DataFrame) and values.columns.is_unique else table.columns
    table.columns = pd.Index([str(seed) for seed in of_seeds])
    wrong = ~(np.abs(table.to_numpy()) < BEYOND).all(axis=1)
    if wrong.any():
        row = table.index[wrong][0]
        raise UserError(f"{where}: the value of query {row} is masked or not a finite number; leave out the query")
    if table.index.has_duplicates:
        raise UserError(f"{where}: query {table.index[table.index.duplicated()][0]} has two values; expected one")
    return table


def of_frame(frame: pd.DataFrame, measure: str | None = None) -> Scored:
    """The values of a table, of the `measure` if it has several.

    Raises UserError, with the row or column, for a missing column, a value that is not a finite number, two values of
    one query, and seeds of different queries.
    """
    table = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    table = table.set_axis([str(name) for name in table.columns], axis=1).reset_index(drop=True)
    if table.empty:
        raise UserError(f"the table has no rows; {EXPECTED}")
    found = roles(list(table.columns))
    if found.id is not None:
        table = _without_means(table, found.id)
    ids = [place for place in (found.id, found.system, found.task, found.seed, found.measure) if place is not None]
    twice = found.id is None or table.iloc[:, ids].duplicated().any()
    if twice and (problem := lacks_queries(list(table.columns))):
        raise UserError(problem)
    long, named = (_wide(table, found) if found.system is None else _long(table, found, measure)), measure
    if found.measure is not None:
        long, named = _of_measure(long, table.columns[found.measure], measure)
    elif found.system is not None and measure is None:
        column = table.columns[_column(table, found, measure)]
        named = None if column.lower() in VALUES else canonical(column) or column
    return Scored.by_seed(_tables(_checked(long, named)), named or UNNAMED, found.of_tasks)


def _without_means(table: pd.DataFrame, place: int) -> pd.DataFrame:
    """The rows without those of means over the others, of which a warning tells."""
    means = table.iloc[:, place].astype(str).map(is_summary)
    if not means.any() or means.all():
        return table
    names = ", ".join(dict.fromkeys(table.iloc[:, place][means].astype(str)))
    warnings.warn(f"left out: the rows {names}: by their name, means over the others", stacklevel=5)
    return table[~means].reset_index(drop=True)


def several_measures(where: str, names: Sequence[str]) -> UserError:
    """An error that names the argument, in the form that `as_options` of the command line knows."""
    return UserError(f'{where}: values of several measures, {_listed(names)}; name one: measure="{names[0]}"')


def _listed(names: Sequence[str] | pd.Index) -> str:
    return ", ".join(map(str, list(names)[:12])) or "no columns"


def _named(table: pd.DataFrame, found: Roles) -> pd.DataFrame:
    """The columns of names, as text; a column that the table lacks has one value."""
    places = {"query": found.id, "system": found.system, "seed": found.seed}
    places["task"] = None if found.of_tasks else found.task
    defaults = {"task": LEADERBOARD if found.of_tasks else ONE_TASK, "seed": "0", "system": "", "query": ""}
    columns = {}
    for name, default in defaults.items():
        place = places[name]
        if place is None:
            columns[name] = pd.Series(default, table.index, dtype=object)
            continue
        column = table.iloc[:, place]
        if column.isna().any():
            row = int(np.flatnonzero(column.isna())[0])
            raise UserError(f"row {row}: no {name} in the column {table.columns[place]}; expected a name")
        columns[name] = column.astype(str).astype(object)
    if found.measure is not None:
        columns[table.columns[found.measure]] = table.iloc[:, found.measure].astype(str)
    return pd.DataFrame(columns)


def _long(table: pd.DataFrame, found: Roles, measure: str | None) -> pd.DataFrame:
    return _named(table, found).assign(value=table.iloc[:, _column(table, found, measure)])


def _column(table: pd.DataFrame, found: Roles, measure: str | None) -> int:
    """The place of the column of values. Raises UserError unless one is meant."""
    names = [table.columns[place] for place in found.values]
    wanted = _plain(measure) if measure else None
    ways = [
        [place for place in found.values if wanted and _plain(table.columns[place]) == wanted],
        list(found.values),
        [place for place in found.values if table.columns[place].lower() in VALUES],
    ]
    meant = next((way for way in ways if len(way) == 1), None)
    if meant:
        return meant[0]
    if not names:
        raise UserError(f"no column of values among {_listed(table.columns)}; {EXPECTED}")
    near = hint(measure, names) if measure else ""
    problem = f"no column of {measure}" if measure else "several columns of values"
    raise UserError(f'{problem}: there are {_listed(names)}{near}; name one: measure="{names[0]}"')


def _plain(measure: str) -> str:
    return canonical(measure) or measure.casefold()


def _wide(table: pd.DataFrame, found: Roles) -> pd.DataFrame:
    """The rows of a table with a column per system."""
    names = [table.columns[place] for place in found.values]
    texts = [name for name in names if pd.to_numeric(table[name], errors="coerce").isna().all(axis=None)]
    if len(names) < 2 or texts or all(canonical(name) for name in names):
        raise UserError(f"no column of systems among {_listed(table.columns)}; {EXPECTED}, or a column per system")
    own = _named(table, found)
    return pd.concat([own.assign(system=name, value=table[name]) for name in names], ignore_index=True)


def _of_measure(long: pd.DataFrame, column: str, measure: str | None) -> tuple[pd.DataFrame, str]:
    """The rows of the measure that is meant, and its name. Raises UserError if several could be."""
    names = list(dict.fromkeys(long[column]))
    if measure is None and len(names) > 1:
        raise several_measures("the table", names)
    meant = [name for name in names if measure is None or _plain(name) == _plain(measure)]
    if not meant:
        raise UserError(f"no row of the measure {measure}; there are {_listed(names)}{hint(str(measure), names)}")
    return long[long[column] == meant[0]], canonical(meant[0]) or meant[0]


def _checked(long: pd.DataFrame, measure: str | None) -> pd.DataFrame:
    """The rows with numbers. Raises UserError for another value, and for two values of one query."""
    values = pd.to_numeric(long["value"], errors="coerce").astype(float)
    wrong = ~(np.abs(values.to_numpy()) < BEYOND)
    if wrong.any():
        first = long[wrong].iloc[0]
        value = str(first["value"]) if isinstance(first["value"], float) else shortened(first["value"])
        raise UserError(f"{_place(first)}: {value} is not a finite number; expected one number per query and system")
    long = long.assign(value=values)
    keys = ["task", "system", "seed", "query"]
    if (twice := long.duplicated(keys)).any():
        where = _place(long[twice].iloc[0])
        of = f" of {measure}" if measure else ""
        raise UserError(
            f"{where}: has two values{of}; expected one per query and system, or a column seed that tells them"
        )
    return long


def _place(row: pd.Series) -> str:
    seed = f", seed {row['seed']}" if row["seed"] != "0" else ""
    return f"row {row.name} (task {row['task']}, query {row['query']}, system {row['system']}{seed})"


def _tables(long: pd.DataFrame) -> dict[str, ScoresBySystem]:
    """The tables by task and system. Raises UserError for seeds of different queries."""
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for (task, system), rows in long.groupby(["task", "system"], sort=False):
        seeds = {seed: of.set_index("query")["value"] for seed, of in rows.groupby("seed", sort=False)}
        values = pd.concat(seeds, axis=1)
        if values.isna().any(axis=None):
            query = values.index[values.isna().any(axis=1)][0]
            raise UserError(f"task {task}, system {system}: not all its seeds have query {query}; expected the same")
        tables.setdefault(task, {})[system] = values
    return dict(tables)
