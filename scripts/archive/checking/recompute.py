"""Recompute what an archive's runs and judgements imply: metrics, effects, summaries, tables, figures and reports.

Every job of the stages selection, evaluation, synthesis and reports that the archive's configuration asks for runs
again on the archive's inputs, and what it writes is compared with what the archive holds.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.archive.checking.confined import Confinement, own_script, own_site
from scripts.archive.checking.expected import completed, configuration, expected, read_configuration
from scripts.archive.checking.tolerance import compare
from scripts.archive.checking.tracing import Traced, identity_findings, traced
from scripts.archive.crate import layout
from scripts.archive.crate.bounds import why_no_gzip
from scripts.archive.crate.shapes import read_record
from scripts.common.errors import UserError
from scripts.common.paths import below
from scripts.experiment.results_paths import KINDS

NOT_HERE, CONTRADICTED = "cannot be recomputed here", "not accounted for"
NEEDED = ("numpy", "scipy", "pandas", "matplotlib", "ir_measures", "jinja2", "snakemake", "jsonschema")


@dataclass(frozen=True)
class Verdict:
    """One artefact: what became of it and why."""

    path: str
    kind: str
    verdict: str
    reason: str = ""


def accounted(folder: Path, manifest: dict, sources: Path, same_sources: bool, confinement: Confinement) -> Traced:
    """What the records of the archive unpacked in `folder` account for. Raises UserError for bad records."""
    jobs, state, origin = (read_record(folder, name) for name in (layout.JOBS, layout.STATE, layout.ORIGIN))
    config = configuration(folder, state["config_files"], manifest["experiment"])
    found = traced(manifest, jobs, expected(folder, config, jobs, sources, confinement), same_sources)
    found.findings = identity_findings(read_record(folder, layout.IDENTITIES), manifest) | found.findings
    if same_sources and completed(config, layout.RESOLVED) not in (None, read_configuration(folder, layout.RESOLVED)):
        found.findings[layout.RESOLVED] = "is not the configuration as written, with the schema's defaults"
    if origin["experiment"] != manifest["experiment"] or origin["extent"] not in (layout.LEAN, layout.FULL):
        found.findings[layout.ORIGIN] = "tells of another experiment or extent than the manifest"
    if origin["extent"] == layout.FULL and manifest["absent"]:
        found.findings[layout.ORIGIN] = f"says that everything is in the archive; {min(manifest['absent'])} is not"
    return found


def verdicts(
    folder: Path, manifest: dict, sources: Path, same_sources: bool, confinement: Confinement
) -> list[Verdict]:
    """A verdict for every result of the archive unpacked in `folder`, computed by `sources`. Raises UserError."""
    if lacking := next((name for name in NEEDED if not _installed(name)), None):
        raise UserError(f"the Python package {lacking} is not installed; --recompute needs those of requirements.lock")
    found = accounted(folder, manifest, sources, same_sources, confinement)
    said = [_verdict(path, CONTRADICTED, reason, manifest) for path, reason in found.findings.items()]
    said += [_verdict(path, NOT_HERE, reason, manifest) for path, reason in found.elsewhere.items()]
    for path in {path for job in found.queue for path in job["inputs"] if path.endswith(".gz")}:
        if reason := why_no_gzip(below(folder, path, "archive")):
            raise UserError(f"{path}: refused, it {reason}")
    with confinement.folder("recompute") as place:
        for done in _run(folder, place, sources, found.queue, confinement):
            recomputed = place / f"worker-{done['worker']}/recomputed"
            said += [_judged(folder, recomputed, path, done["failure"], manifest) for path in done["files"]]
    order = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(said, key=lambda one: (order.get(one.kind, -1), one.path, one.verdict))


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _lay_out(folder: Path, place: Path, queue: list[dict]) -> None:
    """A worker's folder, with what its jobs read: results, and files among the sources such as published numbers."""
    place.mkdir()
    for path in {path for job in queue for path in job["inputs"]}:
        archived = below(folder, path, "archive")
        if not path.startswith("results/"):
            archived = below(folder, layout.WORKFLOW + path, "archive")
        target = below(place, path, "archive")
        target.parent.mkdir(parents=True, exist_ok=True)
        if archived.is_dir():
            shutil.copytree(archived, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(archived, target)


def _run(folder: Path, place: Path, sources: Path, queue: list[dict], confinement: Confinement) -> list[dict]:
    """Run the jobs, spread over the processor's cores; each worker is a process with its own copy of the inputs."""
    workers = min(len(queue), os.cpu_count() or 1, 4)
    script = [own_script("rerun.py", sources)]
    started = []
    for number in range(workers):
        worker, share = place / f"worker-{number}", queue[number::workers]
        _lay_out(folder, worker, share)
        process = subprocess.Popen(confinement.command(script, worker), cwd=worker, stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=confinement.environment(worker))  # fmt: skip
        asked = {"sources": str(sources.resolve()), "packages": [own_site()] if own_site() else [], "jobs": share}
        try:
            process.stdin.write(json.dumps(asked))
            process.stdin.close()
        except BrokenPipeError:  # it ended at once: its jobs are lost
            pass
        started.append((process, share))
    return [done for number, one in enumerate(started) for done in _answers(number, *one)]


def _answers(number: int, process: subprocess.Popen, share: list[dict]) -> list[dict]:
    """What became of each of a worker's jobs, in their order; nothing else that a process writes counts."""
    failures = []
    for line in process.stdout:
        try:
            failures.append(json.loads(line)["failure"])
        except (ValueError, KeyError, TypeError):
            break
    process.stdout.close()
    process.wait()
    lost = ["the process that ran it ended early"] * (len(share) - len(failures))
    told = [one if one is None or isinstance(one, str) else "it failed" for one in failures] + lost
    return [{**job, "worker": number, "failure": failure} for job, failure in zip(share, told, strict=False)]


def _judged(folder: Path, recomputed: Path, path: str, failure: str | None, manifest: dict) -> Verdict:
    ours, theirs = below(folder, path, "archive"), recomputed / path
    if failure or theirs.is_symlink() or not theirs.is_file() or not _inside(theirs, recomputed):
        said = " ".join((failure or "it wrote no such file").split())[:300]
        return _verdict(path, "different", f"its job failed: {said}", manifest)
    verdict, reason = compare(ours, theirs)
    if verdict == "different" and re.search(r"\.(png|pdf)$", path):
        drawn = [one.with_suffix(".svg") for one in (ours, theirs)]
        same = all(one.is_file() for one in drawn) and compare(*drawn)[0] != "different"
        if same and (other := _other_version(folder)):
            return _verdict(path, NOT_HERE, f"the SVG agrees; {other} renders it in other bytes", manifest)
    return _verdict(path, verdict, reason, manifest)


def _inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _other_version(folder: Path) -> str | None:
    """matplotlib's version here, if the archive's figures were drawn by another."""
    environments = read_record(folder, layout.PACKAGES).values()
    then = next((one["packages"]["matplotlib"] for one in environments if "matplotlib" in one["packages"]), "unknown")
    now = importlib.metadata.version("matplotlib")
    return f"matplotlib {now} (the archive's: {str(then)[:20]})" if now != then else None


def _verdict(path: str, verdict: str, reason: str, manifest: dict) -> Verdict:
    return Verdict(path, layout.kind_of(path, manifest["experiment"]), verdict, reason)
