"""moderators/{comparison}.json: models that explain the differences between the tasks of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from ranktrial.statistics.meta_regression.moderation import Model, Subgroups


@dataclass(frozen=True)
class ModerationRecord:
    """The models of a comparison's effects; `values` by task and moderator, `labels` by moderator.

    `depends_on` is a text: the dependence between effects that the models include.
    """

    effect_type: str
    estimator: str
    interval: str
    alpha: float
    depends_on: list[str]
    labels: dict[str, str]
    values: dict[str, dict[str, float | str]]
    models: tuple[Model, ...]
    subgroups: Subgroups | None = None
