"""Resolves the matrices of an experiment: the system of each cell of the table of sources and targets.

A cell follows from the trainings behind a system on a target (ranktrial.experiment.training_stages), not from its name.
"""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.named import Named
from ranktrial.experiment.records import System, Task
from ranktrial.experiment.results_paths import TABLE_FORMATS, parse, path
from ranktrial.experiment.training_stages import ALL, BM25, HUMAN, PSEUDO_LABELS, Chain, Stage, called
from ranktrial.experiment.transfer_checks import Study
from ranktrial.experiment.transfer_records import FULL, ZERO, Matrix, MatrixCell

SOURCE, BASELINE = "source", "baseline"
FEWEST = 2  # targets


def matrix(named: Named, name: str) -> Matrix:
    """Resolve the matrix `name`.

    Raises UserError for an unknown name, a system without training, two systems in one cell, fewer than two targets, a
    measure that a task lacks, and the name of another table.
    """
    check, key = named.check, f"matrices.{name}"
    files = [path("matrix", experiment="x", matrix=name, table_format=one) for one in TABLE_FORMATS]
    check_table_name(check, key, "matrix", files)
    entry = check.config.matrices[name]
    study = Study(named, key, entry)
    baseline, found = study.baseline(), _Cells(study)
    for task in study.tasks():
        found.trained(task)
    targets = [task for task in study.tasks() if task.name in {cell.target for cell in found.cells.values()}]
    if len(targets) < FEWEST:
        those = f"has {targets[0].name!r} alone" if targets else "has none"
        problem = f"{those} of the targets that its systems are trained for or transferred to; expected at least two"
        raise check.fail(key, problem)
    study.ranking(baseline, targets, "baseline")
    for task in targets:
        found.add(baseline.name, BASELINE, task, ZERO, baseline, "baseline")
    labels = study.dataset_labels()
    rows = {row: called(stages, labels=labels) for row, stages in found.sources.items()}
    rows[baseline.name] = baseline.label
    if any(cell.kind == PSEUDO_LABELS for cell in found.cells.values()):
        rows[PSEUDO_LABELS] = "pseudo-labelling"
    place = {row: number for number, row in enumerate(rows)}
    return Matrix(
        name,
        tuple(sorted(found.cells.values(), key=lambda cell: place[cell.row])),
        {row: label for row, label in rows.items() if any(cell.row == row for cell in found.cells.values())},
        tuple(task.name for task in targets),
        study.measure(targets),
        entry.alpha,
        entry.title,
    )


def check_table_name(check: Checker, key: str, place: str, files: Iterable[str]) -> None:
    """Raise UserError if one of the files has a path that belongs to another place than `place` in the table."""
    for file in files:
        if parse(file)[0] != place:
            raise check.fail(key, f"{file.removeprefix('results/x/')} is the name of another table; rename it")


class _Cells:
    """The cells found so far, task by task; `sources` maps each row to the trainings of the source's model."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.cells: dict[tuple[str, str, str], MatrixCell] = {}
        self.sources: dict[str, Chain] = {}
        for system in study.systems("zero_shot"):
            ranked = [task for task in study.named.all_tasks.values() if system.ranks(task.name)]
            chains = dict.fromkeys(study.chain(system, task) for task in ranked)
            if () in chains:
                problem = f"{system.name} has no recipe: what is transferred is a model trained on a source"
                raise study.check.fail(f"{study.key}.zero_shot", problem)
            self.sources |= {called(stages): stages for stages in chains}

    def trained(self, task: Task) -> None:
        """Add the cells of the trained systems that rank a task."""
        study, target = self.study, Stage(task.dataset, HUMAN, ALL)
        pseudo = None
        for system in self._ranking("pseudo_labels", task):
            stages = study.chain(system, task)
            if not stages or stages[-1].datasets != (task.dataset,) or stages[-1].labels != BM25:
                problem = f"{system.name} is not trained on pseudo-labels of {task.dataset} when it ranks {task.name!r}"
                raise study.check.fail(f"{study.key}.pseudo_labels", problem)
            pseudo = stages
            self.add(PSEUDO_LABELS, PSEUDO_LABELS, task, ZERO, system, "pseudo_labels")
        on_itself = []
        for system in self._ranking("zero_shot", task):
            stages = study.chain(system, task)
            if task.dataset not in study.taught(system, task):
                self.add(called(stages), SOURCE, task, ZERO, system, "zero_shot")
            elif stages == (target,):
                on_itself.append(system)
        for system in self._ranking("full_shot", task):
            stages = study.chain(system, task)
            if not stages or stages[-1] != target:
                continue
            if stages == (target,):
                self.sources.setdefault(called(stages), stages)
                self.add(called(stages), SOURCE, task, FULL, system, "full_shot")
            elif stages[:-1] == pseudo:
                self.add(PSEUDO_LABELS, PSEUDO_LABELS, task, FULL, system, "full_shot")
            elif called(stages[:-1]) in self.sources:
                self.add(called(stages[:-1]), SOURCE, task, FULL, system, "full_shot")
        if on_itself and (called((target,)), task.name, FULL) not in self.cells:
            self.add(called((target,)), SOURCE, task, FULL, on_itself[0], "zero_shot")

    def add(self, row: str, kind: str, task: Task, shot: str, system: System, role: str) -> None:
        """Add a cell. Raises UserError if it is taken."""
        other = self.cells.get((row, task.name, shot))
        if other:
            problem = f"{other.system} and {system.name} would be the same cell: {row} on task {task.name!r}; name one"
            raise self.study.check.fail(f"{self.study.key}.{role}", problem)
        self.cells[row, task.name, shot] = MatrixCell(row, kind, task.name, shot, system.name)

    def _ranking(self, role: str, task: Task) -> list[System]:
        return [system for system in self.study.systems(role) if system.ranks(task.name)]
