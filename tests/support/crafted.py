"""A small finished experiment and its archive, made without Snakemake's scheduler: two external runs, judgements, a comparison.

The jobs are those that the workflow plans; its scripts run them, and the project's own functions write the archive.
"""

import contextlib
import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import yaml

from ranktrial.archive import jobs as archive_jobs
from ranktrial.archive import layout
from ranktrial.archive.expected import expected
from ranktrial.archive.integrity import write_zip
from ranktrial.archive.jobs import METADATA, script_of, words_of, write_record
from ranktrial.archive.layout import manifest, seal
from ranktrial.archive.privacy import Privacy
from ranktrial.common.files import sha256
from ranktrial.common.job_code import job_code
from scripts.archive.write import Contents, Settings, fill

ROOT = Path(__file__).parents[2]
CONFIG = {
    "experiment": "small",
    "measures": ["nDCG@10", "Judged@10"],
    "datasets": {"weather": {"format": "qrels", "location": "data/weather.qrels"}},
    "systems": {
        "ours": {"type": "external", "runs": {"weather": "ours.trec"}},
        "theirs": {"type": "external", "runs": {"weather": "theirs.trec"}},
    },
    "tasks": ["weather"],
    "comparisons": {"helps": {"control": "theirs", "treatment": "ours"}},
}
RUN = "results/small/runs/weather/ours/seed-0.trec.gz"
QRELS = "results/small/data/weather/qrels/test.qrels"
METRIC = "results/small/metrics/weather/ours/seed-0.tsv"
EFFECT = "results/small/effects/helps.tsv"
META = "results/small/meta/helps.json"


def write_data(folder: Path) -> None:
    """Judgements of ten queries, and two runs."""
    (folder / "data").mkdir(parents=True)
    (folder / "data/weather.qrels").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(10)))
    for name, good in (("ours", 7), ("theirs", 3)):
        lines = [
            f"q{n} Q0 d{d} {rank} {10 - rank} {name}\n"
            for n in range(10)
            for rank, d in enumerate([n, n + 20, n + 40] if n < good else [n + 20, n + 40, n][: 2 + n % 2], 1)
        ]
        (folder / f"{name}.trec").write_text("".join(lines))
    (folder / "small.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))


def in_order(planned: list[dict]) -> list[dict]:
    """Jobs after those whose outputs they read."""
    waiting, done, found = list(planned), set(), []
    made = {path for job in planned for path in job["outputs"]}
    while waiting:
        job = next(job for job in waiting if not (made & {*job["inputs"]}) - done)
        waiting.remove(job)
        found.append(job)
        done |= {*job["outputs"]}
    return found


def run_jobs(folder: Path, planned: list[dict]) -> None:
    """Run the jobs of a plan in `folder` and write Snakemake's records of them."""
    asked = [{"words": words_of(job["command"])[len(archive_jobs.RUN) :], "outputs": []} for job in planned]
    for job in planned:
        for path in job["log"]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("host: node7\nslurm job: none\ndriver: none\n")
        for path in job["outputs"]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
    message = json.dumps({"paths": [str(ROOT)], "jobs": asked})
    environment = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, str(ROOT / "scripts/archive/rerun.py")], cwd=folder, input=message,
                          capture_output=True, text=True, env=environment)  # fmt: skip
    failures = [json.loads(line)["failure"] for line in done.stdout.splitlines()]
    assert failures == [None] * len(planned), (failures, done.stderr)
    for job in planned:
        write_job(folder, job)


def with_content(folder: Path, planned: list[dict]) -> list[dict]:
    """A plan, whose settings state the content of stand-ins, as a run that reads the files of `folder` has it."""
    places = [CONFIG["datasets"]["weather"]["location"]]
    places += [path for system in CONFIG["systems"].values() for path in system["runs"].values()]
    for place in places:
        stand_in, real = hashlib.sha256(place.encode()).hexdigest(), sha256(folder / place)
        planned = [job | {"command": job["command"].replace(stand_in, real)} for job in planned]
    return planned


def write_job(folder: Path, job: dict) -> None:
    words = words_of(job["command"])
    params: list = [job_code(script_of(job["command"]).removeprefix("scripts/"))]
    params += [words[words.index("--settings") + 1]] if "--settings" in words else []
    record = {
        "rule": job["rule"], "input": sorted(job["inputs"]), "log": job["log"], "shellcmd": job["command"],
        "params": sorted(map(repr, params)), "code": "x",
        "record_format_version": 6, "conda_env": None, "container_img_url": None, "software_stack_hash": "x", "job_hash": 1,
        "starttime": time.time() - 2, "endtime": time.time() - 1, "incomplete": False, "external_jobid": None,
        "input_checksums": {path: sha256(folder / path) for path in job["inputs"]},
    }  # fmt: skip
    for path in job["outputs"]:
        write_record(folder / METADATA, path, record)


def settings_of_rules(planned: list[dict]) -> dict:
    """What rules/archive.smk tells of its rules."""
    patterns: dict[str, dict] = {}
    for job in planned:
        found = patterns.setdefault(job["rule"], {"outputs": [], "benchmark": job["benchmark"], "environment": None})
        for path in job["outputs"]:
            groups = {value: name for name, value in job["wildcards"].items()}
            parts = [f"(?P<{groups[part]}>[^/]+)" if part in groups else part for part in path.split("/")]
            stem, dot, suffix = parts[-1].partition(".")
            parts[-1] = (f"(?P<{groups[stem]}>[^/.]+)" if stem in groups else stem) + dot + suffix
            if "ties" in groups.values():
                parts = [f"{part}(?P<ties>(?:-ties-ascending)?)" if part == "metrics" else part for part in parts]
            found["outputs"].append(
                "/".join(parts).replace("seed-0", "seed-(?P<seed>[0-9]+)" if "seed" in job["wildcards"] else "seed-0")
            )
    return patterns


def archive(folder: Path, planned: list[dict], extent: str = layout.LEAN) -> dict[str, bytes]:
    """The archive's files, as `make archive` collects them in `folder`. Raises UserError where it refuses."""
    targets = [path for job in planned for path in job["wanted"]]
    settings = Settings("small", CONFIG, ["small.yaml"], settings_of_rules(planned), "9", extent)
    archive_jobs.file_sha256.cache_clear()
    with contextlib.chdir(folder):
        contents = Contents(Privacy(Path.cwd(), [], {}), extent, "small")
        fill(contents, settings, targets, "small.crate.zip")
        made = manifest(contents.files, contents.absent, contents.rewritten, "small")
        contents.record(layout.MANIFEST, made)
        contents.text(layout.SEAL, seal(contents.files[layout.MANIFEST]))
        return {name: one if isinstance(one, bytes) else one.read_bytes() for name, one in contents.files.items()}


def plan(folder: Path) -> list[dict]:
    return in_order(expected(folder, CONFIG, []))


def forged_manifest(files: dict[str, bytes], **changes) -> dict:
    """A manifest that fits the files, as a forger would write it, with `changes`."""
    before = json.loads(files[layout.MANIFEST])
    entries = {name: one for name, one in files.items() if name not in (layout.MANIFEST, layout.SEAL)}
    return manifest(entries, before["absent"], {}, before["experiment"]) | changes


def resealed(files: dict[str, bytes], path: Path, **changes) -> Path:
    """The files as a zip whose manifest and seals fit."""
    text = json.dumps(forged_manifest(files, **changes)).encode()
    write_zip(path, {**files, layout.MANIFEST: text, layout.SEAL: seal(text).encode()})
    return path


def make(folder: Path) -> None:
    """Run the experiment in `folder`, and write its plan and its archive there."""
    workspace = folder / "workspace"
    write_data(workspace)
    planned = with_content(workspace, plan(workspace))
    run_jobs(workspace, planned)
    files = archive(workspace, planned)
    resealed(files, folder / "small.crate.zip")
    (folder / "made").write_bytes(pickle.dumps((planned, files)))


MADE: list[
    Callable[[], Path]
] = []  # gives the folder, made once for all processes of a run (tests/archive/conftest.py)


@cache
def small() -> SimpleNamespace:
    """The experiment's folder, its plan and its archive's files."""
    (made,) = MADE
    folder = made()
    planned, files = pickle.loads((folder / "made").read_bytes())
    return SimpleNamespace(workspace=folder / "workspace", planned=planned, files=files, zip=folder / "small.crate.zip")


def record(files: dict[str, bytes], name: str):
    return json.loads(files[name])


def with_record(files: dict[str, bytes], name: str, content) -> dict[str, bytes]:
    return {**files, name: json.dumps(content).encode()}


def unpacked(files: dict[str, bytes], folder: Path) -> dict:
    """Write an archive's files into a folder and give back its manifest, without asking whether they may be there."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return json.loads(files.get(layout.MANIFEST, b"null"))


def clone(folder: Path) -> Path:
    """An empty clone, as far as taking over needs one."""
    (folder / "config").mkdir(parents=True)
    (folder / "Snakefile").write_text("")
    return folder


def listing(folder: Path) -> dict[str, object]:
    """Everything below a folder, with contents and dates of files."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else os.readlink(path)
        if path.is_symlink() else "folder"
        for path in sorted(folder.rglob("*"))
    }  # fmt: skip
