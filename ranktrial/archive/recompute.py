"""Recompute what follows from an archive's runs and judgements: metrics, effects, summaries, tables, figures, reports.

Every job of the stages selection, evaluation, synthesis and reports that the archive's configuration needs runs again
on the archive's inputs, and its outputs are compared with those in the archive: byte for byte, or number by number
within a stated tolerance. On other hardware, recomputed sums of doubles may differ in the last digits; nothing else
may.

The archive's records must explain its results: each result is traced to a planned job, hash by hash. The records are
not believed: the jobs are those that the sources plan for the configuration. Jobs of the recomputed stages run again;
for the others the reason why they do not is reported. Whatever is missing or contradicts the manifest is a finding.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ranktrial.archive import layout
from ranktrial.archive.expected import (
    completed,
    configuration,
    environment,
    expected,
    fresh_folder,
    isolated,
    read_configuration,
    search_path,
    why_not_laid_out,
)
from ranktrial.archive.jobs import RECOMPUTED, arguments, module_of, same, settings_in, stage_of, words_of
from ranktrial.archive.layout import read_record, shown, why_no_gzip
from ranktrial.common.errors import UserError
from ranktrial.common.paths import OUR_CODE, below
from ranktrial.engine.job_records import DIRECTORY_STAMP
from ranktrial.experiment import results_paths
from ranktrial.experiment.records import UNTRAINED
from ranktrial.experiment.results_paths import KINDS


@dataclass
class Traced:
    """`queue`: jobs to run again; `elsewhere`: file -> why it is not made here; `findings`: file -> what is wrong."""

    queue: list[dict] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)


def results_of(manifest: dict) -> list[str]:
    """The files of an archive that a job must have made."""
    return [
        name
        for name, entry in manifest["files"].items()
        if name.startswith("results/") and entry["kind"] not in layout.NOT_RESULTS
    ]


def traced(manifest: dict, jobs: list[dict], planned: list[dict], same_sources: bool) -> Traced:
    """Compare an archive's records with its manifest and with the jobs that are planned for its configuration.

    With `same_sources` the jobs were planned by the archive's own rules, so the commands have to be the same.
    """
    archived = ArchivedFiles(manifest)
    result = Traced()
    job_of_output: dict[str, dict] = {}
    for job in jobs:
        for path in job["outputs"]:
            if path in job_of_output:
                result.findings[path] = "two jobs record that they made it"
            job_of_output[path] = job
    for job in planned:
        _trace(job, job_of_output, archived, same_sources, result)
    known = {path for job in planned for path in job["outputs"]}
    made = {name for job in planned for path in job["outputs"] for name in archived.below(path)}
    for path in [path for path in job_of_output if path not in known]:
        rule = job_of_output[path]["rule"]
        result.findings.setdefault(path, f"made by {rule}, which the configuration does not ask for")
    for name in [*results_of(manifest), *manifest["absent"]]:
        if name not in made:
            result.findings.setdefault(name, "no job of the workflow makes it")
    for path, finding in _outside(jobs):
        result.findings.setdefault(path, finding)
    for path in result.findings:
        result.elsewhere.pop(path, None)
    return result


class ArchivedFiles:
    """The hashes of the files that an archive holds and of those that it left out, by its manifest."""

    def __init__(self, manifest: dict) -> None:
        self.experiment, self.files = manifest["experiment"], manifest["files"]
        self.rewritten = set(manifest["rewritten"])
        self.entries = {**manifest["absent"], **self.files}
        self.folders: dict[str, list[str]] = {}
        for name in self.entries:
            folder = name.rpartition("/")[0]
            while folder:
                self.folders.setdefault(folder, []).append(name)
                folder = folder.rpartition("/")[0]

    def below(self, path: str) -> list[str]:
        """The files at a path: itself, or those of the folder."""
        return [path] if path in self.entries else self.folders.get(path, [])

    def whole(self, path: str) -> bool:
        """Whether a path is in the archive with all of its files."""
        return bool(self.below(path)) and all(name in self.files for name in self.below(path))

    def fits(self, path: str, sha256: str | None) -> bool:
        """Whether a hash is that of the file or, for a folder, of the lines `SHA-256  path inside` of its files."""
        if path in self.entries:
            return sha256 in (self.entries[path]["sha256"], self.entries[path].get("written") or "none")
        names = [name for name in self.below(path) if not name.endswith(f"/{DIRECTORY_STAMP}")]
        entries = {name: self.entries[name] for name in names}
        for key in ("sha256", "written"):
            lines = [
                f"{entries[name].get(key) or entries[name]['sha256']}  {name.removeprefix(path + '/')}\n"
                for name in sorted(names, key=lambda name: name.split("/"))
            ]
            if lines and hashlib.sha256("".join(lines).encode()).hexdigest() == sha256:
                return True
        return False


def _trace(
    job: dict, job_of_output: dict[str, dict], archived: ArchivedFiles, same_sources: bool, result: Traced
) -> None:
    """Add to `result` for one planned job: is it recorded, do its hashes fit, and can it run again?"""
    script = module_of(job["command"] or "") or ""
    recomputed = stage_of(script) in RECOMPUTED
    records = [job_of_output.get(path) for path in job["outputs"]]
    same_command = same_sources and stage_of(script) != "datasets"
    for path, record in zip(job["outputs"], records, strict=True):
        if contradiction := _contradiction(path, record, job, archived, same_command):
            result.findings[path] = contradiction
    outputs = [name for path in job["outputs"] for name in archived.below(path) if name in archived.files]
    if not recomputed:
        does = "reads texts" if stage_of(script) == "explorer" else "fetches, prepares, trains, indexes or ranks"
        reason = f"made by {job['rule']}, which {does}"
        result.elsewhere |= dict.fromkeys(outputs, reason)
        return
    inputs = [path for path in job["inputs"] if not path.startswith(OUR_CODE)]
    missing = [path for path in inputs if not archived.whole(path)]
    for path in missing:
        if path.startswith("results/") and not archived.below(path):
            result.findings.setdefault(path, f"missing, though {job['rule']} read it")
            result.elsewhere |= dict.fromkeys(outputs, f"made by {job['rule']} from {path}, which is missing")
            return
    lacking = [path for path in missing if path.startswith("results/") or not _among_sources(path, archived)]
    words = arguments(job["command"])
    if lacking:
        kind = layout.kind_of(lacking[0], archived.experiment)
        kind = kind if lacking[0].startswith("results/") else "file from outside"
        reason = f"made by {job['rule']} from a {kind} that is not in the archive ({lacking[0]})"
        result.elsewhere |= dict.fromkeys(outputs, reason)
    elif words is None:
        result.findings |= dict.fromkeys(outputs, f"the command of {job['rule']} is not of a kind that is run here")
    else:
        result.queue.append({"words": words, "outputs": job["outputs"], "inputs": inputs, "files": outputs})


def _among_sources(path: str, archived: ArchivedFiles) -> bool:
    return why_not_laid_out(path) is None and layout.WORKFLOW + path in archived.files


def _contradiction(
    path: str, record: dict | None, job: dict, archived: ArchivedFiles, same_command: bool
) -> str | None:
    """How a job's record contradicts the manifest or the plan, as text; None if it does not."""
    if not archived.below(path):
        return f"missing; {job['rule']} makes it, and the configuration asks for it"
    if record is None:
        return f"no job records that it made it; {job['rule']} does"
    if record["rule"] != job["rule"]:
        return f"its job states the rule {record['rule']}; {job['rule']} makes it"
    if not archived.fits(path, record["outputs"][path]):
        return "its job recorded that it wrote another content (SHA-256)"
    planned = {name for name in job["inputs"] if name.startswith("results/")}
    recorded = {name: sha256 for name, sha256 in record["inputs"].items() if name.startswith("results/")}
    if differing := sorted(planned ^ recorded.keys()):
        negation = "no " if differing[0] in planned else ""
        return f"its job read {negation}{differing[0]}; the workflow plans it otherwise"
    for name, sha256 in recorded.items():
        if not archived.fits(name, sha256):
            return f"its job read another content of {name} (SHA-256) than the archive has"
    for name, sha256 in record["inputs"].items():
        source = archived.files.get(layout.WORKFLOW + name) if name.startswith(OUR_CODE) else None
        if source and sha256 not in (source["sha256"], source.get("written")):
            return f"its job ran another {name} (SHA-256) than the archive has"
    if record["wildcards"] != job["wildcards"]:
        return f"its job records the wildcards {shown(record['wildcards'])}; they are {shown(job['wildcards'])}"
    from_outside = any(not name.startswith(("results/", *OUR_CODE)) for name in job["inputs"])
    if not same_command or from_outside:
        return None  # settings may depend on files from outside
    if not same(job["command"] or "", record["command"] or ""):
        return f"its job ran another command than {job['rule']} does"
    settings = settings_in(words_of(record["command"] or "") or [])
    return None if settings in (None, record.get("settings")) else "its job's settings are not those of its command"


def identity_findings(identities: dict, manifest: dict) -> dict[str, str]:
    """Path -> contradiction, for prepared data and models whose hash in the identities is not that of the manifest."""
    archived, contradictions = ArchivedFiles(manifest), {}
    for section, (folder_of, key) in {"datasets": (_prepared, "prepared"), "models": (_weights, "files")}.items():
        for name, entry in identities[section].items():
            folder = folder_of(archived.experiment, name)
            for file, sha256 in entry[key].items():
                path = folder if file == "." else f"{folder}/{file}"
                if not file.endswith(DIRECTORY_STAMP) and not archived.fits(path, sha256):
                    contradictions[path] = f"{layout.IDENTITIES} says another content (SHA-256) of it"
    return contradictions


def _prepared(experiment: str, dataset: str) -> str:
    return results_paths.path("statistics", experiment=experiment, dataset=dataset).rpartition("/")[0]


def _weights(experiment: str, model: str) -> str:
    return results_paths.path("checkpoint", experiment=experiment, model=model, recipe=UNTRAINED, seed=0)


def _outside(jobs: list[dict]) -> Iterator[tuple[str, str]]:
    """(path, finding) for the files of which two jobs say that they read different content."""
    read: dict[str, str] = {}
    for job in jobs:
        for path, sha256 in job["inputs"].items():
            if sha256 and read.setdefault(path, sha256) != sha256:
                yield path, "two jobs record that they read different contents of it (SHA-256)"


RELATIVE, ABSOLUTE = 1e-9, 1e-12  # doubles have 16 digits; a sum over thousands of queries loses a few of them
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
# When, where and from which commits a figure or a page was written.
DATES = re.compile(
    rb"<dc:date>.*?</dc:date>|/(?:Creation|Mod)Date \([^)]*\)|<strong>(?:Written|Commit)</strong>: [^<\n]*", re.DOTALL
)
BINARY = (".png", ".pdf", ".gz")

IDENTICAL, EQUAL, DIFFERENT = "identical", "equal within tolerance", "different"
NOT_HERE, CONTRADICTED = "cannot be recomputed here", "not accounted for"
NEEDED = ("numpy", "scipy", "pandas", "matplotlib", "ir_measures", "jinja2", "snakemake", "jsonschema")


def compare(ours: Path, theirs: Path) -> tuple[str, str]:
    """The verdict and a text of the first difference; when, where and from which commit a file was written is none."""
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
        request = {"paths": search_path(), "jobs": share}
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
