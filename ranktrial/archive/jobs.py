"""The record of each job behind a set of files: rule, wildcards, settings, files with their SHA-256, times and machine.

Reads Snakemake's records (.snakemake/metadata), the files, and the ledger of what jobs wrote (results/state/sha256).
Results are archived only if they are complete and unchanged, so an archive never states the SHA-256 of data that no job
read. Commands are parsed without a shell and are not trusted: only scripts of the stages in RECOMPUTED run, and only
with paths inside the folder.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from ranktrial.archive import layout
from ranktrial.archive.layout import FILE, Each, check_shape, kind_of, result_path
from ranktrial.common.command_line import HEAD, NONE
from ranktrial.common.digests import content_sha256
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.common.job_code import Code, is_code, modules_behind
from ranktrial.common.ledger import recorded
from ranktrial.common.paths import OUR_CODE
from ranktrial.common.strict_json import plain_json, read_json
from ranktrial.engine.job_records import DIRECTORY_STAMP, record_path, records
from ranktrial.experiment import results_paths
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.resolution import resolve

RUN = ["python", "-P", "-m"]  # how the command of a job begins; its script follows as a module
RECOMPUTED = ("selection", "evaluation", "synthesis", "reports")  # stages that read neither texts nor models
LOG = re.compile(r" --log \S+$")
SETTINGS = "--settings"
# Settings that state the content of the user's data. A plan has placeholders there, and the manifest has the hashes.
OF_CONTENT = ("sha256_of", "content", "versions")
OPTION = re.compile(r"--[a-z][a-z-]*")
METADATA = Path(".snakemake/metadata")
OF_THE_MACHINE = ("device", "processor", "threads", "peak_rss_bytes", "peak_gpu_bytes", "versions")
SHOWN = 5  # the most names in a message


@dataclass(frozen=True)
class ArchiveSettings:
    """The settings of all scripts of the archive that run as jobs."""

    experiment: Annotated[str, "its name"]
    config: Annotated[dict, "the configuration as Snakemake merged it from its files"]
    config_files: Annotated[list[str], "where it lay; the last file is the experiment's own"]
    rules: Annotated[dict[str, dict], "of each rule the patterns of its outputs, its benchmark and its environment"]
    snakemake: Annotated[str, "its version"]

    @property
    def config_file(self) -> str:
        """The experiment's own configuration file."""
        return self.config_files[-1]

    def resolved(self) -> Experiment:
        """The experiment. Raises UserError if the configuration is not valid."""
        return resolve(self.config, self.config_file)


def module_of(command: str) -> str | None:
    """The script that a command runs, as a module; None if it runs none."""
    match = re.search(r"(?:^|\s)-m (scripts(?:\.\w+)+)(?:\s|$)", command)
    return match and match[1]


def script_of(command: str) -> str | None:
    """The script that a command runs, as a path in the repository; None if it runs none."""
    module = module_of(command)
    return module and f"{module.replace('.', '/')}.py"


def stage_of(module: str) -> str:
    return module.split(".")[1] if module.startswith("scripts.") and module.count(".") == 2 else ""


def words_of(command: str) -> list[str] | None:
    """The words of a command as a shell would split them; None if it cannot be split."""
    try:
        return shlex.split(LOG.sub("", command))
    except ValueError:
        return None


def arguments(command: str) -> list[str] | None:
    """The script, as a module, and its arguments; None if the command is not of the kind that may run here."""
    words = words_of(command) or []
    if words[:3] != RUN or stage_of("".join(words[3:4])) not in RECOMPUTED:
        return None
    previous, words_to_run = "", words[3:4]
    for word in words[4:]:
        path = PurePosixPath(word)
        if previous == SETTINGS:
            job_settings = settings(word)
            if job_settings is None:
                return None
            if job_settings:
                word = json.dumps(without_content(job_settings), sort_keys=True, ensure_ascii=False)
        elif word.startswith("-"):
            if not OPTION.fullmatch(word):
                return None
        elif path.is_absolute() or ".." in path.parts or "$(" in word or "`" in word:
            return None
        previous = word
        words_to_run.append(word)
    return words_to_run


def without_content(settings: dict) -> dict:
    """A job's settings without those that state the content of the user's data."""
    return {key: value for key, value in settings.items() if key not in OF_CONTENT}


def settings_in(words: list[str]) -> dict | None:
    """The settings among the words of a command; None if there are none."""
    return next((settings(after) for before, after in pairwise(words) if before == SETTINGS), None)


def settings(text: str) -> dict | None:
    """A job's settings; None if the text is not a JSON object."""
    try:
        value = plain_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def same(command: str, other: str) -> bool:
    """Whether two commands are the same; settings may be written in another order."""
    ours, theirs = words_of(command), words_of(other)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    pairs = zip(["", *ours], ours, theirs, strict=False)
    return all(a == b or (before == SETTINGS and _meant(a) == _meant(b)) for before, a, b in pairs)


def _meant(text: str) -> dict | None:
    value = settings(text)
    return value and without_content(value)


@dataclass
class Job:
    """One job: Snakemake's record of it and the files that it wrote."""

    record: dict
    outputs: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[str]:
        return self.record["input"] or []

    @property
    def code(self) -> Code | None:
        """The script and the digest of its meaning; None for a download, whose result does not depend on code."""
        return next((value for value in self._parameters() if is_code(value)), None)

    @property
    def settings(self) -> dict | None:
        """The job's settings, a JSON object; None if it has none."""
        found = (settings(value) for value in self._parameters() if isinstance(value, str))
        return next((one for one in found if one is not None), None)

    def _parameters(self) -> Iterator[Any]:
        """The parameters, which Snakemake records as Python literals."""
        for text in self.record["params"] or []:
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):  # in the records of a stranger
                yield ast.literal_eval(text)


def job_records() -> dict[str, dict]:
    """Each recorded file's path with its record."""
    return dict(records(METADATA))


def write_record(metadata: Path, name: str, record: dict) -> None:
    """Write the record of the file `name` as Snakemake's file persistence does."""
    path = record_path(metadata, name)
    os.makedirs(path.parent, exist_ok=True)
    path.write_text(json.dumps(record))


def jobs_behind(targets: list[str], records: dict[str, dict]) -> list[Job]:
    """The jobs that made the targets, and those that made their inputs, and so on; in the order of their outputs."""
    jobs: dict[tuple, Job] = {}
    for path in sorted(records):
        record = records[path]
        key = (record["rule"], record["shellcmd"], tuple(record["log"] or []))
        jobs.setdefault(key, Job(record)).outputs.append(path)
    maker = {path: job for job in jobs.values() for path in job.outputs}
    needed: dict[str, Job] = {}
    waiting = list(targets)
    while waiting:
        job = maker.get(waiting.pop())
        if job and job.outputs[0] not in needed:
            needed[job.outputs[0]] = job
            waiting += job.inputs
    return [needed[name] for name in sorted(needed)]


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


def check_whole(jobs: list[Job], left_out: dict[str, dict], config: str, extent: str) -> None:
    """Raise UserError, with the files' names and what to do, if results are missing or changed."""
    if missing := missing_outputs(jobs, left_out):
        raise UserError(
            f"{config}: incomplete: {_listed(missing)} missing, and jobs behind the results wrote or read that; make "
            f"it again: snakemake --configfile {config} -- {' '.join(missing[:SHOWN])}"
        )
    if extent == layout.FULL and (gone := [name for name in left_out if not Path(name).exists()]):
        raise UserError(
            f"{config}: a full archive holds everything, and {_listed(gone)} left out by the archive from which these "
            "results came; make resume FILL=1 makes data again, or write one without FULL=1"
        )
    if changed := changed_outputs(jobs):
        raise UserError(
            f"{config}: {_listed(changed)} no longer what their jobs wrote; nothing was archived: delete them and make "
            f"run CONFIG={config}"
        )
    if other := other_code(jobs):
        raise UserError(
            f"{config}: {_listed(other)} no longer the code that the jobs ran, or one of its modules; nothing was "
            f"archived: make run CONFIG={config}"
        )
    if replaced := replaced_data(jobs):
        raise UserError(
            f"{config}: {_listed(replaced)} no longer what the jobs read; nothing was archived: put the data back, or "
            f"make run CONFIG={config} with the new"
        )


def other_code(jobs: list[Job]) -> list[str]:
    """The scripts whose meaning, with their modules, has changed since their jobs ran."""
    return sorted({job.code["module"] for job in jobs if job.code and not modules_behind(job.code)})


def missing_outputs(jobs: list[Job], left_out: dict[str, dict]) -> list[str]:
    """Files in results/ that a job behind the results wrote or read and that are missing, unless in `left_out`."""
    named = {path for job in jobs for path in [*job.outputs, *job.inputs] if path.startswith("results/")}
    return sorted(path for path in named if not Path(path).exists() and not _left_out(path, left_out))


def _left_out(path: str, left_out: dict[str, dict]) -> bool:
    return any(name == path or name.startswith(f"{path}/") for name in left_out)


def changed_outputs(jobs: list[Job]) -> list[str]:
    """Files in results/ that are not what their job wrote, by the ledger or by what other jobs read."""
    changed = set()
    for path in {path for job in jobs for path in job.outputs if Path(path).exists()}:
        recorded_files = recorded(Path(path))
        if recorded_files is None:
            continue
        present = {file.as_posix() for file in files_of(Path(path)) if not _hidden(file)}
        changed |= present ^ recorded_files.keys()
        changed |= {name for name in present & recorded_files.keys() if not _is(Path(name), recorded_files[name])}
    return sorted(changed | {path for path in _read_otherwise(jobs) if path.startswith("results/")})


def replaced_data(jobs: list[Job]) -> list[str]:
    """Files outside results/ that are not what a job read, or without a checksum and newer than the job's start."""
    replaced = {path for path in _read_otherwise(jobs) if not path.startswith("results/")}
    for job in jobs:
        planned = _planned_with(job)
        replaced |= {path for path, expected in planned.items() if os.path.exists(path) and not _holds(path, expected)}
        outside = [path for path in job.inputs if not path.startswith(("results/", *OUR_CODE))]
        checksums = job.record["input_checksums"] or {}
        for path in outside:
            checked = path in checksums or any(Path(path).is_relative_to(folder) for folder in planned)
            if not checked and Path(path).is_file() and Path(path).stat().st_mtime > job.record["starttime"]:
                replaced.add(path)
    return sorted(replaced)


def _planned_with(job: Job) -> dict[str, str]:
    """The user's own files and folders that a job read -> the SHA-256 of their content, from the job's settings."""
    return (job.settings or {}).get("sha256_of", {})


def _holds(path: str, expected: str) -> bool:
    return content_sha256(Path(path)) == expected


def _read_otherwise(jobs: list[Job]) -> set[str]:
    """The files whose checksum is no longer the one in Snakemake's records of the jobs that read them."""
    return {
        path
        for job in jobs
        for path, checksum in (job.record["input_checksums"] or {}).items()
        if checksum and path in job.inputs and not _is(Path(path), checksum.removeprefix("sha256:"))
    }


def _is(path: Path, sha256: str) -> bool:
    """Whether a file has this SHA-256. Folders and missing files pass: other checks report them."""
    if path.is_file():
        return file_sha256(path) == sha256
    return path.is_dir() or not path.exists()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _listed(paths: list[str]) -> str:
    more = ", …" if len(paths) > SHOWN else ""
    return f"{', '.join(paths[:SHOWN])}{more} {'is' if len(paths) == 1 else 'are'}"
