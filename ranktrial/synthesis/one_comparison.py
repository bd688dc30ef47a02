"""One comparison, whole: from the scores of both systems to the table of its effects and its record.

Scores are paired by query id; several seeds of a system are averaged query by query first. From the runs of both it is
computed what unjudged documents could change (unjudged.py). A task that a language model judges has scores by the
humans' judgements too (comparing.py). The statistics are those of statistics/comparison.py. Writes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from ranktrial.common.errors import UserError
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.nouns import RETRIEVAL, Nouns, nouns_of
from ranktrial.ir.scores import are_counted
from ranktrial.ir.trec import Qrels
from ranktrial.records.comparison import MetaRecord
from ranktrial.statistics.measure_scale import measure_scale, reach_of
from ranktrial.statistics.method import ESTIMATED
from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.sensitivity import sensitivity
from ranktrial.statistics.task_results import task_warnings
from ranktrial.synthesis.comparing import (
    DependenceData,
    Pair,
    compared,
    mixed_estimands,
    notes,
    unknown_seeds,
    with_judges,
)
from ranktrial.synthesis.comparison_results import (
    Judged,
    dependence_record,
    equivalence_record,
    meta_record,
    rows,
    sensitivity_record,
)
from ranktrial.synthesis.metrics_files import Scores
from ranktrial.synthesis.unjudged import Readers, unjudged_record

Pairs = dict[str, Pair]  # control and treatment by task, on the same queries in one order


class Results(NamedTuple):
    """The table of effects, one row per task, and the record; `lacking` are those of its warnings that name queries
    which a system lacks.
    """

    effects: pd.DataFrame
    meta: MetaRecord
    lacking: list[str]


def compare(
    pairs: Pairs,
    settings: Settings,
    dependence: DependenceData,
    qrels: Mapping[str, Qrels],
    runs: Readers,
    unpaired: Sequence[str] = (),
    seeds: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Results:
    """Compare treatment with control over the tasks of one comparison.

    `qrels` are by task, `runs` by task and system; without them, nothing is said of unjudged documents. `unpaired` says
    which queries were left out, `seeds` names those of each system on each task. Raises UserError if two tasks are one
    under two names.
    """
    settings = replace(settings, reach=largest_reach(pairs, settings))
    pairs, models = with_judges(pairs, settings.judged, settings.seed)
    warnings = warnings_before(pairs, settings)
    for name, by_task in (seeds or {}).items():
        warnings += mixed_estimands(name, by_task)
    found = compared(pairs, settings, dependence, models)
    nouns = nouns_of(settings.measure, settings.of_tasks)
    warnings += [*found.cluster_warnings, *unknown_seeds(settings), *task_warnings(found.tasks, nouns.queries)]
    warnings += notes(found.tasks, settings.judged)
    scale = measure_scale(scores.values.to_numpy() for pair in pairs.values() for scores in pair)
    all_tasks = sensitivity(found.tasks, settings, found.corpora, list(found.seed_effects.values()))
    unjudged = unjudged_record(pairs, runs, qrels, settings, dependence)
    lacking = [*unpaired, *unjudged.absent]
    record = meta_record(
        found.synthesis,
        settings,
        scale,
        **dependence_record(found, settings),
        warnings=[*lacking, *unjudged.short, *warnings, *(in_words(one, nouns) for one in found.synthesis.warnings)],
        sensitivity=sensitivity_record(all_tasks) if all_tasks else None,
        unjudged=unjudged.record,
        equivalence=equivalence_record(found, settings),
    )
    judged = {task: Judged(*(scores.mean_judged for scores in pair)) for task, pair in pairs.items()}
    return Results(rows(found.tasks, found.synthesis.weights, judged), record, lacking)


def in_words(warning: str, nouns: Nouns) -> str:
    """A warning of the synthesis, in which the reason why a task is left out has no names."""
    task, left_out, reason = warning.partition(": left out, ")
    return f"{task}{left_out}{nouns.say(reason)}"


def has_effect(control: Scores, treatment: Scores, settings: Settings) -> bool:
    """Whether the values of a task have an effect; without one, as where every query has the same value, it is left
    out."""
    x, y = (scores.values.to_numpy().mean(axis=1) for scores in (treatment, control))
    return effect_size(x, y, settings.effect, settings.ddof, settings.effect_keys).undefined is None


def shared(pairs: Pairs, corpora: Mapping[str, str], nouns: Nouns = RETRIEVAL) -> list[str]:
    """The tasks that seem to have the same queries, as text, and whose covariance is not estimated since no common
    corpus is known of them (`corpora` by task); `pairs` are control and treatment by task, of tasks with an effect.

    Raises UserError if two tasks have the same queries and values: one task under two names, counted twice.
    """
    alike: dict[frozenset[str], list[str]] = {}
    for task, (control, _) in pairs.items():
        alike.setdefault(frozenset(control.values.index), []).append(task)
    for task, second in (pair for tasks in alike.values() for pair in itertools.combinations(tasks, 2)):
        if all(same_values(a.values, b.values) for a, b in zip(pairs[task], pairs[second], strict=True)):
            raise UserError(
                f"tasks {task} and {second} have the same {nouns.queries} with the same values of control and of "
                "treatment: one task under two names would count twice; leave one of them out of the comparison"
            )
    why = f"if these are other texts of the same {nouns.queries}, the tasks are not independent, as is assumed here"
    groups = [
        tasks
        for ids, tasks in alike.items()
        if len(tasks) > 1
        and not are_counted(ids)
        and len({corpora.get(task, f"of {task} alone") for task in tasks}) > 1
    ]
    return [f"{', '.join(tasks)} have the same {nouns.query} ids: {why}" for tasks in groups]


def same_values(table: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether two tables of the same queries hold the same values for each."""
    return table.shape == second.shape and bool((table.to_numpy() == second.loc[table.index].to_numpy()).all())


def warnings_before(pairs: Pairs, settings: Settings) -> list[str]:
    """What the scores show before anything is computed, as text."""
    counted = {task: pair for task, pair in pairs.items() if has_effect(*pair, settings)}
    nouns = nouns_of(settings.measure, settings.of_tasks)
    return shared(counted, settings.corpora if settings.dependence == ESTIMATED else {}, nouns)


def largest_reach(pairs: Pairs, settings: Settings) -> float | None:
    """The largest difference that the measures of all tasks allow; None if it is unknown of one."""
    if settings.reach is not None:
        return settings.reach
    found = [
        reach_of(settings.measure_on.get(task, settings.measure), [scores.values.to_numpy() for scores in pair])
        for task, pair in pairs.items()
    ]
    return None if None in found else max(filter(None, found), default=None)
