"""How archive B differs from archive A, how well it reproduces it, and how far effects moved from A to B.

An effect's move is effect B minus effect A of the same comparison and task. For mean differences the move is itself a
paired difference, because both archives have the same queries: treatment minus control in B against treatment minus
control in A, query by query. scripts/synthesis/compare.py computes it with its interval, seeds as given and queries and
tasks as independent, and reports/figure.py draws it. Other effects have no such sampling variance; for them the
two effects are shown without an interval.

Reproduction has the measures of ranktrial/statistics/agreement.py. Runs that both have are compared as rankings and,
per measure, by their scores per query; comparisons that both have, by the means of control and treatment; and
configuration, data, models, the user's other files, sources and packages by their values.
"""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from ranktrial.archive import layout
from ranktrial.archive.expected import environment, fresh_folder, isolated, read_configuration, search_path
from ranktrial.archive.layout import Keys, check_shape, read_record, shown
from ranktrial.common.errors import UserError
from ranktrial.common.paths import OUR_CODE, below
from ranktrial.common.strict_json import read_json
from ranktrial.common.wording import finite
from ranktrial.experiment import results_paths
from ranktrial.experiment.results_paths import FIGURE_FORMATS
from ranktrial.ir.trec import Run, ranking, read_run
from ranktrial.reports.writing.content import Block, Column, Paragraph, Table
from ranktrial.statistics.agreement import (
    delta_relative_improvement,
    effect_ratio,
    kendalls_tau_union,
    rank_biased_overlap,
    root_mean_square_error,
)
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
    _script("synthesis.compare", settings, "--control", *files[0], "--treatment", *files[1],
            "--effects", outputs[0], "--meta", outputs[1])  # fmt: skip
    look = {
        **LOOKS,
        "alpha": settings["alpha"],
        "facts": {"labels": {"tasks": {}, "systems": {}}, "measures": [measure]},
        "title": f"{comparison}: how far its effect moved from A to B",
    }
    made = ("--effects", outputs[0], "--meta", outputs[1])
    _script("reports.figure", look, "forest", *made, *_figure(out, comparison))
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
    words = [f"scripts.{name}", *map(str, arguments), "--settings", json.dumps(settings)]
    with fresh_folder("moved") as folder:
        request = {"paths": search_path(), "jobs": [{"words": words, "outputs": []}]}
        process = subprocess.run(isolated("rerun.py"), cwd=folder, input=json.dumps(request), capture_output=True,
                                 text=True, env=environment(folder))  # fmt: skip
    failure = json.loads(process.stdout)["failure"] if process.returncode == 0 else "it ended early"
    if failure:
        raise UserError(f"scripts.{name}: {' '.join(failure.split())[:300]}")


NONE = "none"
MOST = 200_000  # values of a record, with aliases expanded
RunName = tuple[str, str, str]  # task, system, seed


@dataclass(frozen=True)
class Difference:
    """One value that differs, in A and in B (NONE if it does not exist there)."""

    section: str
    what: str
    a: str
    b: str


def flattened(value) -> dict[str, str]:
    """Nested mappings as one, with keys joined by dots; other values as JSON. Raises UserError above MOST values."""
    values: dict[str, str] = {}
    waiting = [("", value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict) and part:
            waiting += [(f"{key}.{name}" if key else str(name), inner) for name, inner in reversed(part.items())]
        else:
            values[key] = part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=str)
        if len(values) + len(waiting) > MOST:
            raise UserError(f"{key.partition('.')[0]}: contains more than {MOST} values")
    return values


def differing(section: str, a: dict[str, str], b: dict[str, str]) -> list[Difference]:
    """The keys whose values differ between `a` and `b`."""
    keys = [*a, *(key for key in b if key not in a)]
    return [Difference(section, key, a.get(key, NONE), b.get(key, NONE)) for key in keys if a.get(key) != b.get(key)]


def differences(a: Path, b: Path) -> list[Difference]:
    """All differences between two unpacked archives. Raises UserError for records that cannot be read."""
    result = differing("configuration", *(flattened(read_configuration(folder, layout.RESOLVED)) for folder in (a, b)))
    result += differing("data and models", *(flattened(read_record(folder, layout.IDENTITIES)) for folder in (a, b)))
    result += differing("files", *(_files(folder) for folder in (a, b)))
    result += differing("sources", *(_sources(folder) for folder in (a, b)))
    result += differing("packages", *(_packages(folder) for folder in (a, b)))
    return result + differing("machine", *(_machines(folder) for folder in (a, b)))


def _files(folder: Path) -> dict[str, str]:
    """The user's files, such as runs and programs, that jobs read -> SHA-256; without those of data and models."""
    known = read_record(folder, layout.IDENTITIES)
    named = {file for kind in ("datasets", "models") for entry in known[kind].values() for file in entry["read"]}
    ours = (*OUR_CODE, layout.DOWNLOADS, f"results/{read_record(folder, layout.ORIGIN)['experiment']}/")
    return {
        path: sha256 or NONE
        for job in read_record(folder, layout.JOBS)
        for path, sha256 in job["inputs"].items()
        if path not in named and not path.startswith(ours)
    }


def _sources(folder: Path) -> dict[str, str]:
    files = read_json(folder / layout.MANIFEST)["files"]
    commit = {"commit": read_record(folder, layout.ORIGIN)["commit"] or NONE}
    listed = {name: entry["sha256"][:12] for name, entry in files.items() if name.startswith(layout.WORKFLOW)}
    return commit | listed


def _packages(folder: Path) -> dict[str, str]:
    environments = read_record(folder, layout.PACKAGES)
    for job in read_record(folder, layout.JOBS):
        match job.get("settings"):
            case {"system": str(system), "versions": dict(versions)}:  # a Python of the user's own
                environments[system] = {"packages": versions}
    return {
        f"{name}: {key}": value
        for name, environment in environments.items()
        for key, value in flattened(environment).items()
    }


def _machines(folder: Path) -> dict[str, str]:
    """`rule: driver`, `rule: device` and `rule: processor` -> the values of all jobs of the rule."""
    machines: dict[str, set[str]] = {}
    for job in read_record(folder, layout.JOBS):
        machine = job["machine"] or {}
        for key, value in {"driver": job["driver"], **{k: machine.get(k) for k in ("device", "processor")}}.items():
            if value:
                machines.setdefault(f"{job['rule']}: {key}", set()).add(str(value))
    return {key: ", ".join(sorted(values)) for key, values in machines.items()}


@dataclass(frozen=True)
class RepeatedRun:
    """One run in both archives: means over the queries that both rank (None: tau is not defined for any)."""

    task: str
    system: str
    seed: str
    queries: int
    kendalls_tau_union: float | None
    rank_biased_overlap: float | None


@dataclass(frozen=True)
class RepeatedScores:
    """One measure of one run in both archives: the means and the error over the queries that both have."""

    task: str
    system: str
    seed: str
    measure: str
    queries: int
    a: float
    b: float
    root_mean_square_error: float


@dataclass(frozen=True)
class RepeatedEffect:
    """One comparison on one task in both archives: the effect in B against that in A."""

    comparison: str
    task: str
    measure: str
    effect_ratio: float | None
    delta_relative_improvement: float | None


@dataclass(frozen=True)
class Repeated:
    """How well B reproduces A, row by row."""

    rankings: list[RepeatedRun]
    scores: list[RepeatedScores]
    effects: list[RepeatedEffect]


def repeated(a: Side, b: Side, shared: dict[str, tuple[dict, dict]]) -> Repeated:
    """All measures of reproduction of two archives; `shared` are the comparisons of both, with their jobs."""
    return Repeated(rankings(a, b), scores(a, b), effects(a, b, shared))


def files_of_runs(side: Side, path: str) -> dict[RunName, str]:
    """The files of an archive at this path of ranktrial/experiment/results_paths.py, by their run."""
    found = {}
    for name in sorted(side.manifest["files"]):
        if layout.kind_of(name, side.manifest["experiment"]) in ("run", "metric"):
            place, fields = results_paths.parse(name)
            if place == path:
                found[fields["task"], fields["system"], fields["seed"]] = name
    return found


def in_both(a: Side, b: Side, path: str) -> Iterator[tuple[RunName, str, str]]:
    """The runs of which both archives have a file at this path, with its name in each."""
    of_a, of_b = files_of_runs(a, path), files_of_runs(b, path)
    return ((run, of_a[run], of_b[run]) for run in of_a if run in of_b)


def rankings(a: Side, b: Side) -> list[RepeatedRun]:
    """One row per run that both archives hold."""
    rows = []
    for run, *names in in_both(a, b, "run"):
        original, again = map(_run, (a, b), names)
        pairs = [(ranking(original[query]), ranking(again[query])) for query in original if query in again]
        means = [_mean(measure(*pair) for pair in pairs) for measure in (kendalls_tau_union, rank_biased_overlap)]
        rows.append(RepeatedRun(*run, len(pairs), *means))
    return rows


def scores(a: Side, b: Side) -> list[RepeatedScores]:
    """One row per metrics file that both archives hold and measure that both have there."""
    rows = []
    for run, *names in in_both(a, b, "metrics"):
        original, again = map(_metrics, (a, b), names)
        for measure in original:
            if measure not in again:
                continue
            queries = [query for query in original[measure] if query in again[measure]]
            values = [np.array([of[measure][query] for query in queries]) for of in (original, again)]
            if queries:
                means = [float(side.mean()) for side in values]
                error = root_mean_square_error(*values)
                rows.append(RepeatedScores(*run, measure, len(queries), *means, error))
    return rows


def effects(a: Side, b: Side, shared: dict[str, tuple[dict, dict]]) -> list[RepeatedEffect]:
    """One row per comparison and task that both archives have."""
    rows = []
    for comparison, (job, _) in shared.items():
        original, again = (_means(side, comparison) for side in (a, b))
        for task in original:
            if task not in again:
                continue
            gains = [treatment - control for control, treatment in (original[task], again[task])]
            delta = delta_relative_improvement(original[task], again[task])
            rows.append(RepeatedEffect(comparison, task, job["settings"]["measure"], effect_ratio(*gains), delta))
    return rows


def _mean(values: Iterator[float | None]) -> float | None:
    """The mean of the defined values."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _run(side: Side, name: str) -> Run:
    try:
        return read_run(below(side.folder, name, "the archive"))
    except UserError as error:
        raise UserError(str(error).replace(f"{side.folder}/", "")) from None


def _metrics(side: Side, name: str) -> dict[str, dict[str, float]]:
    """Measure -> query -> value; empty cells are left out."""
    rows = side.rows(name, ("query_id",))
    measures = [column for column in rows[0] if column != "query_id"] if rows else []
    return {
        measure: {row["query_id"]: number(row[measure], name) for row in rows if row[measure]} for measure in measures
    }


def _means(side: Side, comparison: str) -> dict[str, tuple[float, float]]:
    """Task -> means of control and treatment."""
    name = side.effects_of(comparison)
    columns = ("control_mean", "treatment_mean")
    return {
        row["task"]: (number(row[columns[0]], name), number(row[columns[1]], name))
        for row in side.rows(name, ("task", *columns))
        if row[columns[0]] and row[columns[1]]
    }


def reproduced(repeated: Repeated, shown: int) -> list[Block]:
    """What it shows: the first `shown` rankings and scores that differ, and all effects."""
    rankings = [row for row in repeated.rankings if row.rank_biased_overlap != 1]
    scores = [row for row in repeated.scores if row.root_mean_square_error]
    run = {name: name for name in ("task", "system", "seed")}
    alike = {"Kendall's tau union": "kendalls_tau_union", "rank-biased overlap": "rank_biased_overlap"}
    apart = {"measure": "measure", "A": "a", "B": "b", "RMSE over queries": "root_mean_square_error"}
    effects = {name: name for name in ("comparison", "task", "measure")} | {
        "effect ratio": "effect_ratio",
        "delta relative improvement": "delta_relative_improvement",
    }
    return [
        Paragraph(
            f"{len(repeated.rankings)} runs are in both archives; {len(rankings)} of them rank differently"
            f"{_where(rankings, shown, 'rankings')}."
        ),
        *table(run | alike, rankings[:shown]),
        Paragraph(
            f"Of {len(repeated.scores)} means of a measure, {len(scores)} have another value for some query"
            f"{_where(scores, shown, 'scores')}."
        ),
        *table(run | apart, scores[:shown]),
        Paragraph(
            "Effect ratio: B's improvement of treatment over control in shares of A's (1: as large). Delta relative "
            "improvement: A's relative improvement minus B's (0: the same)."
        ),
        *table(effects, repeated.effects),
    ]


def table(fields: Mapping[str, str], records: Sequence[object]) -> list[Block]:
    """A table of these fields of records, by their headings; nothing without a record."""
    rows = [[cell(getattr(record, name)) for name in fields.values()] for record in records]
    return [Table([Column(heading) for heading in fields], [rows])] if rows else []


def _where(rows: list, shown: int, table: str) -> str:
    return f" (the first {shown} below, all in {table}.tsv)" if len(rows) > shown else ""


def cell(value: object) -> str:
    """A value of an archive as a cell of a table: a number with four decimals, or 80 printable characters."""
    if isinstance(value, float):
        return f"{value:.4f}"
    text = "" if value is None else str(value)
    return "".join(character if character.isprintable() else " " for character in text[:80])
