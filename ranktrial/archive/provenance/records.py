"""The jobs behind a set of files, by Snakemake's records (.snakemake/metadata) of what made each file."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ranktrial.archive.provenance.commands import settings
from ranktrial.engine.job_code import Code, is_code
from ranktrial.engine.job_records import record_path, records

METADATA = Path(".snakemake/metadata")


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
