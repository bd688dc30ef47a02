"""Resolves the curves of an experiment: the system of each point over the number of training queries.

A point follows from the trainings behind a system on a target (ranktrial.experiment.training_stages): the last training
uses a number of queries of the target's dataset, and the earlier ones are the starting point.
"""

from __future__ import annotations

from collections.abc import Iterator

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.comparisons import CURVE_FIGURE
from ranktrial.experiment.matrices import check_table_name
from ranktrial.experiment.named import Named
from ranktrial.experiment.records import UNTRAINED, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.starting_points import way_of_ranking
from ranktrial.experiment.training_stages import HUMAN, PSEUDO_LABELS, SCRATCH, Chain, called
from ranktrial.experiment.transfer_checks import Study
from ranktrial.experiment.transfer_records import CurvePoint, Curves

TOGETHER = "all"  # the figure with all targets
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


def curve_figures(
    all_curves: dict[str, Curves], tasks: dict[str, Task]
) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """Yield figure name, curves and targets: one figure per target, and one of all targets if there are several.

    If the configuration has several entries, the figure names contain those of the entries.
    """
    for name, one in all_curves.items():
        beginning = CURVE_FIGURE if len(all_curves) == 1 else f"{CURVE_FIGURE}{name}-"
        for target in one.targets:
            yield beginning + tasks[target].folder, (name, (target,))
        if len(one.targets) > 1:
            yield beginning + TOGETHER, (name, one.targets)


def check_figures(check: Checker, all_curves: dict[str, Curves], tasks: dict[str, Task]) -> None:
    """Raise UserError if two figures would have the same name."""
    seen: set[str] = set()
    for figure, (name, _) in curve_figures(all_curves, tasks):
        if figure in seen:
            raise check.fail(f"curves.{name}", f"two figures of curves would be called {figure!r}; rename one")
        seen.add(figure)
