"""Write the archive of a finished experiment: a Provenance Run Crate with everything needed to check it.

Reads the targets, Snakemake's records of the jobs behind them, their files and the sources. Writes
results/{experiment}/{experiment}.{crate,full}.zip (the same bytes for the same results) and its SHA-256 beside it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml

from ranktrial.archive import layout
from ranktrial.archive.description import citation, crate, readme
from ranktrial.archive.expected import published_files
from ranktrial.archive.identities import environments, identities, seeds
from ranktrial.archive.integrity import write_zip
from ranktrial.archive.ir_metadata import origins_of_runs
from ranktrial.archive.jobs import (
    ArchiveSettings,
    Job,
    check_whole,
    described,
    file_sha256,
    files_of,
    job_records,
    jobs_behind,
    read_left_out,
    script_of,
)
from ranktrial.archive.layout import manifest, seal
from ranktrial.archive.privacy import Privacy, of_this_process, recorded_environment
from ranktrial.archive.sources import our_origin, source_files
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_text
from ranktrial.common.home import own_file
from ranktrial.common.keys import plain
from ranktrial.common.version import VERSION
from ranktrial.configuration.reading import complete
from ranktrial.engine.job_records import DIRECTORY_STAMP
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import HEAVY, NOT_ARCHIVED


@dataclass(frozen=True)
class Settings(ArchiveSettings):
    """The settings of all scripts of the archive, and its extent."""

    extent: Annotated[Literal["crate", "full"], "without or with checkpoints, embeddings, indices, texts and downloads"]


class Contents:
    """The archive's files by name: contents, or large files to be copied; every text is cleaned when it is added."""

    def __init__(self, privacy: Privacy, extent: str, experiment: str) -> None:
        self.privacy, self.extent, self.experiment = privacy, extent, experiment
        self.files: dict[str, bytes | Path] = {}
        self.absent: dict[str, dict] = {}
        self.rewritten: dict[str, str] = {}  # path -> original SHA-256

    def text(self, name: str, content: str) -> None:
        self.files[name] = self.privacy.clean(content.encode())

    def record(self, name: str, content: dict | list) -> None:
        self.text(name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def file(self, path: Path, name: str) -> None:
        """Add a file or, if this extent leaves its kind out, only its SHA-256."""
        kind = layout.kind_of(name, self.experiment)
        if kind == NOT_ARCHIVED:
            raise UserError(
                f"{name}: no archive holds such a path; see PLACES in ranktrial/experiment/results_paths.py"
            )
        text = path.suffix in (".json", ".md", ".txt")  # beside a checkpoint's weights
        if kind not in HEAVY or (self.extent == layout.FULL and text and self.privacy.found_in(path)):
            content = path.read_bytes()
            self.files[name] = self.privacy.clean(content)
            if self.files[name] != content:
                self.rewritten[name] = file_sha256(path)
        elif self.extent == layout.FULL:
            if self.privacy.found_in(path):
                print(f"warning: {path} contains a folder of yours, and is taken as it is", file=sys.stderr)
            self.files[name] = path
        elif path.name != DIRECTORY_STAMP:
            self.absent[name] = {"sha256": file_sha256(path), "bytes": path.stat().st_size, "kind": kind}


def take_results(contents: Contents, jobs: list[Job], described_jobs: list[dict], left_out: dict[str, dict]) -> None:
    """Add the outputs, logs and benchmarks of all jobs; for outputs that are not here, their entries in `left_out`."""
    for made, entry in zip(jobs, described_jobs, strict=True):
        beside = [path for path in (entry["log"], entry["benchmark"]) if path]
        for name in [*made.outputs, *beside]:
            for path in files_of(Path(name)):
                contents.file(path, path.as_posix())
            if (Path(name) / DIRECTORY_STAMP).is_file():
                contents.file(Path(name) / DIRECTORY_STAMP, f"{name}/{DIRECTORY_STAMP}")
        missing = [path for path in map(Path, made.outputs) if not path.exists()]
        for name, known in left_out.items():
            if any(Path(name).is_relative_to(path) for path in missing):
                contents.absent[name] = known


def take_sources(contents: Contents, settings: Settings, sources: list[str]) -> None:
    """Add the sources, the configuration as written and resolved, and local files of published numbers."""
    for path in sources:
        contents.file(own_file(path), layout.WORKFLOW + path)
    for path in settings.config_files:
        contents.file(Path(path), layout.configuration_name(path))
    resolved, _ = complete(settings.config, settings.config_file)
    contents.text(layout.RESOLVED, yaml.safe_dump(resolved, sort_keys=False, allow_unicode=True))
    for published in map(os.path.relpath, published_files(resolved)):
        if not published.startswith(".."):
            contents.file(Path(published), layout.WORKFLOW + published)


def with_own_logs(record: dict, experiment: str) -> dict:
    """A record without logs of other experiments: one of them may have fetched a download that all share."""
    return record | {"log": [log for log in record["log"] or [] if log.startswith(layout.LOGS.format(experiment))]}


def state(recorded: dict[str, dict], jobs: list[Job], settings: Settings) -> dict:
    """What `resume` needs: Snakemake's records, and the path of the configuration."""
    needed = {path: recorded[path] for job in jobs for path in job.outputs}
    return {"config_files": settings.config_files, "records": {path: needed[path] for path in sorted(needed)}}


def take_pages(contents: Contents, experiment: Experiment, known: dict, about: dict, file: str) -> None:
    """Add the pages for readers."""
    kinds = Counter(entry["kind"] for entry in contents.absent.values())
    contents.text("README.md", readme(experiment.name, file, about["commit"], dict(kinds), known))
    software_file = own_file("CITATION.cff")
    software = yaml.safe_load(software_file.read_text()) if software_file.is_file() else {}
    contents.text("CITATION.cff", citation(experiment.name, plain(experiment.actor), about["end"], software))


def fill(contents: Contents, settings: Settings, targets: list[str], file: str) -> None:
    """Put everything into `contents`. Raises UserError if no record explains how a target was made."""
    experiment = settings.resolved()
    recorded = {path: with_own_logs(record, experiment.name) for path, record in job_records().items()}
    if missing := [path for path in targets if path not in recorded or not Path(path).exists()]:
        listed = ", ".join(missing[:5])
        raise UserError(f"results/{experiment.name}: unfinished: {len(missing)} files are missing: {listed}")
    jobs, left_out = jobs_behind(targets, recorded), read_left_out(experiment.name)
    check_whole(jobs, left_out, settings.config_file, contents.extent)
    described_jobs = [described(job, settings.rules.get(job.record["rule"], {}), left_out) for job in jobs]
    take_results(contents, jobs, described_jobs, left_out)
    sources = source_files()
    take_sources(contents, settings, sources)
    for path, page in origins_of_runs(experiment, described_jobs).items():
        contents.text(path.removesuffix(".trec.gz") + ".ir_metadata.yaml", page)
    recorded_origin, difference = our_origin()
    known = identities(experiment, jobs, left_out)
    head = {"format": layout.FORMAT, "version": VERSION, "experiment": experiment.name, "extent": contents.extent}
    contents.record(layout.ORIGIN, {**head, "environment": recorded_environment(os.environ), **recorded_origin})
    contents.record(layout.JOBS, described_jobs)
    contents.record(layout.IDENTITIES, known)
    contents.record(layout.PACKAGES, environments([own_file(path) for path in sources if path.startswith("envs/")]))
    contents.record(layout.SEEDS, seeds(experiment))
    contents.record(layout.STATE, state(recorded, jobs, settings))
    if difference:
        contents.text(layout.CHANGES, difference)
    about = {
        **head,
        "actor": plain(experiment.actor),
        "commit": recorded_origin["commit"],
        "start": min(job["start"] for job in described_jobs),
        "end": max(job["end"] for job in described_jobs),
        "snakemake": settings.snakemake,
        "licence": "https://spdx.org/licenses/Apache-2.0",
        "configuration": layout.configuration_name(settings.config_file),
    }
    take_pages(contents, experiment, known, about, file)
    files = manifest(contents.files, contents.absent, contents.rewritten, experiment.name)["files"]
    clean = json.loads(contents.privacy.clean_text(json.dumps(described_jobs)))
    contents.record(layout.CRATE, crate(about, files, clean, list(map(tool_of, described_jobs))))


def tool_of(job: dict) -> str:
    """The path of a job's script in the archive, or the id that replaces it for a job without one."""
    script = script_of(job["command"])
    return layout.WORKFLOW + script if script else f"#tool-{job['rule']}"


def write_archive(targets: list[Path], archive: Path, sha256: Path, settings: Settings) -> None:
    """Write the archive of a finished experiment: a Provenance Run Crate with everything needed to check it."""
    contents = Contents(of_this_process(settings.config), settings.extent, settings.experiment)
    fill(contents, settings, [str(path) for path in targets], archive.name)
    made = manifest(contents.files, contents.absent, contents.rewritten, settings.experiment)
    contents.record(layout.MANIFEST, made)
    contents.text(layout.SEAL, seal(contents.files[layout.MANIFEST]))
    contents.privacy.refuse_left(contents.files)
    digest = write_zip(archive, contents.files)
    write_text(sha256, f"{digest}  {archive.name}\n")
    size = archive.stat().st_size / 1e6
    print(f"{archive}: {len(contents.files)} files, {size:.1f} MB, SHA-256 {digest}")
    if made["rewritten"]:
        print(f"{len(made['rewritten'])} files were changed to keep home folders and secrets out", file=sys.stderr)


if __name__ == "__main__":
    job(write_archive)
