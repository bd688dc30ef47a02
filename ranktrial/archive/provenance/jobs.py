"""The record of each job: rule, wildcards, settings, files with their SHA-256, times, machine and benchmark."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from ranktrial.archive.crate.layout import kind_of, result_path
from ranktrial.archive.crate.shapes import FILE, Each, check_shape
from ranktrial.archive.provenance.records import Job
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.common.job_log import HEAD, NONE
from ranktrial.common.strict_json import read_json
from ranktrial.engine.job_code import modules_behind
from ranktrial.engine.job_records import DIRECTORY_STAMP
from ranktrial.experiment import results_paths

OF_THE_MACHINE = ("device", "processor", "threads", "peak_rss_bytes", "peak_gpu_bytes", "versions")


def files_of(path: Path) -> list[Path]:
    """The file, or all files of the folder, in order; none if it is not there."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and file.name != DIRECTORY_STAMP)
    return [path] if path.is_file() else []


@cache
def file_sha256(path: Path) -> str:
    return sha256(path)


def hashes(path: Path, left_out: dict[str, dict]) -> dict[Path, str]:
    """The SHA-256 of a file, or of each file in a folder. A path that does not exist has those of `left_out`."""
    if path.exists():
        return {file: file_sha256(file) for file in files_of(path)}
    return {Path(name): entry["sha256"] for name, entry in left_out.items() if Path(name).is_relative_to(path)}


def tree_sha256(path: Path, left_out: dict[str, dict]) -> str | None:
    """The SHA-256 of a file; of a folder, that of the lines `SHA-256  path inside` of its files; None if unknown."""
    digests = hashes(path, left_out)
    if digests.keys() == {path}:
        return digests[path]
    lines = [f"{digests[file]}  {file.relative_to(path).as_posix()}\n" for file in sorted(digests)]
    return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else None


def read_left_out(experiment: str) -> dict[str, dict]:
    """The files that were left out of the archive from which these results were resumed, by path; empty otherwise.

    Raises UserError if the file is damaged, or names files that no archive leaves out.
    """
    path = Path(results_paths.path("left_out", experiment=experiment))
    if not path.is_file():
        return {}
    entries = read_json(path)
    check_shape(entries, Each(FILE), str(path))
    for name in entries:
        if kind_of(result_path(name, experiment, str(path)), experiment) not in results_paths.HEAVY:
            raise UserError(
                f"{path}: {name!r} is of a kind that no archive leaves out; delete the file and its results"
            )
    return entries


def moment(seconds: float | None) -> str | None:
    """A time stamp as ISO 8601 in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def wildcards_of(job: Job, patterns: list[str]) -> dict[str, str]:
    """The job's wildcards, found by matching its outputs with the rule's output patterns (regular expressions)."""
    for pattern in patterns:
        for path in job.outputs:
            if match := re.fullmatch(pattern.removesuffix("$"), path):
                return match.groupdict()
    return {}


def benchmark_path(job: Job, pattern: str | None, wildcards: dict[str, str]) -> str | None:
    """The path of the job's benchmark, from the rule's pattern, in which {name} is a wildcard."""
    if not pattern:
        return None
    for name, value in wildcards.items():
        place = r"\{" + name + r"(,[^{}]*(\{[^{}]*\}[^{}]*)*)?\}"  # {name} or {name,constraint}
        pattern = re.sub(place, lambda _, value=value: value, pattern)
    return pattern


def described(job: Job, rule: dict, left_out: dict[str, dict]) -> dict:
    """One job as in provenance/jobs.json; `rule` has its outputs' regular expressions and its benchmark's path."""
    record, wildcards = job.record, wildcards_of(job, rule.get("outputs", []))
    read = record["input_checksums"] or {}
    log = (record["log"] or [None])[0]
    timing = next((path for path in job.outputs if path.endswith("timing.json") and Path(path).is_file()), None)
    benchmark = benchmark_path(job, rule.get("benchmark"), wildcards)
    return {
        "rule": record["rule"],
        "wildcards": wildcards,
        "settings": job.settings,
        "code": job.code,
        "command": record["shellcmd"],
        "environment": rule.get("environment"),
        "inputs": {
            path: read.get(path, "").removeprefix("sha256:") or tree_sha256(Path(path), left_out)
            for path in sorted([*job.inputs, *(modules_behind(job.code) if job.code else ())])
        },
        "outputs": {path: tree_sha256(Path(path), left_out) for path in sorted(job.outputs)},
        "start": moment(record["starttime"]),
        "end": moment(record["endtime"]),
        **head_of_log(log),
        "machine": _machine(timing),
        "log": log,
        "benchmark": benchmark,
        "resources": _benchmark(benchmark),
    }


def head_of_log(log: str | None) -> dict[str, str | None]:
    """Host, Slurm job and GPU driver from the log's first lines; None for those that it lacks."""
    facts: dict[str, str | None] = dict.fromkeys(HEAD)
    if log and Path(log).is_file():
        with open(log, encoding="utf-8", errors="replace") as file:
            for name in HEAD:
                key, _, value = file.readline().strip().partition(": ")
                if key != name:
                    break
                facts[name] = None if value == NONE else value
    return {name.replace(" ", "_"): value for name, value in facts.items()}


def _machine(timing: str | None) -> dict | None:
    if timing is None:
        return None
    figures = json.loads(Path(timing).read_text())
    return {key: figures[key] for key in OF_THE_MACHINE if key in figures}


def _benchmark(path: str | None) -> dict | None:
    if not path or not Path(path).is_file():
        return None
    with open(path, newline="") as file:
        return next(csv.DictReader(file, delimiter="\t"), None)
