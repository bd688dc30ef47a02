"""How far effects moved from archive A to archive B: the same comparison and task, effect B minus effect A.

For mean differences the queries are the same in both archives, so that the move is itself a paired difference: of
treatment minus control in B and treatment minus control in A, query by query. scripts/synthesis/compare.py computes it
with its interval, and reports/draw_forest.py draws it. For standardised and correlation effects, whose sampling
variance has no such form, the two effects stand side by side without an interval.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.archive import layout
from scripts.common.errors import UserError

ROOT = Path(__file__).parents[2]
LOOKS = {"p": "t-test", "correction": "none", "sort": "config", "judged": "", "width": "double column"}


@dataclass(frozen=True)
class Moved:
    """One comparison on one task; effects as the archives have them (None: undefined there), `n` common queries."""

    comparison: str
    task: str
    effect_type: str
    a: float | None
    b: float | None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None


def shared_comparisons(a: Path, b: Path) -> dict[str, tuple[dict, dict]]:
    """Comparison -> its job in A and in B, where both have it with the same kind of effect and measure."""
    jobs = [
        {
            job["wildcards"]["comparison"]: job
            for job in json.loads((one / layout.JOBS).read_text())
            if job["rule"] == "compare"
        }
        for one in (a, b)
    ]
    keys = ("effect", "measure")
    return {
        name: (job, jobs[1][name])
        for name, job in jobs[0].items()
        if name in jobs[1] and all(job["settings"][key] == jobs[1][name]["settings"][key] for key in keys)
    }


def effects(folder: Path, job: dict) -> dict[str, float | None]:
    """Task -> effect, in the order of the effects file."""
    path = next(path for path in job["outputs"] if path.endswith(".tsv"))
    with open(folder / path, newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["task"]: float(row["effect"]) if row["effect"] else None for row in rows}


def per_query(folder: Path, job: dict) -> dict[str, dict[str, float]]:
    """Task -> query -> treatment minus control, each averaged over its seeds, on the queries that both have."""
    values: dict[str, dict[str, list[dict[str, float]]]] = {}
    for path in job["inputs"]:
        parts = Path(path).parts
        if len(parts) > 3 and parts[2] == "metrics":
            with open(folder / path, newline="") as file:
                found = {
                    row["query_id"]: float(row[job["settings"]["measure"]])
                    for row in csv.DictReader(file, delimiter="\t")
                }
            values.setdefault(parts[3], {}).setdefault(parts[4], []).append(found)
    means = {task: {name: _over_seeds(seeds) for name, seeds in systems.items()} for task, systems in values.items()}
    control, treatment = job["settings"]["control"], job["settings"]["treatment"]
    return {
        task: {query: of[treatment][query] - of[control][query] for query in of[control] if query in of[treatment]}
        for task, of in means.items()
    }


def _over_seeds(seeds: list[dict[str, float]]) -> dict[str, float]:
    return {query: statistics.fmean(one[query] for one in seeds) for query in seeds[0]}


def compared(a: Path, b: Path, comparison: str, jobs: tuple[dict, dict], out: Path) -> list[Moved]:
    """The rows of one comparison; for mean differences also the figure `out`/{comparison}.svg, .pdf, .png."""
    kind = jobs[0]["settings"]["effect"]
    ours, theirs = effects(a, jobs[0]), effects(b, jobs[1])
    rows = [Moved(comparison, task, kind, ours[task], theirs[task]) for task in ours if task in theirs]
    if kind != "MD" or not rows:
        return rows
    tables = [per_query(folder, job) for folder, job in zip((a, b), jobs, strict=True)]
    tasks = [row.task for row in rows if tables[0][row.task].keys() & tables[1][row.task].keys()]
    if not tasks:
        return rows
    if all(tables[0][task] == tables[1][task] for task in tasks):
        return [replace(row, difference=0.0, n=len(tables[0][row.task])) if row.task in tasks else row for row in rows]
    measure = f"effect on {jobs[0]['settings']['measure']}"
    files = [
        _write(out / "moved" / name, {task: table[task] for task in tasks}, measure)
        for name, table in zip("AB", tables, strict=True)
    ]
    settings = {**jobs[0]["settings"], "control": "A", "treatment": "B", "measure": measure, "margin": None}
    made = [out / "moved" / f"{comparison}.tsv", out / "moved" / f"{comparison}.json"]
    _script("synthesis/compare.py", settings, "--control", *files[0], "--treatment", *files[1],
            "--effects", made[0], "--meta", made[1])  # fmt: skip
    kept = {key: settings[key] for key in ("alpha", "estimator", "interval")}
    shown = {
        **LOOKS,
        **kept,
        "labels": {"tasks": {}, "systems": {}},
        "title": f"{comparison}: how far its effect moved from A to B",
    }
    _script("reports/draw_forest.py", shown, "--effects", made[0], "--meta", made[1], "--figure", out / comparison)
    return [_with_interval(row, made[0]) for row in rows]


def _with_interval(row: Moved, path: Path) -> Moved:
    with open(path, newline="") as file:
        found = {one["task"]: one for one in csv.DictReader(file, delimiter="\t")}.get(row.task)
    if found is None:
        return row
    numbers = {key: float(found[key]) if found[key] else None for key in ("effect", "ci_low", "ci_high")}
    difference = numbers.pop("effect")
    if difference is None and found["control_mean"]:  # the same for every query: no variance, but a difference
        difference = float(found["treatment_mean"]) - float(found["control_mean"])
    return replace(row, difference=difference, n=int(found["n"]), **numbers)


def _write(folder: Path, table: dict[str, dict[str, float]], measure: str) -> list[Path]:
    """A metrics file a task, laid out as results/{experiment}/metrics/."""
    paths = []
    for task, values in table.items():
        path = folder / task / folder.name / "seed-0.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"query_id\t{measure}\n", *(f"{query}\t{value!r}\n" for query, value in values.items())]
        path.write_text("".join(lines))
        paths.append(path)
    return paths


def _script(name: str, settings: dict, *arguments: str | Path) -> None:
    command = [sys.executable, ROOT / "scripts" / name, *arguments, "--settings", json.dumps(settings)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"scripts/{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
