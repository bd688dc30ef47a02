"""Long tables of scores: columns that name system, task, query, measure and value, as evaluation tools write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from ranktrial.common.errors import UserError
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.scores import Named, named_in
from ranktrial.new.draft import MEASURES, Draft, Entries
from ranktrial.new.folder import as_name, stem
from ranktrial.new.layouts import Contents
from ranktrial.new.layouts.scores import draft_of_systems, places_of

SAID = "Read as a long table: each row has one value."
LOOKED_FOR = "long tables (a value per row, with columns that name system, task, query, measure)"


def draft(contents: Contents) -> Draft | None:
    """Return a draft with the systems, tasks and measure that the tables name, or else the names of their files."""
    starts = {file: contents.heads[file].table for file in contents.of("scores")}
    files = [file for file, start in starts.items() if start and start.is_long]
    if not files:
        return None
    named = {file: named_in(contents.folder.path(file)) for file in files}
    measure = contents.measure or _measure(contents, named)
    systems: Entries = {}
    places = places_of(contents, [file for file in files if not (named[file].systems or named[file].tasks)])
    for file in files:
        alone = as_name(stem(file)) or as_name(contents.folder.name) or "mine"
        of_system, of_task = places.get(file, (alone, alone))
        for column in named[file].systems or [""]:
            system = as_name(column) if column else of_system
            entry = systems.setdefault(
                system, {"type": "external", **({"column": column} if column else {}), "scores": {}}
            )
            for task in named[file].tasks or [of_task]:
                _add(entry["scores"], as_name(task) or "task", contents.folder.location(file), system)
    of_tasks = [start.roles.of_tasks for file in files if (start := starts[file])]
    return draft_of_systems(
        contents, systems, files, measure, all(of_tasks), ("Read as a long table: a value per row.",)
    )


def _add(scores: dict[str, str], task: str, place: str, system: str) -> None:
    if scores.setdefault(task, place) != place:
        names = f"{PurePosixPath(scores[task]).name} and {PurePosixPath(place).name}"
        raise UserError(f"{place}: {names} both have values of {system} on {task}; keep one")


def _measure(contents: Contents, named: dict[str, Named]) -> str:
    """Return the measure to compare: the default one if all tables have it, else the first that all have."""
    listed: list[Sequence[str]] = [found.measures for found in named.values()]
    if not any(listed):
        listed = [start.measures for file in named if (start := contents.heads[file].table)]
    common = [name for name in listed[0] if all(name in others for others in listed)]
    computed = [name for name in common if canonical(name)] or common
    default = next((name for name in computed if canonical(name) == canonical(MEASURES[0])), None)
    name = default or next(iter(computed), "")
    return canonical(name) or name
