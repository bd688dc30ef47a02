"""Bubble plots: the effects of a comparison over one of its moderators."""

from __future__ import annotations

from ranktrial.configuration.checker import Checker
from ranktrial.experiment import job_files
from ranktrial.experiment.exhibits import Exhibit
from ranktrial.experiment.labels import labels_of
from ranktrial.experiment.records import Experiment

NAME = "bubble"
PREFIX, DESCRIPTION = "bubble-", "bubble plots"
CATEGORY = "Moderators"
CAPTION = "The effects of tasks against a moderator, with the fitted mean effect and its interval."


def names(experiment: Experiment) -> dict[str, tuple[str, str]]:
    """Bubble plot -> its comparison and moderator."""
    return {name: (compared, moderator) for name, compared, moderator in _plots(experiment)}


def _plots(experiment: Experiment) -> list[tuple[str, str, str]]:
    return [
        (f"{PREFIX}{name}-{moderator.name}", name, moderator.name)
        for name, comparison in experiment.comparisons.items()
        for moderator in comparison.moderators
    ]


def check(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if two bubble plots would have the same name."""
    first: dict[str, str] = {}
    for figure, name, _ in _plots(experiment):
        if first.setdefault(figure, name) != name:
            problem = f"a figure of it would have the name of one of {first[figure]}: {figure!r}; rename one"
            raise check.fail(f"comparisons.{name}.moderators", problem)


def exhibit(experiment: Experiment, name: str) -> Exhibit:
    """The effects of a comparison and the record of its moderators."""
    compared, moderator = names(experiment)[name]
    inputs = {what: job_files.of_comparisons(experiment, what, [compared]) for what in ("effects", "moderators")}
    comparison = experiment.comparisons[compared]
    settings = {
        "moderator": moderator,
        "measure": comparison.statistics.measure,
        "labels": labels_of(experiment, comparison.tasks),
        **({"font": comparison.figure.font} if comparison.figure.font else {}),
    }
    return Exhibit(inputs, settings, (compared,))
