"""Compare treatment with control over the tasks of one comparison.

Reads the metrics files of both systems (metrics/{task}/{system}/seed-{seed}.tsv). Writes effects/{comparison}.tsv,
one row per task, and meta/{comparison}.json, the summary effect and its heterogeneity; both at full double precision.
Values are paired by query id; several seeds of a system are averaged query by query first. From the runs of both it
computes what unjudged documents could change (unjudged.py).
The treatment's values may be those of another task with the same queries (treatment_on). A task that a language model
judges has the metrics files of the humans' judgements too (judged_tasks.py). The statistics are those of
statistics/comparison.py.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.settings import write_record
from ranktrial.common.tables import write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.scores import are_counted, check_scales
from ranktrial.ir.trec import Qrels, read_qrels
from ranktrial.ir.trec import relevant as relevant_documents
from ranktrial.statistics.measure_scale import measure_scale, reach_of
from ranktrial.statistics.method import ESTIMATED
from ranktrial.statistics.observed_tasks import effect_size
from ranktrial.statistics.sensitivity import sensitivity
from ranktrial.statistics.task_results import task_warnings
from ranktrial.synthesis.comparing import (
    DependenceData,
    compared,
    mixed_estimands,
    notes,
    read_clusters,
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
from ranktrial.synthesis.metrics_files import Scores, by_task, paired, read_scores, seeds_by_task
from ranktrial.synthesis.unjudged import unjudged_record

Pairs = dict[str, tuple[Scores, Scores]]  # control and treatment by task


def read_pairs(control: Sequence[Path], treatment: Sequence[Path], settings: Settings) -> tuple[Pairs, list[str]]:
    """The scores of both systems by task, on the queries that both have; and which queries are left out, as text."""
    of_control, of_treatment = (by_task(list(files)) for files in (control, treatment))
    pairs, said = {}, []
    for task, paths in of_control.items():
        measure = settings.measure_on.get(task, settings.measure)
        other = read_scores(of_treatment[settings.treatment_on.get(task, task)], measure)
        own = read_scores(paths, measure)
        both = {settings.control: own, settings.treatment: other}
        check_scales({name: one.values.to_numpy().ravel().tolist() for name, one in both.items()}, task, measure)
        on_control, on_treatment, unpaired = paired(own, other, task)
        pairs[task] = on_control, on_treatment
        said += [unpaired] if unpaired else []
    return pairs, said


def dependence_data(settings: Settings, qrels: Mapping[str, Qrels], siblings: Sequence[Path]) -> DependenceData:
    """What the comparison's tasks share beyond their values, from the files that the settings name and of siblings."""
    by_system: dict[str, list[Path]] = {}
    for path in siblings:
        by_system.setdefault(fields_of("metrics", path)["system"], []).append(path)
    return DependenceData(
        {task: {query: relevant_documents(of_task, query) for query in of_task} for task, of_task in qrels.items()},
        {task: read_clusters(Path(path)) for task, path in settings.cluster_files.items()},
        {
            system: {
                task: read_scores(files, settings.measure_on.get(task, settings.measure)).values.to_numpy()
                for task, files in by_task(paths).items()
            }
            for system, paths in by_system.items()
        },
    )


def has_effect(control: Scores, treatment: Scores, settings: Settings) -> bool:
    """Whether the values of a task have an effect; without one, as where every query has the same value, it is left
    out."""
    x, y = (scores.values.to_numpy().mean(axis=1) for scores in (treatment, control))
    return effect_size(x, y, settings.effect, settings.ddof, settings.effect_keys).undefined is None


def shared(pairs: dict[str, tuple[Scores, Scores]], corpora: dict[str, str]) -> list[str]:
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
                f"tasks {task} and {second} have the same queries with the same values of control and of treatment: "
                "one task under two names would count twice; leave one of them out of the comparison"
            )
    why = "if these are other texts of the same queries, the tasks are not independent, as is assumed here"
    groups = [
        tasks
        for ids, tasks in alike.items()
        if len(tasks) > 1
        and not are_counted(ids)
        and len({corpora.get(task, f"of {task} alone") for task in tasks}) > 1
    ]
    return [f"{', '.join(tasks)} have the same query ids: {why}" for tasks in groups]


def same_values(table: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether two tables of the same queries hold the same values for each."""
    return table.shape == second.shape and bool((table.to_numpy() == second.loc[table.index].to_numpy()).all())


def warnings_before(pairs: Pairs, settings: Settings) -> list[str]:
    """What the scores show before anything is computed, as text."""
    counted = {task: pair for task, pair in pairs.items() if has_effect(*pair, settings)}
    return shared(counted, settings.corpora if settings.dependence == ESTIMATED else {})


def largest_reach(pairs: Pairs, settings: Settings) -> float | None:
    """The largest difference that the measures of all tasks allow; None if it is unknown of one."""
    if settings.reach is not None:
        return settings.reach
    found = [
        reach_of(settings.measure_on.get(task, settings.measure), [scores.values.to_numpy() for scores in pair])
        for task, pair in pairs.items()
    ]
    return None if None in found else max(filter(None, found), default=None)


def compare(
    control: list[Path], treatment: list[Path], siblings: list[Path], runs: list[Path], effects: Path, meta: Path,
    settings: Settings,
) -> None:  # fmt: skip
    """Compare treatment with control over the tasks of one comparison."""
    pairs, unpaired = read_pairs(control, treatment, settings)
    settings = replace(settings, reach=largest_reach(pairs, settings))
    pairs, models = with_judges(pairs, settings.judged, settings.seed)
    warnings = warnings_before(pairs, settings)
    for name, files in ((settings.control, control), (settings.treatment, treatment)):
        warnings += mixed_estimands(name, seeds_by_task(files))
    qrels = {task: read_qrels(Path(file)) for task, file in (settings.qrels | settings.judgements).items()}
    dependence = dependence_data(settings, qrels, siblings)
    found = compared(pairs, settings, dependence, models)
    units = "tasks" if settings.of_tasks else "queries"
    warnings += [*found.cluster_warnings, *unknown_seeds(settings), *task_warnings(found.tasks, units)]
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
        warnings=[*lacking, *unjudged.short, *warnings, *found.synthesis.warnings],
        sensitivity=sensitivity_record(all_tasks) if all_tasks else None,
        unjudged=unjudged.record,
        equivalence=equivalence_record(found, settings),
    )
    for warning in record.warnings:
        shown = "warning: " if warning in lacking else ""  # in the terminal as well
        print(f"{effects.stem}: {shown}{warning}", file=sys.stderr)
    judged = {task: Judged(*(scores.mean_judged for scores in pair)) for task, pair in pairs.items()}
    write_table(effects, rows(found.tasks, found.synthesis.weights, judged))
    write_record(meta, record)


if __name__ == "__main__":
    job(compare)
