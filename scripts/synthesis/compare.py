"""Compare treatment with control over the tasks of one comparison.

Reads the metrics files of both systems (metrics/{task}/{system}/seed-{seed}.tsv). Writes effects/{comparison}.tsv,
one row per task, and meta/{comparison}.json, the summary effect and its heterogeneity; both at full double precision.
Values are paired by query id; several seeds of a system are averaged query by query first.
The treatment's values may be those of another task with the same queries (treatment_on).
"""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_text
from scripts.common.tables import read_metrics
from scripts.experiment.results_paths import fields_of
from scripts.ir.scores import LINE, check_pairs
from scripts.ir.trec import read_qrels
from scripts.ir.trec import relevant as relevant_documents
from scripts.synthesis.bayes import bayesian_summary
from scripts.synthesis.cluster_file import read_clusters
from scripts.synthesis.comparing import ESTIMATED, DependenceData, compared, mixed_estimands
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.dependence_record import dependence_record
from scripts.synthesis.effect_sizes import effect_size
from scripts.synthesis.effects import effect_named
from scripts.synthesis.measure_scale import measure_scale, within_range
from scripts.synthesis.meta_analysis import MetaAnalysis
from scripts.synthesis.sensitivity import sensitivity
from scripts.synthesis.summaries import Summary
from scripts.synthesis.synthesise import Synthesis
from scripts.synthesis.tails import normal_upper, t_upper
from scripts.synthesis.task_intervals import kind_for
from scripts.synthesis.task_results import Scores, rows, task_warnings

KEPT_SETTINGS = ("control", "treatment", "measure", "ddof", "hedges", "permutations", "prediction", "small_tasks")


def read_scores(paths: list[Path], measure: str) -> Scores:
    """Read a system's metrics files on one task, one per seed. Raises UserError where seeds cover different queries."""
    tables = [read_metrics(path) for path in paths]
    values = pd.concat([table[measure] for table in tables], axis=1, keys=range(len(tables)))
    if values.isna().any(axis=None):
        raise UserError(f"{paths[0].parent}: its seeds cover different queries")
    judged = [name for name in tables[0] if name.startswith("Judged@")]
    return Scores(values, sum(table[judged[0]] for table in tables) / len(tables) if judged else None)


def by_task(paths: list[Path]) -> dict[str, list[Path]]:
    """Metrics files by their task's folder, in the order in which tasks first come."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(fields_of("metrics", path)["task"], []).append(path)
    return groups


def seeds_by_task(paths: list[Path]) -> dict[str, list[str]]:
    """The seeds of a system's metrics files by task."""
    return {task: [fields_of("metrics", path)["seed"] for path in files] for task, files in by_task(paths).items()}


def paired(control: Scores, treatment: Scores, task: str) -> tuple[Scores, Scores, str | None]:
    """Control and treatment on the queries of both, in one order; and what is unpaired, as text.

    Raises UserError where they have no query in common, or have no ids and different numbers of samples.
    """
    check_pairs(list(control.values.index), list(treatment.values.index), task)
    common = control.values.index.intersection(treatment.values.index, sort=False)
    if common.empty:
        raise UserError(f"task {task}: control and treatment have no query in common")
    unmatched = len(control.values) + len(treatment.values) - 2 * len(common)
    unpaired = f"{task}: {unmatched} queries stand in one system only and are left out" if unmatched else None
    return on(control, common), on(treatment, common), unpaired


def on(scores: Scores, queries: pd.Index) -> Scores:
    """A system's scores on these queries alone."""
    return Scores(scores.values.loc[queries], None if scores.judged is None else scores.judged.loc[queries])


def dependence_data(settings: Settings, siblings: list[Path]) -> DependenceData:
    """What the comparison's tasks share beyond their values, from the files that the settings name and of siblings."""
    by_system: dict[str, list[Path]] = {}
    for path in siblings:
        by_system.setdefault(fields_of("metrics", path)["system"], []).append(path)
    relevant = {}
    for task, file in settings.qrels.items():
        qrels = read_qrels(Path(file))
        relevant[task] = {query: relevant_documents(qrels, query) for query in qrels}
    files = settings.clusters if isinstance(settings.clusters, dict) else {}
    return DependenceData(
        relevant,
        {task: read_clusters(Path(path)) for task, path in files.items()},
        {
            system: {
                task: read_scores(files, settings.measure).values.to_numpy() for task, files in by_task(paths).items()
            }
            for system, paths in by_system.items()
        },
    )


def has_effect(control: Scores, treatment: Scores, settings: Settings) -> bool:
    """Whether the values of a task have an effect; without one, as where every query has the same value, it is left
    out."""
    x, y = (scores.values.to_numpy().mean(axis=1) for scores in (treatment, control))
    return effect_size(x, y, settings.effect, settings.ddof, settings.hedges).undefined is None


def shared(pairs: dict[str, tuple[Scores, Scores]], corpora: dict[str, str]) -> list[str]:
    """The tasks that seem to have the same queries, as text, and whose covariance is not estimated since no common
    corpus is known of them (`corpora` by task); `pairs` are control and treatment by task, of tasks with an effect.

    Raises UserError where two tasks have the same queries and values: one task under two names, counted twice.
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
        and not next(iter(ids)).startswith(LINE)
        and len({corpora.get(task, f"of {task} alone") for task in tasks}) > 1
    ]
    return [f"{', '.join(tasks)} have the same query ids: {why}" for tasks in groups]


def same_values(table: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether two tables of the same queries hold the same values for each."""
    return table.shape == second.shape and bool((table.to_numpy() == second.loc[table.index].to_numpy()).all())


def equivalence(summary: Summary, margin: float, lower_is_better: bool = False) -> dict[str, Any]:
    """Two one-sided tests of the summary effect against the margin, by the summary's own distribution."""
    gain = -summary.effect if lower_is_better else summary.effect

    def upper(value: float) -> float:
        z = value / summary.se
        return (normal_upper(z) if summary.df is None else t_upper(z, summary.df)).p

    if not summary.se:
        return {"margin": margin, "p_equivalence": None, "p_non_inferiority": None}
    above, below = upper(margin + gain), upper(margin - gain)
    return {"margin": margin, "p_equivalence": max(above, below), "p_non_inferiority": above}


def meta_record(synthesis: Synthesis, settings: Settings, scale: float = 1.0) -> dict[str, Any]:
    """What meta/{comparison}.json holds; keys as in design and docs, None where a number does not exist.

    `scale` is that of the measure (measure_scale.py).
    """
    meta = synthesis.meta
    if meta and meta.prediction_interval:
        meta = replace(meta, prediction_interval=shown_range(meta.prediction_interval, settings, scale))
    figures = asdict(meta) if meta else {"k": 0, "summary": None}
    figures.pop("weights", None)
    for key in ("given_seeds", "tau2_levels"):  # of dependent effects alone
        if figures.get(key) is None:
            figures.pop(key, None)
    record = {
        **{key: getattr(settings, key) for key in KEPT_SETTINGS},
        "effect_type": settings.effect,
        "task_interval": kind_for(settings.task_interval, effect_named(settings.effect)),
        **figures,
        "fixed_mean": asdict(synthesis.fixed_mean) if synthesis.fixed_mean else None,
        "leave_one_out": {task: _short(meta_of_others) for task, meta_of_others in synthesis.leave_one_out.items()},
        "warnings": list(synthesis.warnings),
    }
    asked = {name: getattr(settings, name) for name in ("estimator", "interval")}
    if meta and meta.k > 1 and asked != {name: getattr(meta, name) for name in asked}:
        record["asked"] = asked  # which summaries of fewer tasks may have
    if settings.cumulative:
        record["cumulative"] = {task: _short(meta_so_far) for task, meta_so_far in synthesis.cumulative.items()}
    if meta and settings.bayesian:
        record["bayesian"] = bayesian_record(synthesis, settings, scale)
    if meta and settings.margin and effect_named(settings.effect).IN_UNITS_OF_MEASURE:
        record["equivalence"] = equivalence(meta.summary, settings.margin, settings.lower_is_better)
    return record


def bayesian_record(synthesis: Synthesis, settings: Settings, scale: float) -> dict[str, Any]:
    """The Bayesian summary as reported; its sd and tau are on the scale of the synthesis.

    The prior's default scale is that of the effect type, in units of the measure for an effect that is.
    """
    effect_type = effect_named(settings.effect)
    usual = effect_type.TAU_SCALE * (scale if effect_type.IN_UNITS_OF_MEASURE else 1.0)
    tau_scale = (settings.bayesian.tau_scale if settings.bayesian else None) or usual
    summary = bayesian_summary(synthesis.estimates, synthesis.dependence.covariance, tau_scale, settings.alpha)
    record = asdict(summary)
    for name in ("effect", "ci_low", "ci_high"):
        record[name] = effect_type.reported(record[name])
    low, high = (effect_type.reported(end) for end in summary.prediction_interval)
    return record | {"prediction_interval": shown_range((low, high), settings, scale)}


def shown_range(interval: tuple[float, float], settings: Settings, scale: float) -> tuple[float, float]:
    """A prediction interval, cut to the range of the effects where these are differences in the measure."""
    in_units = effect_named(settings.effect).IN_UNITS_OF_MEASURE
    return within_range(interval, settings.measure, scale) if in_units else interval


def _short(meta: MetaAnalysis) -> dict[str, Any]:
    return {
        "k": meta.k,
        "interval": meta.interval,
        "summary": asdict(meta.summary),
        "tau2": meta.tau2,
        "i2": meta.i2,
        "q": meta.q,
    }


def main() -> None:
    arguments = parser(
        __doc__, "control*", "treatment*", "siblings*", "effects", "meta", settings=Settings
    ).parse_args()
    settings: Settings = arguments.settings
    control, treatment = (
        {task: read_scores(paths, settings.measure) for task, paths in by_task(files).items()}
        for files in (arguments.control, arguments.treatment)
    )
    pairs, warnings = {}, []
    for task in control:
        on_control, on_treatment, unpaired = paired(
            control[task], treatment[settings.treatment_on.get(task, task)], task
        )
        pairs[task] = on_control, on_treatment
        if unpaired:
            warnings.append(unpaired)
    counted = {task: pair for task, pair in pairs.items() if has_effect(*pair, settings)}
    warnings += shared(counted, settings.corpora if settings.dependence == ESTIMATED else {})
    for name, files in ((settings.control, arguments.control), (settings.treatment, arguments.treatment)):
        warnings += mixed_estimands(name, seeds_by_task(files))
    found = compared(pairs, settings, dependence_data(settings, arguments.siblings))
    results, synthesis = found.results, found.synthesis
    warnings += found.warnings
    scale = measure_scale(scores.values.to_numpy() for pair in pairs.values() for scores in pair)
    record = meta_record(synthesis, settings, scale) | dependence_record(found, settings)
    if beside := sensitivity(results, settings, found.seed_effects_of_all):
        record["sensitivity"] = beside
    record["warnings"] = warnings + task_warnings(results) + record["warnings"]
    for warning in record["warnings"]:
        print(f"{arguments.effects.stem}: {warning}", file=sys.stderr)
    with atomic_text(arguments.effects) as file:
        rows(results, synthesis.weights).to_csv(file, sep="\t", index=False)
    with atomic_text(arguments.meta) as file:
        json.dump(record, file, indent=2, allow_nan=False)
        file.write("\n")


if __name__ == "__main__":
    run(main)
