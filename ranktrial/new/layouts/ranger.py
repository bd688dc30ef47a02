"""A comparison of the toolkit Ranger: its config.yaml names a file of runs or values per system and task.

It has `eval_metrics`, or `qrels` and `available_rankings`, and `display_names` of the tasks to compare. Its paths are
relative to the folder in which the toolkit is run. Here, leading folders are removed until a file of the folder has
that name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.datasets.formats import qrels as qrels_format
from ranktrial.new.draft import Draft, Entries, counted
from ranktrial.new.folder import as_name
from ranktrial.new.layouts import Contents
from ranktrial.new.layouts.scores import draft_of_systems

LOOKED_FOR = "Ranger's config.yaml (eval_metrics, or qrels and available_rankings)"
VALUES, RUNS, JUDGEMENTS, LABELS = "eval_metrics", "available_rankings", "qrels", "display_names"
HINT = "The toolkit's own settings, in place of today's defaults: docs/coming-from.md, Ranger."
LARGEST = 1 << 20  # bytes of a file that may be Ranger's
_KEY = re.compile(rf"^({VALUES}|{RUNS}):", re.MULTILINE)


def draft(contents: Contents) -> Draft | None:
    """Return a draft with the systems and tasks that the toolkit's file names."""
    files = [file for file in contents.folder.files if file.endswith((".yaml", ".yml")) and _is_rangers(contents, file)]
    if not files:
        return None
    if len(files) > 1:
        raise UserError(f"{contents.folder.place}: {files[0]} and {files[1]} are both Ranger's; give the folder of one")
    read = _File(contents, files[0])
    return read.runs() if RUNS in read.values else read.scores()


def _is_rangers(contents: Contents, file: str) -> bool:
    path = contents.folder.path(file)
    return path.stat().st_size <= LARGEST and bool(_KEY.search(path.read_text("utf-8", errors="replace")))


class _File:
    """The toolkit's file, and the files of the folder that it names."""

    def __init__(self, contents: Contents, name: str) -> None:
        self.contents, self.name = contents, name
        self.place = contents.folder.path(name)
        self.values: dict[str, Any] = read_yaml(self.place)
        self.labels = {task: str(label) for task, label in self._named(LABELS, self.values.get(LABELS, {})).items()}

    def scores(self) -> Draft:
        """Return a draft of tasks with a file of values per system."""
        entries, files = self._systems(VALUES, "scores")
        found = draft_of_systems(self.contents, entries, files)
        datasets = {task: entry | self._label(task) for task, entry in found.datasets.items()}
        return replace(found, datasets=datasets, used=frozenset([self.name, *files]), hints=(*found.hints, HINT))

    def runs(self) -> Draft:
        """Return a draft of tasks with judgements and a run per system."""
        systems, files = self._systems(RUNS, "runs")
        tasks = list(dict.fromkeys(task for entry in systems.values() for task in entry["runs"]))
        qrels = self._named(JUDGEMENTS, self.values.get(JUDGEMENTS))
        if missing := [task for task in tasks if task not in qrels]:
            raise UserError(f"{self.place}: {JUDGEMENTS}: no file of the task {missing[0]!r}, which has runs")
        judged = {task: self._found(f"{JUDGEMENTS}.{task}", qrels[task]) for task in tasks}
        datasets = {task: self._judgements(judged[task]) | self._label(task) for task in tasks}
        what = f"{counted(len(files), 'run')} of {counted(len(tasks), 'task')} with qrels, of Ranger's {self.name}"
        used = frozenset([self.name, *files, *judged.values()])
        return Draft(what, datasets, systems, tasks, used=used, hints=(HINT,))

    def _judgements(self, file: str) -> dict[str, Any]:
        folder = self.contents.folder
        return {"format": qrels_format.NAME, "location": folder.location(file), "sha256": sha256(folder.path(file))}

    def _label(self, task: str) -> dict[str, str]:
        return {"label": self.labels[task]} if self.labels.get(task, task) != task else {}

    def _systems(self, key: str, of_entry: str) -> tuple[Entries, list[str]]:
        """Return the entries of systems, with a file for each task, and all these files."""
        folder, systems = self.contents.folder, Entries()
        files: dict[str, None] = {}
        for system, tasks in self._named(key, self.values.get(key)).items():
            of_tasks = self._named(f"{key}.{system}", tasks)
            compared = [task for task in self.labels or of_tasks if task in of_tasks]
            found = {task: self._found(f"{key}.{system}.{task}", of_tasks[task]) for task in compared}
            files |= dict.fromkeys(found.values())
            located = {task: folder.location(file) for task, file in found.items()}
            systems |= {system: {"type": "external", of_entry: located}} if located else {}
        return systems, list(files)

    def _named(self, key: str, value: Any) -> dict[str, Any]:
        """Return a mapping with names that are valid in a configuration. Raises UserError if it is not a mapping."""
        if not isinstance(value, Mapping) or not (value or key == LABELS):
            raise UserError(f"{self.place}: {key}: expected a mapping of at least one name")
        named = {as_name(str(name)): inner for name, inner in value.items()}
        if "" in named or len(named) < len(value):
            raise UserError(
                f"{self.place}: {key}: two names are the same but for signs, or one has no letter; rename it"
            )
        return named

    def _found(self, key: str, place: Any) -> str:
        """Return the file of the folder that a path refers to. Raises UserError if there is none."""
        parts = PurePosixPath(str(place)).parts
        ends = ["/".join(parts[first:]) for first in range(len(parts))]
        if found := next((end for end in ends if end in self.contents.folder.files), None):
            return found
        raise UserError(f"{self.place}: {key}: {self.contents.folder.place} has no file {str(place)!r}")
