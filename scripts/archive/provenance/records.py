"""The jobs behind a set of files, by Snakemake's records (.snakemake/metadata) of what made each file."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

METADATA = Path(".snakemake/metadata")
LONGEST_NAME = 255  # bytes; Snakemake spreads a longer name over folders that begin with @


@dataclass
class Job:
    """One job: Snakemake's record of it and the files that it wrote."""

    record: dict
    outputs: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[str]:
        return self.record["input"] or []


def write_record(metadata: Path, name: str, record: dict) -> None:
    """Write the record of the file `name` as Snakemake's file persistence does."""
    encoded = base64.urlsafe_b64encode(name.encode()).decode()
    step = LONGEST_NAME - 1
    parts = [encoded[start : start + step] for start in range(0, len(encoded), step)]
    path = metadata.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
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
    found: dict[str, Job] = {}
    waiting = list(targets)
    while waiting:
        job = maker.get(waiting.pop())
        if job and job.outputs[0] not in found:
            found[job.outputs[0]] = job
            waiting += job.inputs
    return [found[name] for name in sorted(found)]
