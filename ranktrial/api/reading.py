"""Files of scores, or of runs with their judgements, as `make new` recognises them: read into one table.

Long tables (trec_eval -q, ir_measures -q, PyTerrier's table per query, tables with a row per value), tables with a
column per system, task or measure, a file per system and task, lm-evaluation-harness's samples, MTEB's results.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ranktrial.api.scored import several_measures
from ranktrial.common.errors import REFUSED, UserError, named, shortened
from ranktrial.common.extras import names_extras
from ranktrial.datasets.formats import leaderboard
from ranktrial.ir.outside_table import MOST_NAMES, Wanted
from ranktrial.ir.scores import parsed, read_values, seeds_in
from ranktrial.new.draft import Draft
from ranktrial.new.folder import Folder, read_folder
from ranktrial.new.front import NotRecognised, draft, left_out, look, others, unknown_columns

NEITHER = (
    "neither scores nor runs; expected numbers (with decimal points) in a table with columns such as task, query, "
    "system, value, or TREC runs with their qrels"
)


@dataclass(frozen=True)
class Given:
    """What files hold: the values of scores, or runs by system and task with the judgements of each task.

    `said`: how they were read, as text; `left`: what is left out.
    """

    scores: pd.DataFrame | None
    runs: dict[str, dict[str, Path]]
    qrels: dict[str, Path]
    said: list[str]
    left: list[str]


@names_extras()
def read(*places: str | Path, measure: str = "", columns: str = "") -> pd.DataFrame:
    """Read files of scores, or a folder of them, into the table that `compare` takes.

    Args:
        *places: tables (CSV, TSV, JSON lines, parquet), folders of lm-evaluation-harness or MTEB … (docs/datasets.md).
        measure: the one to read, where a table has several; otherwise the name of the values.
        columns: what the columns of a table are, "systems", "tasks" or "measures", where their names do not tell.

    Returns:
        A table with the columns task, query, system, seed, measure and value; without query for the task scores of a
            leaderboard.

    Raises:
        UserError: with file and line, for what cannot be read.
    """
    given = gathered(places, measure, columns)
    if given.scores is None:
        raise UserError(f"{places[0]}: runs, not scores; rt.evaluate(qrels, runs) scores them")
    for line in given.left:
        warnings.warn(line, stacklevel=3)  # of the caller, beyond names_extras
    return given.scores


def gathered(places: Sequence[str | Path], measure: str = "", columns: str = "") -> Given:
    """What files or folders hold. Raises UserError for what is neither scores nor runs with judgements."""
    try:
        found = _gathered(places, measure, columns)
    except UserError as error:
        raise UserError(as_arguments(str(error))) from None
    return replace(found, said=[*map(as_arguments, found.said)], left=[*map(as_arguments, found.left)])


def as_arguments(text: str) -> str:
    """A message of `make new` with arguments in place of its variables: columns="tasks" for COLUMNS=tasks."""
    return re.sub(r"\b(MEASURE|COLUMNS|OUT)=([\w@./-]*\w)", lambda one: f'{one[1].lower()}="{one[2]}"', text)


def _gathered(places: Sequence[str | Path], measure: str, columns: str) -> Given:
    folder = _folder(places)
    every = not any(map(os.path.isdir, places))
    contents = replace(look(folder, columns=columns, every=every), named=_as_it_is)
    ranked = bool(contents.of("run") and contents.of("qrels"))
    if contents.of("run") and not contents.of("qrels"):
        problem = f"a run without judgements; give their qrels as well{others(contents)}"
        raise UserError(f"{folder.path(contents.of('run')[0])}: {problem}")
    if not (contents.of("run") or contents.of("scores")):
        _check_headings(folder)
    try:
        found = draft(contents if ranked else replace(contents, measure=measure))
    except NotRecognised:
        raise UserError(f"{_where(folder)}: {NEITHER}") from None
    if any(entry.get("type") != "external" for entry in found.systems.values()):
        raise UserError(f"{folder.place}: {found.what}, without runs or scores to compare; `ranktrial new` reads it")
    if len(found.choices) > 1:
        raise several_measures(_where(folder), found.choices)
    said, left = [*found.on_axes, *_by_names(found)], left_out(found, folder)
    values, means = (None, []) if ranked else _scores(found)
    parsed.cache_clear()  # a table may be large
    if ranked:
        runs = {name: {task: Path(run) for task, run in entry["runs"].items()} for name, entry in found.systems.items()}
        return Given(None, runs, {task: Path(entry["location"]) for task, entry in found.datasets.items()}, said, left)
    return Given(values, {}, {}, said, [*means, *left])


def _check_headings(folder: Folder) -> None:
    """Raise UserError, with the columns, for a table of numbers whose heading has no name of queries."""
    for file in folder.files:
        if problem := unknown_columns(folder, file):
            raise UserError(f"{folder.path(file)}: {problem}")


def _as_it_is(name: str) -> str:
    """A name in a file as a label. Raises UserError for one with an invisible character."""
    if refused := REFUSED.search(name):
        raise UserError(f"the name {shortened(name)} contains {named(refused[0])}; expected a name without it")
    return name


def _where(folder: Folder) -> str:
    return folder.location(folder.files[0]) if len(folder.files) == 1 else folder.place


def _by_names(found: Draft) -> list[str]:
    """The systems and tasks, where names of files or folders told them, as a line."""
    if all("column" in entry for entry in found.systems.values()):
        return []
    listed = [f"{', '.join(names[:MOST_NAMES])}{', …' * (len(names) > MOST_NAMES)}" for names in
              (list(found.systems), found.tasks)]  # fmt: skip
    return [f"by the names of files and folders: systems: {listed[0]}; tasks: {listed[1]}"]


def _folder(places: Sequence[str | Path]) -> Folder:
    """The files that are given, and those of the folders, as the files of one folder."""
    if not places:
        raise UserError("no file is given; expected files of scores, or runs with their qrels")
    if wrong := [place for place in places if not isinstance(place, str | os.PathLike)]:
        raise UserError(f"expected paths of files or folders, not {shortened(wrong[0])}")
    paths = [Path(place) for place in places]
    if len(paths) == 1 and paths[0].is_dir():
        return read_folder(str(paths[0]))
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            folder = read_folder(str(path))
            files += [folder.path(name) for name in folder.files]
        elif path.is_file():
            files.append(path)
        else:
            raise UserError(f"{path}: no such file")
    home = Path(os.path.commonpath([os.path.abspath(file.parent) for file in files]))
    here = Path.cwd()
    place = str(home.relative_to(here)) if home.is_relative_to(here) else str(home)
    return Folder(place, tuple(dict.fromkeys(os.path.relpath(file, home) for file in files)))


def _scores(found: Draft) -> tuple[pd.DataFrame, list[str]]:
    """The values of all systems on all tasks, with all their seeds, and which rows are left out."""
    of_tasks = all(entry["format"] == leaderboard.NAME for entry in found.datasets.values())
    rows, left = [], dict[str, None]()
    for system, entry in found.systems.items():
        for task, place in entry["scores"].items():
            wanted = Wanted(entry.get("column"), task, found.measure)
            seeds: list[str | None] = [*seeds_in(Path(place), wanted)]
            for seed in seeds or [None]:
                values = read_values(Path(place), replace(wanted, seed=seed))
                left |= dict.fromkeys(f"{place}: {remark}" for remark in values.remarks)
                ids = {"task": [*values.scores]} if of_tasks else {"task": task, "query": [*values.scores]}
                named = {"system": system, "seed": seed or "0", "measure": found.measure}
                rows.append(pd.DataFrame({**ids, **named, "value": list(values.scores.values())}))
    return pd.concat(rows, ignore_index=True), [*left]
