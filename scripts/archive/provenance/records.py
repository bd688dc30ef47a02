"""The jobs behind a set of files, by Snakemake's records (.snakemake/metadata) of what made each file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scripts.engine.code_lists import with_modules
from scripts.engine.job_records import record_path, records

METADATA = Path(".snakemake/metadata")


@dataclass
class Job:
    """One job: Snakemake's record of it and the files that it wrote."""

    record: dict
    outputs: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[str]:
        return self.record["input"] or []


def job_records() -> Iterator[tuple[str, dict]]:
    """Each recorded file's path with its record, in which the inputs name every module of the job's code."""
    return ((path, with_modules(record)) for path, record in records(METADATA))


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
