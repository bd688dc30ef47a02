"""On what an experiment ran and how long, from its timing files; writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.experiment.results_paths import parse
from scripts.reports.page.tables import Cell, Table

WORK = {
    "checkpoint_timing": "Training",
    "embeddings_timing": "Encoding",
    "passage_embeddings_timing": "Encoding",
    "run_timing": "Ranking",
    "training_run_timing": "Ranking",
}


def read_timings(paths: list[Path]) -> list[dict]:
    """The timing files, each with the `kind` of work that its place under results/ tells."""
    return [json.loads(path.read_text()) | {"kind": WORK[parse(str(path))[0]]} for path in paths]


def machine_table(timings: list[dict]) -> Table:
    """Devices with processor, threads and precision: how many jobs of each kind were timed, and their hours."""
    found: dict[tuple, list[float]] = {}
    for one in timings:
        where = (one["kind"], one["device"], one.get("processor") or "", one.get("precision") or "")
        found.setdefault(where, []).append(float(one.get("seconds") or 0))
    rows = [
        [
            *(Cell(text) for text in where),
            Cell(f"{len(seconds):,}", len(seconds)),
            Cell(duration(sum(seconds)), sum(seconds)),
        ]
        for where, seconds in sorted(found.items())
    ]
    names = [("Work", False), ("Device", False), ("Processor", False), ("Precision", False)]
    caption = "Timed work by device; loading and warm-up are not in the times."
    return Table(caption, [*names, ("Jobs", True), ("Time in all", True)], rows)


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


def facts(timings: list[dict]) -> list[tuple[str, str]]:
    """What a reader wants in a line each: versions, threads, time on graphics processors."""
    versions: dict[str, set[str]] = {}
    for one in timings:
        for name, version in one.get("versions", {}).items():
            versions.setdefault(name, set()).add(version)
    said = [
        ("Versions", ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items())))
    ]
    threads = sorted({one["threads"] for one in timings if one.get("threads")})
    said.append(("Threads a job", ", ".join(map(str, threads))))
    on_gpu = sum(float(one.get("seconds") or 0) for one in timings if one["device"] != "cpu")
    said.append(("Time on GPUs", duration(on_gpu) if on_gpu else "none: everything ran on processors"))
    said.append(("Energy", "not measured"))
    return [(name, text) for name, text in said if text]
