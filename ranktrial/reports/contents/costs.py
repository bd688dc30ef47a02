"""Costs of the systems, as a table and figures, and the machines and the running time of an experiment.

Reads timing files; writes nothing.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.version import VERSION
from ranktrial.experiment.results_paths import parse
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.number_text import decimals_for
from ranktrial.reports.figures.cost_data import ALONE, side_by_side
from ranktrial.reports.writing.content import (
    Block,
    Cell,
    Column,
    Folded,
    Paragraph,
    Section,
    Span,
    Table,
    Text,
    bulleted,
    columns,
    counted,
)

COLUMNS = {
    "end_to_end_p50_ms": "Median latency (ms)",
    "end_to_end_queries_per_second": "Queries per second",
    "end_to_end_encoding_seconds": "Encoding (s)",
    "end_to_end_training_seconds": "Training (s)",
    "end_to_end_peak_rss_mb": "Peak memory (MB)",
    "end_to_end_peak_gpu_mb": "Peak GPU memory (MB)",
    "end_to_end_index_mb": "Index (MB)",
    "end_to_end_weights_mb": "Weights (MB)",
}
RANGED = ("end_to_end_p50_ms", "end_to_end_training_seconds")
CAPTION = (
    "Cost of each system, end to end: each number includes the systems whose runs a system uses. Means over tasks and "
    "seeds, with the lowest and highest values in parentheses; blank: there is none. Latency is that of one query at a "
    "time, queries per second that of all queries in batches; memory is the most that a step takes except training. "
    "Not included: tuning on dev and building Lucene's index (their seconds are in benchmarks/)."
)
SOURCE = "tables/costs.tsv"
FRONT = (
    "Each figure plots the effects over one control against their cost. The dashed line is the Pareto front of the "
    "means. Filled systems are on it, or off it only by noise: no other system costs no more and gains no less, "
    "with one of the two differing by more than noise (disjoint intervals of effects, or ranges of costs at least "
    "a tenth apart). Overlap is a cautious rule: the effects are paired, over one control and the same queries, so "
    "systems whose intervals overlap may still differ significantly."
)


@dataclass(frozen=True)
class Shown:
    """Whether figures of costs follow, and how times were measured."""

    figures: Annotated[bool, "the section has figures"] = False
    exclusive: Annotated[bool, "searches and rankings ran one at a time"] = False


def costs(table: pd.DataFrame, shown: Shown, labels: Labels) -> Section:
    """Costs, one row per system, how they were measured, and how to read the figures that follow."""
    said = ["Times exclude loading and a warm-up", f"measured on {', '.join(sorted(set(table['device'])))}"]
    said += filter(None, [side_by_side(table["other_cores"].dropna().tolist())])
    alone = [Paragraph(ALONE)] if shown.exclusive else []
    blocks: list[Block] = [Paragraph(f"{'; '.join(said)}."), *alone, costs_table(table, labels)]
    for work in ("inference", "fine-tuning"):
        blocks.append(Folded(f"Models by tasks: {work} times", [], f"tables/{work}-times.md"))
    blocks += [Paragraph(FRONT)] if shown.figures else []
    return Section("Costs", blocks, anchor="costs")


def costs_table(costs: pd.DataFrame, labels: Labels) -> Table:
    """One row per system: times and memory, means over tasks and seeds; what was never measured is left out."""
    shown = [name for name in COLUMNS if name in costs and costs[name].fillna(0).any()]
    rows = [
        [labels.system(str(system)), *(_measured(runs[name].dropna().tolist(), name in RANGED) for name in shown)]
        for system, runs in costs.groupby("system", sort=False)
    ]
    return Table(
        columns(["System", *(COLUMNS[name] for name in shown)]), [rows], caption=CAPTION, source="tables/costs.tsv"
    )


def _measured(values: list[float], ranged: bool) -> str | Cell:
    """The mean of the measured values and, if `ranged` and they differ, their range; empty where there is none."""
    if not any(values):
        return ""
    mean = sum(values) / len(values)
    form = f",.{_decimals(mean)}f"
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return Cell(f"{mean:{form}} ({low} to {high})" if ranged and low != high else f"{mean:{form}}", mean)


def _decimals(mean: float) -> int:
    """None from 100 on, one from 0.1 on, below that two significant digits."""
    if not math.isfinite(mean) or mean >= 100:
        return 0
    return 1 if mean >= 0.1 or mean <= 0 else decimals_for(mean)


WORK = {
    "checkpoint_timing": "Training",
    "ranker_timing": "Training",
    "refitted_ranker_timing": "Training",
    "embeddings_timing": "Encoding",
    "run_timing": "Ranking",
    "split_run_timing": "Ranking",
    "pair_scores_timing": "Ranking",
}


def read_timings(paths: list[Path]) -> list[dict]:
    """The timing files, each with the `kind` of work that its place says, and the `system` and `task` that it is of."""
    places = {path: parse(str(path)) for path in paths}
    return [
        json.loads(path.read_text()) | {"kind": WORK[name], "system": fields.get("system"), "task": fields.get("task")}
        for path, (name, fields) in places.items()
    ]


def prompts_text(timings: list[dict]) -> str:
    """The prompts before texts, by the systems that used them, with the tasks if they differ; empty without any."""
    tasks: dict[str, dict[str, dict[str, None]]] = {}  # by system and texts
    for timing in timings:
        if timing.get("prompts") and timing["system"]:
            texts = [f"{role} {json.dumps(text, ensure_ascii=False)}" for role, text in timing["prompts"].items()]
            of_texts = tasks.setdefault(timing["system"], {}).setdefault(" and ".join(texts), {})
            of_texts[str(timing["task"])] = None
    systems: dict[str, list[str]] = {}
    for system, by_texts in tasks.items():
        for texts, where in by_texts.items():
            systems.setdefault(texts, []).append(f"{system} on {', '.join(where)}" if len(by_texts) > 1 else system)
    return "; ".join(f"{texts} ({', '.join(names)})" for texts, names in systems.items())


@dataclass(frozen=True)
class Origin:
    """The origin of a page: its date, commit, machine and configuration."""

    date: str
    commit: str
    machine: str
    configuration: str

    def facts(self) -> list[tuple[str, str]]:
        """The same as facts of one line each."""
        written = [("Written", f"{self.date}, on {self.machine}"), ("Commit", self.commit)]
        return [*written, *unchanging(self.configuration)]


def unchanging(configuration: str) -> list[tuple[str, str]]:
    """The facts that do not change between runs: the version, and the configuration that reproduces the page."""
    rerun = f"{configuration}, with all defaults; snakemake --configfile {configuration} runs it again"
    return [("Version", f"ranktrial {VERSION}"), ("Configuration", rerun)]


@dataclass(frozen=True)
class Seeds:
    """The seeds of an experiment."""

    data: Annotated[int, "of data and tests"]
    training: Annotated[dict[str, list[int]], "system: its seeds"]

    def lines(self) -> list[Text]:
        """The same as one line each."""
        trained = self.training.items()
        of_systems = [f"Seeds of training of {system}: {', '.join(map(str, seeds))}" for system, seeds in trained]
        return [f"Seed of data and tests: {self.data}", *of_systems]


def made(
    origin: Origin, jobs: dict[str, int], feeds: list[list[str]], timings: list[dict], seeds: list[Text]
) -> Section:
    """How the experiment was made: its origin, rules with their jobs, devices with their times, versions, seeds."""
    ran = f"{counted(sum(jobs.values()), 'job')} of {counted(len(jobs), 'rule')}"
    said = f"ranktrial {VERSION} ran {ran}, from raw data to this page."
    blocks: list[Block] = [Paragraph(said), Folded("Rules of the workflow", [rules_table(jobs, feeds)])]
    blocks += [machine_table(timings)] if timings else []
    known = [*origin.facts(), *(facts(timings) if timings else [])]
    lines = [(Span(name, "strong"), f": {text}") for name, text in known]
    return Section("How it was made", [*blocks, *bulleted([*lines, *seeds])], anchor="made")


def rules_table(jobs: dict[str, int], feeds: list[list[str]]) -> Table:
    """The rules with their numbers of jobs, and the rules whose outputs each of them reads."""
    takes = {name: ", ".join(before for before, then in feeds if then == name and before != name) for name in jobs}
    rows = [[name, f"{count:,}", takes[name]] for name, count in jobs.items()]
    return Table([Column("Rule"), Column("Jobs", "r"), Column("Uses files of")], [rows])


def machine_table(timings: list[dict]) -> Table:
    """Devices with processor, threads and precision: how many jobs of each kind were timed, and their hours."""
    seconds_of: dict[tuple, list[float]] = {}
    for timing in timings:
        where = (timing["kind"], timing["device"], timing.get("processor") or "", timing.get("precision") or "")
        seconds_of.setdefault(where, []).append(float(timing.get("seconds") or 0))
    rows = [
        [*where, f"{len(seconds):,}", Cell(duration(sum(seconds)), sum(seconds))]
        for where, seconds in sorted(seconds_of.items())
    ]
    heads = columns(["Work", "Device", "Processor", "Precision", "Jobs", "Total time"], words=4)
    return Table(heads, [rows], caption="Timed work by device, without loading and warm-up.")


def duration(seconds: float) -> str:
    """A time in seconds, minutes or hours, by its size."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


COUNTERS = {"processor": "processor packages, with everything that ran on them", "gpu": "graphics cards"}


def energy_text(timings: list[dict]) -> str:
    """The measured energy in kilojoules, by counter, with the number of timed jobs that measured it."""
    counted = [timing["energy_joules"] for timing in timings if timing.get("energy_joules")]
    if not counted:
        return "not measured: no counter of these machines could be read"
    sums = {name: sum(joules.get(name, 0.0) for joules in counted) / 1000 for name in COUNTERS}
    parts = [f"{used:,.1f} kJ of {COUNTERS[name]}" for name, used in sums.items() if used]
    return f"{' and '.join(parts)}, in {len(counted)} of {len(timings)} timed jobs"


def facts(timings: list[dict]) -> list[tuple[str, str]]:
    """Facts of one line each: versions, threads, time on graphics processors."""
    versions: dict[str, set[str]] = {}
    for timing in timings:
        for name, version in timing.get("versions", {}).items():
            versions.setdefault(name, set()).add(version)
    listed = [f"{name} {' and '.join(sorted(numbers))}" for name, numbers in sorted(versions.items())]
    lines = [("Versions", ", ".join(listed))]
    threads = sorted({timing["threads"] for timing in timings if timing.get("threads")})
    lines.append(("Threads per job", ", ".join(map(str, threads))))
    here = [timing for timing in timings if "calls" not in timing]  # others were an endpoint's
    on_gpu = sum(float(timing.get("seconds") or 0) for timing in here if timing["device"] != "cpu")
    lines.append(("Time on GPUs", duration(on_gpu) if on_gpu else "none: everything ran on processors"))
    lines.append(("Side by side", side_by_side([one["other_cores"] for one in here if "other_cores" in one])))
    lines.append(("Prompts", prompts_text(timings)))
    lines.append(("Energy", energy_text(here)))
    return [(name, text) for name, text in lines if text]
