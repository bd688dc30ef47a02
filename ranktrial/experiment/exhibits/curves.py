"""Curves: a measure over the number of training queries; one figure per target, and one of all of them."""

from __future__ import annotations

from collections.abc import Iterator

from ranktrial.common.keys import JsonObject
from ranktrial.configuration.checker import Checker
from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path

NAME = "curves"
PREFIX, DESCRIPTION = "curves-", "curves over training queries"
CATEGORY = "Curves"
CAPTION = (
    "A measure against the number of training queries, one curve per starting point: means over samples, their range, "
    "and the baseline."
)
TOGETHER = "all"


def names(experiment: Experiment) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Figure -> the curves it shows and their targets."""
    return dict(_drawn(experiment))


def _drawn(experiment: Experiment) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """Yield figure name, curves and targets: one figure per target, and one of all targets if there are several.

    If the configuration has several entries, the figure names contain those of the entries.
    """
    for name, one in experiment.curves.items():
        beginning = PREFIX if len(experiment.curves) == 1 else f"{PREFIX}{name}-"
        for target in one.targets:
            yield beginning + experiment.tasks[target].folder, (name, (target,))
        if len(one.targets) > 1:
            yield beginning + TOGETHER, (name, one.targets)


def check(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if two figures would have the same name."""
    seen: set[str] = set()
    for figure, (name, _) in _drawn(experiment):
        if figure in seen:
            raise check.fail(f"curves.{name}", f"two figures of curves would be called {figure!r}; rename one")
        seen.add(figure)


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The record of curves, and the targets that the figure shows."""
    curves, targets = names(experiment)[name]
    settings = {"names": labels(experiment, curves), "shown": [experiment.tasks[task].folder for task in targets]}
    return Exhibit({"record": [path("curves", experiment=experiment.name, curve=curves)]}, settings)


def labels(experiment: Experiment, name: str) -> JsonObject:
    """The labels in curves, and the type of their bars."""
    curves = experiment.curves[name]
    targets = [experiment.tasks[target] for target in curves.targets]
    return {
        "target_labels": [[task.folder, task.label] for task in targets],
        "start_labels": list(map(list, curves.starts.items())),
        "baseline": experiment.systems[curves.baseline].label,
        **({"title": curves.title} if curves.title else {}),
        **({"interval": curves.interval} if curves.interval != "range" else {}),
    }
