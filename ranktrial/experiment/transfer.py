"""Resolves matrices (the system of each source and target) and curves (the system of each number of training queries).

A cell follows from the trainings behind a system on a target (ranktrial.experiment.trainings), not from its name. So
does a point of a curve: the last training uses a number of queries of the target's dataset, and the earlier ones are
the starting point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ranktrial.common.keys import NameOrNames
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import StudyEntry
from ranktrial.configuration.sections.recipe import ALL
from ranktrial.experiment.comparisons import common_measure
from ranktrial.experiment.recipe_checks import learnt_from
from ranktrial.experiment.records import UNTRAINED, System, Task
from ranktrial.experiment.results_paths import TABLE_FORMATS, parse, path
from ranktrial.experiment.synthesis_records import FULL, ZERO, CurvePoint, Curves, Matrix, MatrixCell
from ranktrial.experiment.tasks import Named
from ranktrial.experiment.trainings import (
    BM25,
    HUMAN,
    PSEUDO_LABELS,
    SCRATCH,
    Chain,
    Stage,
    called,
    chain,
    way_of_ranking,
)
from ranktrial.ir.measure_names import same_measure


@dataclass(frozen=True)
class Study:
    """One entry of `matrices` or `curves`, with its key and the systems and tasks that it may name."""

    named: Named
    key: str
    entry: StudyEntry

    @property
    def check(self) -> Checker:
        """The checker of the configuration."""
        return self.named.check

    def systems(self, role: str) -> list[System]:
        """Return the systems that a key names, by their own names or those of fanned-out entries."""
        given: NameOrNames | None = getattr(self.entry, role, None)
        return self.named.systems(f"{self.key}.{role}", (given,) if isinstance(given, str) else given or ())

    def baseline(self) -> System:
        """Return the system that is the baseline."""
        return self.named.system(f"{self.key}.baseline", self.entry.baseline)

    def tasks(self) -> list[Task]:
        """Return the named tasks, by default all."""
        return self.named.tasks(f"{self.key}.tasks", self.entry.tasks)

    def measure(self, tasks: list[Task]) -> str:
        """Return the experiment's name of the measure. Raises UserError if a task lacks it, or lower is better."""
        name = common_measure(self.check, f"{self.key}.measure", self.entry.measure, tasks)
        lower = self.check.config.lower_is_better
        if name in lower or any(same_measure(one, [name]) for one in lower):
            raise self.check.fail(
                f"{self.key}.measure",
                f"a lower value of {name} is better; expected a measure of which a higher value is better",
            )
        return name

    def chain(self, system: System, task: Task) -> Chain:
        """Return the trainings behind a system's checkpoint for a task."""
        return chain(self.check.config.recipes, system.recipe_on(task.ranked_dataset))

    def taught(self, system: System, task: Task) -> set[str]:
        """Return the training datasets behind a system's checkpoint for a task, including those of teachers."""
        recipe = system.recipe_on(task.ranked_dataset)
        behind = learnt_from(self.check.config.recipes, self.named.all_systems, recipe)
        return {dataset for dataset, split in behind if split == "train"}

    def ranking(self, system: System, tasks: list[Task], role: str) -> None:
        """Raise UserError unless the system has a run for each of the tasks."""
        for task in tasks:
            if not system.ranks(task.name):
                problem = f"{system.name} has no run for task {task.name!r}; list other tasks"
                raise self.check.fail(f"{self.key}.{role}", problem)

    def dataset_labels(self) -> dict[str, str]:
        """Return dataset -> label: that of its task, for datasets with exactly one task."""
        tasks_of: dict[str, list[Task]] = {}
        for task in self.named.all_tasks.values():
            tasks_of.setdefault(task.dataset, []).append(task)
        return {dataset: tasks[0].label for dataset, tasks in tasks_of.items() if len(tasks) == 1}


SOURCE, BASELINE = "source", "baseline"
FEWEST = 2  # targets


def matrix(named: Named, name: str) -> Matrix:
    """Resolve the matrix `name`.

    Raises UserError for an unknown name, a system without training, two systems in one cell, fewer than two targets,
    a `full_shot` without a cell, a measure that a task lacks, and the name of another table.
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
    full_shot = {system.name for system in study.systems("full_shot")}
    if full_shot and full_shot.isdisjoint(cell.system for cell in found.cells.values()):
        raise check.fail(f"{key}.full_shot", "none of these is trained on all queries of a target; leave it out")
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


LEAST_SIZES = 2


def curves(named: Named, name: str) -> Curves:
    """Resolve the curves `name`.

    Raises UserError for an unknown name, fewer than two sizes, two systems for one point, a baseline without a run, a
    measure that a task lacks, and the name of another table.
    """
    check, key = named.check, f"curves.{name}"
    check_table_name(check, key, "curves_table", [path("curves_table", experiment="x", curve=name)])
    entry = check.config.curves[name]
    study = Study(named, key, entry)
    points, starts = _points(study)
    drawn = [task for task in study.tasks() if task.name in {point.target for point in points.values()}]
    sizes = {(point.target, point.queries) for point in points.values() if point.queries != 0}
    if not any(sum(target == task.name for target, _ in sizes) >= LEAST_SIZES for task in drawn):
        problem = "no target has systems trained on its own dataset with at least two numbers of queries"
        raise check.fail(f"{key}.systems", problem)
    baseline = study.baseline()
    study.ranking(baseline, drawn, "baseline")
    order = {task.name: place for place, task in enumerate(drawn)}
    return Curves(
        name,
        tuple(sorted(points.values(), key=lambda point: order[point.target])),
        {start: starts[start][1] for start in sorted(starts, key=lambda start: _place(check, start, starts[start][0]))},
        tuple(order),
        baseline.name,
        study.measure(drawn),
        entry.alpha,
        entry.interval,
        entry.title,
    )


Points = dict[tuple[str, str, int | str], CurvePoint]  # by target, starting point and number of queries


def _points(study: Study) -> tuple[Points, dict[str, tuple[Chain, str]]]:
    """Return all points, and the starting points, each with its trainings and its label."""
    points: Points = {}
    starts: dict[str, tuple[Chain, str]] = {}
    for task in study.tasks():
        for system in study.systems("systems"):
            if not system.ranks(task.name):
                continue
            stages = study.chain(system, task)
            if not stages or (stages[-1].datasets, stages[-1].labels) != ((task.dataset,), HUMAN):
                continue
            before = stages[:-1]
            start = called(before, task.dataset)
            label = called(before, task.dataset, study.dataset_labels()) if before else "from scratch"
            starts[start] = before, label
            _add(study, points, CurvePoint(task.name, start, stages[-1].queries, system.name))
            if zero := _starting_point(study, system, task):
                points.setdefault((task.name, start, 0), CurvePoint(task.name, start, 0, zero.name))
    return points, starts


def _place(check: Checker, start: str, stages: Chain) -> tuple[int, ...]:
    """Return the sort key of a curve: from scratch, from pseudo-labels, then by the configuration's datasets."""
    datasets = list(check.config.datasets)
    first = (SCRATCH, PSEUDO_LABELS).index(start) if start in (SCRATCH, PSEUDO_LABELS) else 2
    return first, *(datasets.index(one) for stage in stages if first == 2 for one in stage.datasets)


def _add(study: Study, points: Points, point: CurvePoint) -> None:
    other = points.setdefault((point.target, point.start, point.queries), point)
    if other != point:
        what = f"{point.queries} queries on task {point.target!r}, starting point {point.start}"
        raise study.check.fail(f"{study.key}.systems", f"{other.system} and {point.system} are both {what}; name one")


def _starting_point(study: Study, system: System, task: Task) -> System | None:
    """Return the system that ranks a task like the given one, with the checkpoint from which its training starts."""
    start = study.check.config.recipes[system.recipe_on(task.ranked_dataset)].start_from or UNTRAINED
    ranking = [other for other in study.named.all_systems.values() if other.ranks(task.name)]
    alike = [other for other in ranking if way_of_ranking(other) == way_of_ranking(system)]
    return next((other for other in alike if other.recipe_on(task.ranked_dataset) == start), None)
