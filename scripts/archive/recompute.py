"""Recompute what an archive's runs and judgements imply: metrics, effects, summaries, tables, figures and reports.

Every job of the stages evaluation, synthesis and reports runs again on the archive's inputs, and what it writes is
compared with what the archive holds.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.archive import layout
from scripts.archive.commands import RECOMPUTED, arguments, script_of, stage_of
from scripts.archive.tolerance import compare

NOT_HERE = "cannot be recomputed here"
NEEDED = ("numpy", "scipy", "pandas", "matplotlib", "ir_measures", "jinja2")


@dataclass(frozen=True)
class Verdict:
    """One artefact: what became of it and why."""

    path: str
    kind: str
    verdict: str
    reason: str = ""


def verdicts(folder: Path, sources: Path) -> list[Verdict]:
    """A verdict for every output of every job, of the archive unpacked in `folder`, computed by `sources`."""
    manifest = json.loads((folder / layout.MANIFEST).read_text())
    jobs = json.loads((folder / layout.JOBS).read_text())
    found, queue = [], []
    for job in jobs:
        held = [path for path in job["outputs"] if path in manifest["files"]]
        reason, words = _obstacle(job, manifest, sources)
        if reason:
            found += [_verdict(path, NOT_HERE, reason, manifest) for path in held]
        else:
            read = [path for path in job["inputs"] if not path.startswith("scripts/")]
            queue.append({"words": words, "outputs": list(job["outputs"]), "inputs": read})
    for done in _run(folder, sources, queue):
        found += [
            _judged(folder, folder / f"worker-{done['worker']}/recomputed" / path, path, done["failure"], manifest)
            for path in done["outputs"]
        ]
    return sorted(
        found, key=lambda one: (list(layout.KINDS).index(one.kind) if one.kind in layout.KINDS else -1, one.path)
    )


def _obstacle(job: dict, manifest: dict, sources: Path) -> tuple[str | None, list[str]]:
    """Why a job cannot run here, or the words of its command."""
    script = script_of(job["command"]) or ""
    missing = [path for path in job["inputs"] if not path.startswith("scripts/") and not _held(path, manifest)]
    if missing:
        kind = layout.kind_of(missing[0], manifest["experiment"])
        kind = "file from outside" if kind == "description" else kind
        return f"made by {job['rule']} from a {kind} that is not in the archive ({missing[0]})", []
    if stage_of(script) not in RECOMPUTED:
        return f"made by {job['rule']}, which trains, indexes or ranks", []
    if lacking := [name for name in NEEDED if not _installed(name)]:
        return f"made by {job['rule']}: the Python package {lacking[0]} is not installed", []
    if not (sources / script).is_file():
        return f"made by {script}, which these sources do not have", []
    words = arguments(job["command"])
    return (None, words) if words else (f"its command is not of a kind that is run here: {job['command'][:80]}", [])


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _held(path: str, manifest: dict) -> bool:
    return path in manifest["files"] or layout.WORKFLOW + path in manifest["files"]


def _lay_out(folder: Path, number: int, queue: list[dict]) -> Path:
    """A worker's folder, with what its jobs read: results, and files among the sources such as published numbers."""
    place = folder / f"worker-{number}"
    place.mkdir()
    for path in {path for job in queue for path in job["inputs"]}:
        archived = next(one for one in (folder / path, folder / layout.WORKFLOW / path) if one.is_file())
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(archived, place / path)
    return place


def _run(folder: Path, sources: Path, queue: list[dict]) -> list[dict]:
    """Run the jobs, spread over the processor's cores; each worker is a process with its own copy of the inputs."""
    workers = min(len(queue), os.cpu_count() or 1, 4)
    environment = os.environ | {"PYTHONPATH": str(sources), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    started = []
    for number in range(workers):
        command = [sys.executable, "-B", str(sources / "scripts/archive/rerun.py")]
        place = _lay_out(folder, number, queue[number::workers])
        process = subprocess.Popen(command, cwd=place, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        process.stdin.write(json.dumps({"sources": str(sources.resolve()), "jobs": queue[number::workers]}))
        process.stdin.close()
        started.append(process)
    done = [{**json.loads(line), "worker": number} for number, one in enumerate(started) for line in one.stdout]
    for process in started:
        process.wait()
    finished = {path for one in done for path in one["outputs"]}
    lost = [job for job in queue if job["outputs"][0] not in finished]
    return done + [
        {"outputs": job["outputs"], "failure": "the process that ran it ended early", "worker": 0} for job in lost
    ]


def _judged(folder: Path, theirs: Path, path: str, failure: str | None, manifest: dict) -> Verdict:
    ours = folder / path
    if failure or not theirs.is_file():
        return _verdict(path, "different", f"its job failed: {failure or 'it wrote no such file'}", manifest)
    verdict, reason = compare(ours, theirs)
    if verdict == "different" and re.search(r"\.(png|pdf)$", path):
        same = compare(ours.with_suffix(".svg"), theirs.with_suffix(".svg"))[0] != "different"
        if same and (other := _other_version(folder)):
            return _verdict(path, NOT_HERE, f"the SVG agrees; {other} renders it in other bytes", manifest)
    return _verdict(path, verdict, reason, manifest)


def _other_version(folder: Path) -> str | None:
    """matplotlib's version here, if the archive's figures were drawn by another."""
    environments = json.loads((folder / layout.PACKAGES).read_text()).values()
    then = next((one["packages"]["matplotlib"] for one in environments if "matplotlib" in one["packages"]), "unknown")
    now = importlib.metadata.version("matplotlib")
    return f"matplotlib {now} (the archive's: {then})" if now != then else None


def _verdict(path: str, verdict: str, reason: str, manifest: dict) -> Verdict:
    return Verdict(path, layout.kind_of(path, manifest["experiment"]), verdict, reason)
