"""Recompute what follows from an archive's runs and judgements: metrics, effects, summaries, tables, figures, reports.

Every job of the stages selection, evaluation, synthesis and reports that the archive's configuration needs runs again
on the archive's inputs, and its outputs are compared with those in the archive.
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

from ranktrial.archive.checking.confined import Confinement, own_script, own_site
from ranktrial.archive.checking.expected import completed, configuration, expected, read_configuration
from ranktrial.archive.checking.tolerance import compare
from ranktrial.archive.checking.tracing import Traced, identity_findings, traced
from ranktrial.archive.crate import layout
from ranktrial.archive.crate.bounds import why_no_gzip
from ranktrial.archive.crate.shapes import read_record
from ranktrial.common.errors import UserError
from ranktrial.common.paths import below
from ranktrial.experiment.results_paths import KINDS

NOT_HERE, CONTRADICTED = "cannot be recomputed here", "not accounted for"
NEEDED = ("numpy", "scipy", "pandas", "matplotlib", "ir_measures", "jinja2", "snakemake", "jsonschema")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one file of an archive, with the reason."""

    path: str
    kind: str
    verdict: str
    reason: str = ""


def accounted(folder: Path, manifest: dict, sources: Path, same_sources: bool, confinement: Confinement) -> Traced:
    """Which results the records of the archive unpacked in `folder` explain. Raises UserError for bad records."""
    jobs, state, origin = (read_record(folder, name) for name in (layout.JOBS, layout.STATE, layout.ORIGIN))
    config = configuration(folder, state["config_files"], manifest["experiment"])
    accounts = traced(manifest, jobs, expected(folder, config, jobs, sources, confinement), same_sources)
    accounts.findings = identity_findings(read_record(folder, layout.IDENTITIES), manifest) | accounts.findings
    if same_sources and completed(config, layout.RESOLVED) not in (None, read_configuration(folder, layout.RESOLVED)):
        accounts.findings[layout.RESOLVED] = "is not the configuration as written, with the schema's defaults"
    if origin["experiment"] != manifest["experiment"] or origin["extent"] not in (layout.LEAN, layout.FULL):
        accounts.findings[layout.ORIGIN] = "is the record of another experiment or extent than the manifest"
    if origin["extent"] == layout.FULL and manifest["absent"]:
        accounts.findings[layout.ORIGIN] = f"says that everything is in the archive; {min(manifest['absent'])} is not"
    return accounts


def verdicts(
    folder: Path, manifest: dict, sources: Path, same_sources: bool, confinement: Confinement
) -> list[Verdict]:
    """A verdict for every result of the archive unpacked in `folder`, recomputed by `sources`. Raises UserError."""
    if missing := next((name for name in NEEDED if not _installed(name)), None):
        raise UserError(f"the Python package {missing} is not installed; --recompute needs those of requirements.lock")
    accounts = accounted(folder, manifest, sources, same_sources, confinement)
    results = [_verdict(path, CONTRADICTED, reason, manifest) for path, reason in accounts.findings.items()]
    results += [_verdict(path, NOT_HERE, reason, manifest) for path, reason in accounts.elsewhere.items()]
    for path in {path for job in accounts.queue for path in job["inputs"] if path.endswith(".gz")}:
        if reason := why_no_gzip(below(folder, path, "archive")):
            raise UserError(f"{path}: refused, it {reason}")
    with confinement.folder("recompute") as place:
        for job in _run(folder, place, sources, accounts.queue, confinement):
            recomputed = place / f"worker-{job['worker']}/recomputed"
            results += [_judged(folder, recomputed, path, job["failure"], manifest) for path in job["files"]]
    order = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(results, key=lambda verdict: (order.get(verdict.kind, -1), verdict.path, verdict.verdict))


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _lay_out(folder: Path, place: Path, queue: list[dict]) -> None:
    """Fill a worker's folder with the inputs of its jobs: results, and files of the sources (published numbers)."""
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
    """Run the jobs in parallel and return them with failures; each worker has its own copy of the inputs."""
    workers = min(len(queue), os.cpu_count() or 1, 4)
    script = [own_script("rerun.py", sources)]
    started = []
    for number in range(workers):
        worker, share = place / f"worker-{number}", queue[number::workers]
        _lay_out(folder, worker, share)
        process = subprocess.Popen(confinement.command(script, worker), cwd=worker, stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=confinement.environment(worker))  # fmt: skip
        request = {"sources": str(sources.resolve()), "packages": [own_site()] if own_site() else [], "jobs": share}
        try:
            process.stdin.write(json.dumps(request))
            process.stdin.close()
        except BrokenPipeError:  # it ended at once; _answers reports its jobs as lost
            pass
        started.append((process, share))
    return [answer for number, worker_and_jobs in enumerate(started) for answer in _answers(number, *worker_and_jobs)]


def _answers(number: int, process: subprocess.Popen, share: list[dict]) -> list[dict]:
    """The jobs of a worker in order, each with its failure or None. Other output of the process is ignored."""
    failures = []
    for line in process.stdout:
        try:
            failures.append(json.loads(line)["failure"])
        except (ValueError, KeyError, TypeError):
            break
    process.stdout.close()
    process.wait()
    lost = ["the process that ran it ended early"] * (len(share) - len(failures))
    reports = [failure if failure is None or isinstance(failure, str) else "it failed" for failure in failures] + lost
    return [{**job, "worker": number, "failure": failure} for job, failure in zip(share, reports, strict=False)]


def _judged(folder: Path, recomputed: Path, path: str, failure: str | None, manifest: dict) -> Verdict:
    ours, theirs = below(folder, path, "archive"), recomputed / path
    if failure or theirs.is_symlink() or not theirs.is_file() or not _inside(theirs, recomputed):
        message = " ".join((failure or "it wrote no such file").split())[:300]
        return _verdict(path, "different", f"its job failed: {message}", manifest)
    verdict, reason = compare(ours, theirs)
    if verdict == "different" and re.search(r"\.(png|pdf)$", path):
        figures = [figure.with_suffix(".svg") for figure in (ours, theirs)]
        same = all(figure.is_file() for figure in figures) and compare(*figures)[0] != "different"
        if same and (version := _other_version(folder)):
            return _verdict(path, NOT_HERE, f"the SVG agrees; {version} renders it in other bytes", manifest)
    return _verdict(path, verdict, reason, manifest)


def _inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _other_version(folder: Path) -> str | None:
    """matplotlib's version here and in the archive; None if they are the same."""
    packages = [environment["packages"] for environment in read_record(folder, layout.PACKAGES).values()]
    then = next((versions["matplotlib"] for versions in packages if "matplotlib" in versions), "unknown")
    now = importlib.metadata.version("matplotlib")
    return f"matplotlib {now} (the archive's: {str(then)[:20]})" if now != then else None


def _verdict(path: str, verdict: str, reason: str, manifest: dict) -> Verdict:
    return Verdict(path, layout.kind_of(path, manifest["experiment"]), verdict, reason)
