"""Compare treatment with control over the tasks of one comparison.

Reads the metrics files of both systems (metrics/{task}/{system}/seed-{seed}.tsv). Writes effects/{comparison}.tsv, a
row a task, and meta/{comparison}.json, the summary effect and its heterogeneity; both at full double precision.
Values are paired by query id; several seeds of a system are averaged query by query first.
The treatment's values may be those of another task with the same queries (treatment_on).
"""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_text
from scripts.ir.scores import LINE, check_pairs
from scripts.synthesis.meta_analysis import MetaAnalysis, Summary
from scripts.synthesis.synthesise import Synthesis, synthesise
from scripts.synthesis.tails import normal_upper, t_upper
from scripts.synthesis.task_results import Scores, rows, task_result

KEPT_SETTINGS = ("control", "treatment", "measure", "ddof", "hedges", "permutations")


def read_scores(paths: list[Path], measure: str) -> Scores:
    """Read a system's metrics files on one task, one a seed. Raises UserError where seeds cover different queries."""
    tables = [
        pd.read_csv(path, sep="\t", dtype={"query_id": str}, keep_default_na=False, index_col="query_id").astype(float)
        for path in paths
    ]
    values = pd.concat([table[measure] for table in tables], axis=1, keys=range(len(tables)))
    if values.isna().any(axis=None):
        raise UserError(f"{paths[0].parent}: its seeds cover different queries")
    judged = [name for name in tables[0] if name.startswith("Judged@")]
    return Scores(values, float(np.mean([table[judged[0]].mean() for table in tables])) if judged else None)


def by_task(paths: list[Path]) -> dict[str, list[Path]]:
    """Metrics files by their task's folder, in the order in which tasks first come."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(path.parts[-3], []).append(path)
    return groups


def paired(control: Scores, treatment: Scores, task: str) -> tuple[Scores, Scores, str | None]:
    """Control and treatment on the queries of both, in one order; and what is unpaired, in words.

    Raises UserError where they have no query in common, or have no ids and different numbers of samples.
    """
    check_pairs(list(control.values.index), list(treatment.values.index), task)
    common = control.values.index.intersection(treatment.values.index, sort=False)
    if common.empty:
        raise UserError(f"task {task}: control and treatment have not one query in common")
    alone = len(control.values) + len(treatment.values) - 2 * len(common)
    said = f"{task}: {alone} queries stand in one system only and are left out" if alone else None
    both = [one._replace(values=one.values.loc[common]) for one in (control, treatment)]
    return *both, said


def shared(pairs: dict[str, tuple[Scores, Scores]]) -> list[str]:
    """The tasks that seem to have the same queries, in words; `pairs` are control and treatment by task.

    Raises UserError where two tasks have the same queries and values: one task under two names, counted twice.
    """
    alike: dict[frozenset[str], list[str]] = {}
    for task, (control, _) in pairs.items():
        alike.setdefault(frozenset(control.values.index), []).append(task)
    for one, other in (pair for tasks in alike.values() for pair in itertools.combinations(tasks, 2)):
        if all(same_values(a.values, b.values) for a, b in zip(pairs[one], pairs[other], strict=True)):
            raise UserError(
                f"tasks {one} and {other} have the same queries with the same values of control and of treatment: "
                "one task under two names would count twice; leave one of them out of the comparison"
            )
    why = "if these are the same queries in other words, the tasks are not independent, as is assumed here"
    groups = [tasks for ids, tasks in alike.items() if len(tasks) > 1 and not next(iter(ids)).startswith(LINE)]
    return [f"{', '.join(tasks)} have the same query ids: {why}" for tasks in groups]


def same_values(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether two tables of the same queries hold the same values for each."""
    return one.shape == other.shape and bool((one.to_numpy() == other.loc[one.index].to_numpy()).all())


def equivalence(summary: Summary, margin: float) -> dict:
    """Two one-sided tests of the summary effect against the margin, by the summary's own distribution."""

    def upper(value: float) -> float:
        z = value / summary.se
        return (normal_upper(z) if summary.df is None else t_upper(z, summary.df)).p

    above, below = (upper(margin + summary.effect), upper(margin - summary.effect)) if summary.se else (None, None)
    return {"margin": margin, "p_equivalence": above and max(above, below), "p_non_inferiority": above}


def meta_record(synthesis: Synthesis, settings: dict) -> dict:
    """What meta/{comparison}.json holds; keys as in design and docs, None where a number does not exist."""
    meta = synthesis.meta
    figures = asdict(meta) if meta else {"k": 0, "summary": None}
    figures.pop("weights", None)
    record = {
        **{key: settings[key] for key in KEPT_SETTINGS},
        "effect_type": settings["effect"],
        **figures,
        "leave_one_out": {task: _short(one) for task, one in synthesis.leave_one_out.items()},
        "warnings": list(synthesis.warnings),
    }
    if settings["cumulative"]:
        record["cumulative"] = {task: _short(one) for task, one in synthesis.cumulative.items()}
    if meta and settings.get("margin") and settings["effect"] == "MD":
        record["equivalence"] = equivalence(meta.summary, settings["margin"])
    return record


def _short(meta: MetaAnalysis) -> dict:
    return {"k": meta.k, "summary": asdict(meta.summary), "tau2": meta.tau2, "i2": meta.i2, "q": meta.q}


def main() -> None:
    arguments = parser(__doc__, "control*", "treatment*", "effects", "meta").parse_args()
    settings = arguments.settings
    control, treatment = (
        {task: read_scores(paths, settings["measure"]) for task, paths in by_task(files).items()}
        for files in (arguments.control, arguments.treatment)
    )
    pairs, odd = {}, []
    for task in control:
        *pairs[task], said = paired(control[task], treatment[settings.get("treatment_on", {}).get(task, task)], task)
        odd += [said] if said else []
    odd += shared(pairs)
    results = {task: task_result(y, x, settings) for task, (y, x) in pairs.items()}
    synthesis = synthesise(
        {task: result.effect for task, result in results.items()},
        *(settings[key] for key in ("effect", "estimator", "interval", "alpha")),
    )
    record = meta_record(synthesis, settings)
    record["warnings"] = odd + record["warnings"]
    for said in record["warnings"]:
        print(f"{arguments.effects.stem}: {said}", file=sys.stderr)
    with atomic_text(arguments.effects) as file:
        rows(results, synthesis.weights, settings["alpha"]).to_csv(file, sep="\t", index=False)
    with atomic_text(arguments.meta) as file:
        json.dump(record, file, indent=2, allow_nan=False)
        file.write("\n")


if __name__ == "__main__":
    run(main)
