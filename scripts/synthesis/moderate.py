"""Fit the moderators and subgroups of one comparison.

Reads effects/{comparison}.tsv, meta/{comparison}.json (the dependence between effects) and, if a moderator needs them,
data/{dataset}/statistics.json and qrels of the tasks.
Writes moderators/{comparison}.json: the value of each task, and the models (see moderation.py, docs/formulas.md).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.projection import filled
from ranktrial.common.settings import read_record, write_record
from ranktrial.common.tables import EFFECTS, read_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.trec import Qrels, read_qrels
from ranktrial.records.comparison import EffectsRow, MetaRecord, ModerationRecord, from_record, rows_of
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.design_matrix import Value
from ranktrial.statistics.effects import combined, reported_within
from ranktrial.statistics.method import Method
from ranktrial.statistics.moderation import Effects, Subgroups, models, subgroups
from ranktrial.synthesis.moderators import MODERATORS, TaskFacts

MOST_PERMUTATIONS = 10_000  # each is a model with its own tau2


@dataclass(frozen=True)
class Origin:
    """The dataset and split of a task."""

    dataset: str
    split: str
    trained: Annotated[bool, "the treatment learnt from its dataset"] = False


@dataclass(frozen=True)
class Moderator:
    """A moderator: a known one by its name, or with the user's values by task."""

    name: str
    label: str
    values: dict[str, float | str] | None = None


@dataclass(frozen=True, kw_only=True)
class Settings(Method):
    """The models of one comparison's effects, and their methods."""

    tasks: Annotated[dict[str, Origin], "the tasks, by their names in paths"]
    moderators: Annotated[list[Moderator], "names in ranktrial/synthesis/moderators.py, or values"] = field(
        default_factory=list
    )
    subgroups: Annotated[Moderator | None, "whose words group the tasks"] = None


def facts_of(
    rows: dict[str, EffectsRow], settings: Settings, statistics: list[Path], qrels: list[Path]
) -> dict[str, TaskFacts]:
    """The facts of each task, in the order of `rows`, those of the effects file by task."""
    counts = {fields_of("statistics", path)["dataset"]: json.loads(path.read_text()) for path in statistics}
    judged: dict[tuple[str, str], Qrels] = {}
    for path in qrels:
        found = fields_of("qrels", path)
        judged[found["dataset"], found["split"]] = read_qrels(path)
    facts = {}
    for task, row in rows.items():
        origin = settings.tasks[task]
        collection = counts.get(origin.dataset, {})
        split = collection.get("splits", {}).get(origin.split, {})
        relevant = judged.get((origin.dataset, origin.split), {})
        facts[task] = TaskFacts(collection, split, relevant, row, origin.trained)
    return facts


def values_of(moderator: Moderator, facts: dict[str, TaskFacts]) -> dict[str, Value]:
    """The value of each task."""
    if moderator.values is not None:
        return {task: moderator.values[task] for task in facts}
    known = MODERATORS[moderator.name]
    return {task: known.value(of_task) for task, of_task in facts.items()}


def read_effects(path: Path) -> dict[str, EffectsRow]:
    """The rows of an effects file by task; empty cells are None."""
    return {row.task: row for row in rows_of(EffectsRow, read_table(path, *EFFECTS))}


def effects_of(
    rows: dict[str, EffectsRow], effect_type: str, dependence: Dependence | None = None, reach: float | None = None
) -> Effects:
    """The tasks with an effect, on the scale of the synthesis, with their `dependence`; `reach` is that of the measure.

    Raises UserError for an effect without such a scale.
    """
    defined = {task: row for task, row in rows.items() if row.effect is not None}
    try:
        estimates = [combined(effect_type, row.effect) for row in defined.values() if row.effect is not None]
    except ValueError as error:
        raise UserError(str(error)) from None
    variances = np.array([row.variance for row in defined.values()], dtype=float)
    reported = reported_within(effect_type, reach)
    return Effects(tuple(defined), np.array(estimates, dtype=float), variances, reported, dependence)


def record(
    rows: dict[str, EffectsRow],
    facts: dict[str, TaskFacts],
    settings: Settings,
    dependence: Dependence | None = None,
    reach: float | None = None,
) -> ModerationRecord:
    """The content of moderators/{comparison}.json."""
    effects = effects_of(rows, settings.effect, dependence, reach)
    method = replace(settings, permutations=min(settings.permutations, MOST_PERMUTATIONS))
    values = {moderator.name: values_of(moderator, facts) for moderator in settings.moderators}
    labels = {moderator.name: moderator.label for moderator in settings.moderators}
    by_label = {labels[name]: [of_task[task] for task in effects.tasks] for name, of_task in values.items()}
    return filled(
        ModerationRecord,
        settings,
        effect_type=settings.effect,
        depends_on=includes(dependence),
        labels=labels,
        values={task: {name: of_task[task] for name, of_task in values.items()} for task in rows},
        models=tuple(models(effects, by_label, method)),
        subgroups=grouped(effects, settings.subgroups, facts, method) if settings.subgroups else None,
    )


def grouped(effects: Effects, by: Moderator, facts: dict[str, TaskFacts], method: Method) -> Subgroups:
    """The tasks grouped by a categorical moderator."""
    groups = {task: str(value) for task, value in values_of(by, facts).items()}
    return subgroups(effects, by.label, groups, method)


def includes(dependence: Dependence | None) -> list[str]:
    """The dependence between effects that the models include, as text."""
    included = {
        "the covariance of tasks with a corpus in common": dependence is not None and not dependence.independent,
        "the variance between training seeds": dependence is not None and bool(dependence.seed_effects),
    }
    return [words for words, is_included in included.items() if is_included]


def moderate(
    effects: Path, meta: Path, statistics: list[Path], qrels: list[Path], moderators: Path, settings: Settings,
) -> None:  # fmt: skip
    """Fit the moderators and subgroups of one comparison."""
    rows = read_effects(effects)
    facts = facts_of(rows, settings, statistics, qrels)
    compared = read_record(MetaRecord, meta)
    found = record(rows, facts, settings, from_record(compared.dependence), compared.reach)
    for model in [*found.models, *([found.subgroups.model] if found.subgroups else [])]:
        if model.problem:
            print(f"{effects.stem}: {model.problem}", file=sys.stderr)
    write_record(moderators, found, ensure_ascii=False)


if __name__ == "__main__":
    job(moderate)
