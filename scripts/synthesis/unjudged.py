"""The result of a comparison if its unjudged documents were judged, or removed from the rankings.

Reads runs; writes nothing. Four cases in addition to the comparison itself, in which no unjudged document is relevant:

    lowest       each query has the judgements of holes.py with the lowest difference, treatment minus control
    highest      each query has those with the highest
    all          all unjudged documents that the measure counts are relevant
    condensed    unjudged documents are removed from the rankings before the measure is computed

Each is compared and combined like the comparison itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.experiment.results_paths import fields_of
from scripts.ir.holes import ALL, Case, cut, has_holes, holes, values
from scripts.ir.trec import Qrels, Run, condensed, read_run
from scripts.records.comparison import UnjudgedCase, UnjudgedRecord
from scripts.statistics.effects import effect_named
from scripts.synthesis.comparing import DependenceData, Pairs, compared
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.metrics_files import Scores

LOWEST, HIGHEST, CONDENSED = "lowest", "highest", "condensed"
CASES = (LOWEST, HIGHEST, ALL, CONDENSED)


def unjudged_record(
    pairs: Pairs, runs: Sequence[Path], qrels: Mapping[str, Qrels], settings: Settings, dependence: DependenceData
) -> UnjudgedRecord | None:
    """The means of all cases; None without runs or a difference, and if every document that counts is judged."""
    measures = [settings.measure, *settings.measure_on.values()]
    if not (runs and effect_named(settings.effect).HAS_DIFFERENCE and all(map(has_holes, measures))):
        return None
    numbers: dict[str, float] = {}
    by_case: dict[str, dict[str, tuple[Scores, Scores]]] = {case: {} for case in CASES}
    for task, pair in pairs.items():
        numbers[task], cases = _of_task(task, pair, runs, qrels[task], settings)
        for case, found in cases.items():
            by_case[case][task] = found
    if not any(numbers.values()):
        return None
    means = {case: _means(found, settings, dependence) for case, found in by_case.items()}
    return UnjudgedRecord(numbers, {case: found for case, found in means.items() if found})


def _means(pairs: Pairs, settings: Settings, dependence: DependenceData) -> UnjudgedCase | None:
    """The means of a case; None if no task has an effect. p-values of single tasks are not computed."""
    permutations = settings.permutations if settings.task_interval == "randomisation" else 1
    found = compared(pairs, replace(settings, permutations=permutations, margin=None), dependence)
    if found.on_these is None or found.over_collections is None:
        return None
    return UnjudgedCase(found.on_these, found.over_collections)


def _of_task(
    task: str, pair: tuple[Scores, Scores], runs: Sequence[Path], qrels: Qrels, settings: Settings
) -> tuple[float, dict[str, tuple[Scores, Scores]]]:
    """The mean number of unjudged documents per query, and the scores of both systems in each case."""
    measure = settings.measure_on.get(task, settings.measure)
    ranked_on = settings.runs_on.get(task, task)
    control, condensed_control = _read(_runs_of(runs, ranked_on, settings.control), measure, qrels)
    treatment, condensed_treatment = _read(_runs_of(runs, ranked_on, settings.treatment), measure, qrels)
    found = holes(control, treatment, qrels, measure)
    cases = [as_judged(pair, list(qrels)), *found.cases.values()]
    chosen = {
        LOWEST: chosen_by(cases, np.argmin),
        HIGHEST: chosen_by(cases, np.argmax),
        ALL: found.cases[ALL],
        CONDENSED: Case(condensed_control, condensed_treatment),
    }
    queries = pair[0].values.index
    number = pd.Series(found.number, list(qrels)).loc[queries].mean()
    return float(number), {name: _scores(case, list(qrels), queries) for name, case in chosen.items()}


def _runs_of(runs: Sequence[Path], task: str, system: str) -> list[Path]:
    wanted = {"task": task, "system": system}
    return [path for path in runs if wanted.items() <= fields_of("run", path).items()]


def _read(paths: Sequence[Path], measure: str, qrels: Qrels) -> tuple[list[Run], np.ndarray]:
    """The runs of a system up to the measure's cut-off, and its values for condensed lists; one whole run at a time is
    in memory.
    """
    runs, of_condensed = [], []
    for path in paths:
        run = read_run(path)
        of_condensed.append(values([condensed(run, qrels)], qrels, measure))
        runs.append(cut(run, measure, qrels))
    return runs, np.concatenate(of_condensed, axis=1)


def as_judged(pair: tuple[Scores, Scores], queries: list[str]) -> Case:
    """The measured values; a query of only one system has none."""
    return Case(*(scores.values.reindex(queries).to_numpy() for scores in pair))


def chosen_by(cases: Sequence[Case], choose: Callable[..., np.ndarray]) -> Case:
    """For each query, the case whose difference is chosen."""
    place = choose([case.difference for case in cases], axis=0)
    every = np.arange(len(place))
    return Case(
        np.stack([case.control for case in cases])[place, every],
        np.stack([case.treatment for case in cases])[place, every],
    )


def _scores(case: Case, queries: list[str], paired: pd.Index) -> tuple[Scores, Scores]:
    control, treatment = (
        Scores(pd.DataFrame(values, pd.Index(queries)).loc[paired], None) for values in (case.control, case.treatment)
    )
    return control, treatment
