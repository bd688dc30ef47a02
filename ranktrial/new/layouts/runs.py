"""External runs with the judgements that score them; each file of judgements is a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.datasets.formats import qrels as qrels_format
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.ir.trec import Qrels, columns
from ranktrial.new.draft import Draft, Entries, counted
from ranktrial.new.folder import as_name, systems_of, task_of_qrels
from ranktrial.new.layouts import Contents

LOOKED_FOR = "runs with their qrels"
LOOKED_AT = 5000  # lines of a run
_DOCUMENT = {6: 2, 4: 1, 3: 1}  # number of columns -> index of the document's column


def draft(contents: Contents) -> Draft | None:
    """Return a draft in which each run belongs to the judgements with which it shares most."""
    if not (contents.of("run") and contents.of("qrels")):
        return None
    folder = contents.folder
    task_of_file = {file: as_name(task_of_qrels(file, folder.name)) or "task" for file in contents.of("qrels")}
    if len(set(task_of_file.values())) < len(task_of_file):
        raise UserError(f"{folder.place}: two files of qrels have one name but for qrels or test; rename one")
    judged = {task: read_judgements(folder.path(file)) for file, task in task_of_file.items()}
    starts = {file: list(islice(_ranked(folder.path(file)), LOOKED_AT)) for file in contents.of("run")}
    task_of = {file: _task(folder.path(file), pairs, judged) for file, pairs in starts.items()}
    datasets: Entries = {
        task: {"format": qrels_format.NAME, "location": folder.location(file), "sha256": sha256(folder.path(file))}
        for file, task in task_of_file.items()
        if task in task_of.values()
    }
    systems: Entries = {}
    for file, name in systems_of(task_of, folder.place).items():
        runs = systems.setdefault(name, {"type": "external", "runs": {}})["runs"]
        runs[task_of[file]] = folder.location(file)
    depths = {file: max(Counter(query for query, _ in pairs).values()) for file, pairs in starts.items()}
    shallowest = min(depths, key=depths.__getitem__)
    return Draft(
        f"{counted(len(task_of), 'run')} of {counted(len(datasets), 'task')} with qrels",
        datasets,
        systems,
        list(datasets),
        used=frozenset(task_of) | {file for file, task in task_of_file.items() if task in datasets},
        depth=depths[shallowest],
        shallowest=shallowest,
    )


def _task(run: Path, pairs: list[tuple[str, str]], judged: dict[str, Qrels]) -> str:
    """Return the task whose judgements share most documents, or else queries, with a run; UserError if none does."""
    shared = {
        task: (
            sum(document in qrels.get(query, {}) for query, document in pairs),
            len({q for q, _ in pairs} & set(qrels)),
        )
        for task, qrels in judged.items()
    }
    best = max(shared, key=shared.__getitem__)
    if shared[best] == (0, 0):
        raise UserError(f"{run}: none of its queries is in the qrels of {', '.join(judged)}")
    return best


def _ranked(run: Path) -> Iterator[tuple[str, str]]:
    """Yield the queries and documents of a run."""
    for number, line in lines(run):
        fields = columns(line, run, number)
        if len(fields) not in _DOCUMENT:
            raise UserError(f"{run}:{number}: {len(fields)} columns; expected those of a run, 6, 4 or 3")
        yield fields[0], fields[_DOCUMENT[len(fields)]]
