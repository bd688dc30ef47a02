"""How far effects moved from archive A to archive B: effect B minus effect A of the same comparison and task.

For mean differences the move is itself a paired difference, because both archives have the same queries: treatment
minus control in B against treatment minus control in A, query by query. scripts/synthesis/compare.py computes it with
its interval, seeds as given and queries and tasks as independent, and reports/figure.py draws it. Other effects
have no such sampling variance; for them the two effects are shown without an interval.
"""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ranktrial.archive import layout
from ranktrial.archive.expected import ROOT, environment, fresh_folder, isolated, own_site
from ranktrial.archive.shapes import Keys, check_shape, read_record, shown
from ranktrial.common.errors import UserError
from ranktrial.common.paths import below
from ranktrial.common.wording import finite
from ranktrial.experiment import results_paths
from ranktrial.experiment.results_paths import FIGURE_FORMATS
from ranktrial.statistics.effects import all_effects
from ranktrial.statistics.measure_scale import range_of

SETTINGS = Keys({
    "control": str, "treatment": str, "effect": str, "measure": str, "alpha": float, "estimator": str, "interval": str,
})  # fmt: skip
# Settings that name files or other systems of the experiment: neither is there, and a stranger's paths are not opened.
SURROUNDINGS = ("qrels", "cluster_files", "corpora", "seed_sources", "treatment_on", "sha256_of")
AS_THEY_ARE = {"seeds": "conditional", "dependence": "independent", "clusters": "query"}
LOOKS = {"p": "t-test", "correction": "none", "sort": "config", "judged": "", "width": "double column"}


@dataclass(frozen=True)
class Moved:
    """One comparison on one task. `a` and `b` are the effects in the archives (None: undefined), `n` common queries."""

    comparison: str
    task: str
    effect_type: str
    a: float | None
    b: float | None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None


class Side:
    """One of the two unpacked archives: its comparisons, each with the job that made it.

    Only files that the manifest lists are read. Raises UserError for bad records.
    """

    def __init__(self, folder: Path, manifest: dict) -> None:
        self.folder, self.manifest = folder, manifest
        self.jobs: dict[str, dict] = {}
        for job in read_record(folder, layout.JOBS):
            name = job["wildcards"].get("comparison", "")
            if job["rule"] == "compare" and layout.why_no_name(name) is None and self._file(self.effects_of(name)):
                where = f"{layout.JOBS}: {name}: settings"
                check_shape(job.get("settings"), SETTINGS, where)
                self.jobs[name] = job

    def effects_of(self, comparison: str) -> str:
        return results_paths.path("effects", experiment=self.manifest["experiment"], comparison=comparison)

    def comparisons(self) -> set[str]:
        summaries = [name for name, entry in self.manifest["files"].items() if entry["kind"] == "meta-analysis"]
        return {results_paths.parse(name)[1]["comparison"] for name in summaries}

    def _file(self, name: str) -> Path | None:
        return below(self.folder, name, "the archive") if name in self.manifest["files"] else None

    def rows(self, name: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
        """The rows of a table of the archive. Raises UserError if it is missing, not a table or lacks a column."""
        path = self._file(name)
        if path is None:
            raise UserError(f"{name}: a comparison read it, but it is not in the archive")
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file, delimiter="\t"))
        except (csv.Error, UnicodeDecodeError) as error:
            raise UserError(f"{name}: not a table of tab-separated values ({error})") from None
        if rows and (lacking := [column for column in columns if rows[0].get(column) is None]):
            raise UserError(f"{name}: column {lacking[0]!r} is missing")
        return rows

    def effects(self, comparison: str) -> dict[str, float | None]:
        """Task -> effect, in the order of the effects file."""
        name = self.effects_of(comparison)
        effects_of_tasks = {}
        for row in self.rows(name, ("task", "effect")):
            if reason := layout.why_no_name(row["task"] or ""):
                raise UserError(f"{name}: task {shown(row['task'])} {reason}")
            effects_of_tasks[row["task"]] = number(row["effect"], name) if row["effect"] else None
        return effects_of_tasks

    def per_query(self, comparison: str) -> dict[str, dict[str, float]]:
        """Task -> query -> treatment minus control, both averaged over their seeds, on the queries that both have."""
        settings = self.jobs[comparison]["settings"]
        values: dict[str, dict[str, list[dict[str, float]]]] = {}
        for path in self.jobs[comparison]["inputs"]:
            if layout.kind_of(path, self.manifest["experiment"]) == "metric":
                fields = results_paths.parse(path)[1]
                rows = self.rows(path, ("query_id", settings["measure"]))
                of_queries = {row["query_id"]: number(row[settings["measure"]], path) for row in rows}
                values.setdefault(fields["task"], {}).setdefault(fields["system"], []).append(of_queries)
        means = {
            task: {name: _over_seeds(seeds) for name, seeds in systems.items()} for task, systems in values.items()
        }
        control, treatment = settings["control"], settings["treatment"]
        return {
            task: {query: of[treatment][query] - of[control][query] for query in of[control] if query in of[treatment]}
            for task, of in means.items()
            if control in of and treatment in of
        }


def number(text: str | None, where: str) -> float:
    """A number of a table. Raises UserError if the text is not a finite number."""
    value = finite(text or "")
    if value is None:
        raise UserError(f"{where}: {shown(text)} is not a number")
    return value


def shared_comparisons(a: Side, b: Side) -> dict[str, tuple[dict, dict]]:
    """Comparison -> its job in A and in B, for those that both have with the same effect type and measure."""
    keys = ("effect", "measure")
    return {
        name: (job, b.jobs[name])
        for name, job in a.jobs.items()
        if name in b.jobs and all(job["settings"][key] == b.jobs[name]["settings"][key] for key in keys)
    }


def _over_seeds(seeds: list[dict[str, float]]) -> dict[str, float]:
    return {query: statistics.fmean(values[query] for values in seeds if query in values) for query in seeds[0]}


def compared(a: Side, b: Side, comparison: str, jobs: tuple[dict, dict], out: Path) -> list[Moved]:
    """The rows of one comparison; for mean differences also the figure `out`/{comparison}.svg, .pdf, .png."""
    kind = jobs[0]["settings"]["effect"]
    ours, theirs = a.effects(comparison), b.effects(comparison)
    rows = [Moved(comparison, task, kind, ours[task], theirs[task]) for task in ours if task in theirs]
    if not moves_are_paired(kind) or not rows:
        return rows
    tables = [side.per_query(comparison) for side in (a, b)]
    tasks = [row.task for row in rows if tables[0].get(row.task, {}).keys() & tables[1].get(row.task, {}).keys()]
    if not tasks:
        return rows
    if all(tables[0][task] == tables[1][task] for task in tasks):
        return [replace(row, difference=0.0, n=len(tables[0][row.task])) if row.task in tasks else row for row in rows]
    measure = f"effect on {jobs[0]['settings']['measure']}"
    files = [
        _write(out / "moved" / name, {task: table[task] for task in tasks}, measure)
        for name, table in zip("AB", tables, strict=True)
    ]
    settings = {key: value for key, value in jobs[0]["settings"].items() if key not in SURROUNDINGS}
    settings |= {"control": "A", "treatment": "B", "measure": measure, "margin": None} | AS_THEY_ARE
    effects = (np.array([*of.values()]) for table in tables for of in table.values())
    if known := range_of(jobs[0]["settings"]["measure"], effects):
        settings["reach"] = 2 * known.high  # effects are between -high and high
    outputs = [out / "moved" / f"{comparison}.tsv", out / "moved" / f"{comparison}.json"]
    _script("synthesis/compare.py", settings, "--control", *files[0], "--treatment", *files[1],
            "--effects", outputs[0], "--meta", outputs[1])  # fmt: skip
    shared = {key: settings[key] for key in ("alpha", "estimator", "interval")}
    look = {
        **LOOKS,
        **shared,
        "labels": {"tasks": {}, "systems": {}},
        "title": f"{comparison}: how far its effect moved from A to B",
    }
    made = ("--effects", outputs[0], "--meta", outputs[1])
    _script("reports/figure.py", look, "forest", *made, *_figure(out, comparison))
    return [_with_interval(row, outputs[0]) for row in rows]


def _figure(folder: Path, name: str) -> list[str | Path]:
    """The options by which a script draws the figure `name` into a folder."""
    return [word for suffix in FIGURE_FORMATS for word in (f"--{suffix}", folder / f"{name}.{suffix}")]


def moves_are_paired(effect: str) -> bool:
    """Whether the move of an effect is itself a paired difference. An archive may name an effect that is not known."""
    known = all_effects().get(effect)
    return known is not None and known.IN_UNITS_OF_MEASURE


def _with_interval(row: Moved, path: Path) -> Moved:
    with open(path, newline="") as file:
        move = {entry["task"]: entry for entry in csv.DictReader(file, delimiter="\t")}.get(row.task)
    if move is None:
        return row
    numbers = {key: float(move[key]) if move[key] else None for key in ("effect", "ci_low", "ci_high")}
    difference = numbers.pop("effect")
    if difference is None and move["control_mean"]:  # the same for every query: no variance, but a difference
        difference = float(move["treatment_mean"]) - float(move["control_mean"])
    return replace(row, difference=difference, n=int(move["n"]), **numbers)


def _write(folder: Path, table: dict[str, dict[str, float]], measure: str) -> list[Path]:
    """Write a metrics file per task, of a system that has the folder's name; returns their paths."""
    paths = []
    for task, values in table.items():
        path = below(folder, f"metrics/{task}/{folder.name}/seed-0.tsv", "the archive")
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"query_id\t{measure}\n", *(f"{query}\t{value!r}\n" for query, value in values.items())]
        path.write_text("".join(lines))
        paths.append(path)
    return paths


def _script(name: str, settings: dict, *arguments: str | Path) -> None:
    words = [f"scripts/{name}", *map(str, arguments), "--settings", json.dumps(settings)]
    with fresh_folder("moved") as folder:
        request = {"sources": str(ROOT), "packages": [own_site()] if own_site() else []}
        request["jobs"] = [{"words": words, "outputs": []}]
        process = subprocess.run(isolated("rerun.py"), cwd=folder, input=json.dumps(request), capture_output=True,
                                 text=True, env=environment(folder))  # fmt: skip
    failure = json.loads(process.stdout)["failure"] if process.returncode == 0 else "it ended early"
    if failure:
        raise UserError(f"scripts/{name}: {' '.join(failure.split())[:300]}")
