"""Recompute what follows from an archive's runs and judgements: metrics, effects, summaries, tables, figures, reports.

Every job of the stages selection, evaluation, synthesis and reports that the archive's configuration needs runs again
on the archive's inputs, and its outputs are compared with those in the archive: byte for byte, or number by number
within a stated tolerance. On other hardware, recomputed sums of doubles may differ in the last digits; nothing else
may.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ranktrial.archive import layout
from ranktrial.archive.expected import (
    ROOT,
    completed,
    configuration,
    environment,
    expected,
    fresh_folder,
    isolated,
    own_site,
    read_configuration,
)
from ranktrial.archive.shapes import read_record, why_no_gzip
from ranktrial.archive.tracing import Traced, identity_findings, traced
from ranktrial.common.errors import UserError
from ranktrial.common.paths import below
from ranktrial.experiment.results_paths import KINDS

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # doubles have 16 digits; a sum over thousands of queries loses a few of them
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
DATES = re.compile(rb"<dc:date>.*?</dc:date>|/(?:Creation|Mod)Date \([^)]*\)", re.DOTALL)
BINARY = (".png", ".pdf", ".gz")

IDENTICAL, EQUAL, DIFFERENT = "identical", "equal within tolerance", "different"
NOT_HERE, CONTRADICTED = "cannot be recomputed here", "not accounted for"
NEEDED = ("numpy", "scipy", "pandas", "matplotlib", "ir_measures", "jinja2", "snakemake", "jsonschema")


def compare(ours: Path, theirs: Path) -> tuple[str, str]:
    """The verdict and a text of the first difference. Dates inside figures are ignored."""
    a, b = (DATES.sub(b"", path.read_bytes()) for path in (ours, theirs))
    if a == b:
        return IDENTICAL, ""
    if ours.suffix in BINARY:
        return DIFFERENT, "bytes differ"
    try:
        return _texts(a.decode(), b.decode())
    except UnicodeDecodeError:
        return DIFFERENT, "bytes differ"


def _texts(a: str, b: str) -> tuple[str, str]:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        pairs = zip(a.splitlines(), b.splitlines(), strict=False)
        line = next((n for n, (x, y) in enumerate(pairs, 1) if NUMBER.sub("#", x) != NUMBER.sub("#", y)), "end")
        return DIFFERENT, f"line {line}: the text differs"
    for first, second in zip(NUMBER.finditer(a), NUMBER.finditer(b), strict=True):
        if not math.isclose(float(first[0]), float(second[0]), rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            line = a.count("\n", 0, first.start()) + 1
            return DIFFERENT, f"line {line}: {first[0]} became {second[0]}"
    return EQUAL, f"numbers agree to a relative {RELATIVE:g} or an absolute {ABSOLUTE:g}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one file of an archive, with the reason."""

    path: str
    kind: str
    verdict: str
    reason: str = ""


def accounted(folder: Path, manifest: dict, same_sources: bool) -> Traced:
    """Which results the records of the archive unpacked in `folder` explain. Raises UserError for bad records."""
    jobs, state, origin = (read_record(folder, name) for name in (layout.JOBS, layout.STATE, layout.ORIGIN))
    config = configuration(folder, state["config_files"], manifest["experiment"])
    accounts = traced(manifest, jobs, expected(folder, config, jobs), same_sources)
    accounts.findings = identity_findings(read_record(folder, layout.IDENTITIES), manifest) | accounts.findings
    if same_sources and completed(config, layout.RESOLVED) != read_configuration(folder, layout.RESOLVED):
        accounts.findings[layout.RESOLVED] = "is not the configuration as written, with the schema's defaults"
    if origin["experiment"] != manifest["experiment"] or origin["extent"] not in (layout.LEAN, layout.FULL):
        accounts.findings[layout.ORIGIN] = "is the record of another experiment or extent than the manifest"
    if origin["extent"] == layout.FULL and manifest["absent"]:
        accounts.findings[layout.ORIGIN] = f"says that everything is in the archive; {min(manifest['absent'])} is not"
    return accounts


def verdicts(folder: Path, manifest: dict, same_sources: bool) -> list[Verdict]:
    """A verdict for every result of the archive unpacked in `folder`, recomputed by this clone. Raises UserError."""
    if missing := next((name for name in NEEDED if not _installed(name)), None):
        raise UserError(f"the Python package {missing} is not installed; --recompute needs those of requirements.lock")
    accounts = accounted(folder, manifest, same_sources)
    results = [_verdict(path, CONTRADICTED, reason, manifest) for path, reason in accounts.findings.items()]
    results += [_verdict(path, NOT_HERE, reason, manifest) for path, reason in accounts.elsewhere.items()]
    for path in {path for job in accounts.queue for path in job["inputs"] if path.endswith(".gz")}:
        if reason := why_no_gzip(below(folder, path, "archive")):
            raise UserError(f"{path}: refused, it {reason}")
    with fresh_folder("recompute") as place:
        for job in _run(folder, place, accounts.queue):
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


def _run(folder: Path, place: Path, queue: list[dict]) -> list[dict]:
    """Run the jobs in parallel and return them with failures; each worker has its own copy of the inputs."""
    workers = min(len(queue), os.cpu_count() or 1, 4)
    started = []
    for number in range(workers):
        worker, share = place / f"worker-{number}", queue[number::workers]
        _lay_out(folder, worker, share)
        process = subprocess.Popen(isolated("rerun.py"), cwd=worker, stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=environment(worker))  # fmt: skip
        request = {"sources": str(ROOT), "packages": [own_site()] if own_site() else [], "jobs": share}
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
