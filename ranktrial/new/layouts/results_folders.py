"""MTEB's results folder: a folder per model, with a JSON file per task; it becomes a leaderboard."""

from __future__ import annotations

from pathlib import PurePosixPath

from ranktrial.common.errors import UserError
from ranktrial.ir.outside_table import SCORES, TASK, rows_of_results
from ranktrial.new.draft import Draft, Entries
from ranktrial.new.folder import as_name
from ranktrial.new.layouts import Contents
from ranktrial.new.layouts.scores import draft_of_systems

LOOKED_FOR = "MTEB's results (a folder per model, with a JSON file per task)"
MEASURE = "main score"


def draft(contents: Contents) -> Draft | None:
    """Return a draft with the folder's results as one leaderboard, and each folder of a model as a system."""
    folder = contents.folder
    files = [file for file in folder.files if file.endswith(".json") and "/" in file and _is_result(contents, file)]
    models = list(dict.fromkeys(PurePosixPath(file).parts[0] for file in files))
    if not models:
        return None
    systems: Entries = {}
    name = as_name(folder.name) or "results"
    for model in models:
        system = as_name(model) or "system"
        if system in systems:
            raise UserError(f"{folder.place}: two folders would be called {system}; rename one")
        list(rows_of_results(folder.path(model)))  # raises UserError
        systems[system] = {"type": "external", "scores": {name: folder.location(model)}}
    return draft_of_systems(contents, systems, files, contents.measure or MEASURE, leaderboard=True)


def _is_result(contents: Contents, file: str) -> bool:
    with contents.folder.path(file).open("rb") as opened:
        start = opened.read(1 << 16)
    return f'"{TASK}"'.encode() in start and f'"{SCORES}"'.encode() in start
