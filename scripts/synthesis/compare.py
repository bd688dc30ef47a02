"""Compare treatment with control over the tasks of one comparison.

Reads the metrics files of both systems (metrics/{task}/{system}/seed-{seed}.tsv). Writes effects/{comparison}.tsv, a
row a task, and meta/{comparison}.json, the summary effect and its heterogeneity; both at full double precision.
Values are paired by query id; several seeds of a system are averaged query by query first.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from scripts.common.cli import parser
from scripts.common.errors import UserError, run
from scripts.common.files import whole_text
from scripts.synthesis.effect_sizes import EffectSize, effect_size
from scripts.synthesis.meta_analysis import MetaAnalysis
from scripts.synthesis.synthesise import Synthesis, synthesise


class Scores(NamedTuple):
    """A system on a task: a row a query (index query_id), a column a seed, of one measure; and its mean Judged@k."""

    values: pd.DataFrame
    judged: float | None


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


def paired(control: Scores, treatment: Scores, task: str) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Mean over seeds of control and treatment, two vectors over the queries of both; and what is unpaired, in words.

    Raises UserError where they have no query in common.
    """
    common = control.values.index.intersection(treatment.values.index, sort=False)
    if common.empty:
        raise UserError(f"task {task}: control and treatment have not one query in common")
    alone = len(control.values) + len(treatment.values) - 2 * len(common)
    said = f"{task}: {alone} queries stand in one system only and are left out" if alone else None
    return (
        control.values.loc[common].mean(axis=1).to_numpy(),
        treatment.values.loc[common].mean(axis=1).to_numpy(),
        said,
    )


def seed_sd(scores: Scores) -> float | None:
    """The sample standard deviation of the measure's mean between seeds; None for one seed."""
    means = scores.values.mean(axis=0)
    return float(means.std(ddof=1)) if len(means) > 1 else None


def effects_table(
    effects: dict[str, EffectSize],
    synthesis: Synthesis,
    control: dict[str, Scores],
    treatment: dict[str, Scores],
    alpha: float,
) -> pd.DataFrame:
    """The rows of effects/{comparison}.tsv; cells that do not exist are empty, and `undefined` says why."""
    rows = []
    for task, effect in effects.items():
        low, high = effect.interval(alpha) or (None, None)
        rows.append(
            {
                "task": task,
                "n": effect.n,
                "control_mean": effect.control_mean,
                "treatment_mean": effect.treatment_mean,
                "effect": effect.effect,
                "variance": effect.variance,
                "se": effect.se,
                "ci_low": low,
                "ci_high": high,
                "p_value": effect.p_value,
                "weight": synthesis.weights.get(task),
                "control_judged": control[task].judged,
                "treatment_judged": treatment[task].judged,
                "control_seed_sd": seed_sd(control[task]),
                "treatment_seed_sd": seed_sd(treatment[task]),
                "undefined": effect.undefined,
            }
        )
    return pd.DataFrame(rows)


def meta_record(synthesis: Synthesis, settings: dict) -> dict:
    """What meta/{comparison}.json holds; keys as in design and docs, None where a number does not exist."""
    meta = synthesis.meta
    figures = asdict(meta) if meta else {"k": 0, "summary": None}
    figures.pop("weights", None)
    return {
        "control": settings["control"],
        "treatment": settings["treatment"],
        "measure": settings["measure"],
        "effect_type": settings["effect"],
        "ddof": settings["ddof"],
        **figures,
        "leave_one_out": {task: _short(one) for task, one in synthesis.leave_one_out.items()},
        "warnings": list(synthesis.warnings),
    }


def _short(meta: MetaAnalysis) -> dict:
    return {"k": meta.k, "summary": asdict(meta.summary), "tau2": meta.tau2, "i2": meta.i2, "q": meta.q}


def main() -> None:
    arguments = parser(__doc__, "control*", "treatment*", "effects", "meta").parse_args()
    settings = arguments.settings
    measure, kind, alpha = settings["measure"], settings["effect"], settings["alpha"]
    control = {task: read_scores(paths, measure) for task, paths in by_task(arguments.control).items()}
    treatment = {task: read_scores(paths, measure) for task, paths in by_task(arguments.treatment).items()}
    effects, odd = {}, []
    for task in control:
        y, x, said = paired(control[task], treatment[task], task)
        odd += [said] if said else []
        effects[task] = effect_size(x, y, kind, ddof=settings["ddof"])
    synthesis = synthesise(effects, kind, settings["estimator"], settings["interval"], alpha)
    record = meta_record(synthesis, settings)
    record["warnings"] = odd + record["warnings"]
    for said in record["warnings"]:
        print(f"{arguments.effects.stem}: {said}", file=sys.stderr)
    with whole_text(arguments.effects) as file:
        effects_table(effects, synthesis, control, treatment, alpha).to_csv(file, sep="\t", index=False)
    with whole_text(arguments.meta) as file:
        json.dump(record, file, indent=2, allow_nan=False)
        file.write("\n")


if __name__ == "__main__":
    run(main)
