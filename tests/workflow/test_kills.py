"""kill -9, full and read-only disks: nothing half-written is taken for a result, and a rerun ends as if nothing had
happened, byte by byte. Each stage's script alone, before its steps on the file system (see forked); and all of Snakemake."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from ranktrial.engine.downloads import HOW
from ranktrial.engine.job_records import records
from tests.workflow.conftest import copy

pytestmark = pytest.mark.long

NEURAL = ["ranktrial.models.loading", "sentence_transformers", "transformers.models.bert.modeling_bert"]
TRAINING = [*NEURAL, "ranktrial.training.trainer"]
# stage: (an output of the job, kills, sizes of the disks in KiB, what its script imports late)
STAGES = {
    "prepare": ("data/weather/corpus.jsonl", 8, [4, 16], []),
    "index": ("bm25/weather/index", 3, [4, 16], []),
    "search": ("runs/weather/plain/seed-0.trec.gz", 2, [], []),
    "negatives": ("negatives/weather/human-labels_2-bm25-negatives_all-queries.tsv", 7, [], []),
    "training": ("models/bert/hard/seed-1", 5, [64], TRAINING),
    "encoding": ("embeddings/weather/bert/hard/seed-1.vectors", 4, [4], NEURAL),
    "ranking": ("runs/weather/hard/seed-1.trec.gz", 4, [4], NEURAL),
    "scoring": ("metrics/weather/plain/seed-0.tsv", 8, [], []),
    "comparison": ("effects/hard-helps.tsv", 8, [], []),
    "figure": ("figures/hard-helps.svg", 5, [4, 64], []),
    "archive": ("tiny.crate.zip", 5, [16], []),
}
VARYING = ["bm25/weather/index/", ".log.tsv"]  # Lucene's segments have random ids, the training log has seconds
THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "GOTO")}  # as of a job
ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def place(finished, tmp_path_factory):
    """A copy of the finished experiment, with its archive, from which each stage's job takes its inputs."""
    workspace = copy(finished.folder, tmp_path_factory.mktemp("kills") / "ranktrial")
    workspace.run("archive")
    return workspace


def plan(place, output):
    """The job that made an output, to be tried with its outputs in another folder."""
    known = dict(records(place.folder / "results/state/metadata"))
    record = known[f"results/tiny/{output}"]
    outputs = [name for name, other in known.items() if other["shellcmd"] == record["shellcmd"]]
    command = record["shellcmd"].removeprefix("python -P -m ").rpartition(" --log ")[0]
    listed = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    module, *words = listed.stdout.decode().split("\0")[:-1]
    script = f"{module.replace('.', '/')}.py"
    moved = {*outputs, *(str(Path(one).parent) for one in outputs), *(one.rpartition(".")[0] for one in outputs)}
    moved |= {f"{name}.resume" for name in outputs}
    arguments = [word.replace("results/tiny", "results/faults", 1) if word in moved else word for word in words]
    names = [name.removeprefix("results/tiny/") for name in outputs]
    return {"script": script, "arguments": arguments, "outputs": names, "expected": "results/tiny", "varying": VARYING}


def go_wrong(place, tmp_path, made, **faults):
    """What went wrong when a job was tried with these faults (see forked)."""
    (tmp_path / "plan.json").write_text(json.dumps(made | {"written": "results/faults"} | faults))
    shutil.rmtree(place.folder / "results/faults", ignore_errors=True)
    done = subprocess.run(
        [sys.executable, Path(__file__).parents[1] / "support" / "forked.py", tmp_path / "plan.json"],
        cwd=place.folder,
        env=os.environ | THREADS | {"PYTHONPATH": str(place.folder), "TOKENIZERS_PARALLELISM": "false"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_killed_at_any_step_leaves_nothing_half(place, tmp_path, stage):
    output, kills, _, preload = STAGES[stage]
    assert go_wrong(place, tmp_path, plan(place, output), kills=kills, preload=preload) == []


@pytest.mark.skipif(not ROOT, reason="mounting a small disk takes root")
@pytest.mark.parametrize("stage", [stage for stage, (_, _, disks, _) in STAGES.items() if disks])
def test_a_full_or_read_only_disk_is_one_line_and_leaves_nothing(place, tmp_path, stage):
    output, _, disks, preload = STAGES[stage]
    assert go_wrong(place, tmp_path, plan(place, output), disks=disks, preload=preload) == []


def test_a_fetch_killed_at_any_step_or_on_a_full_disk_leaves_nothing_half(place, tmp_path, monkeypatch):
    mirror = place.folder / "mirror"
    mirror.mkdir()
    with zipfile.ZipFile(mirror / "weather.zip", "w") as archive:
        archive.writestr("corpus.jsonl", os.urandom(50_000))
    checksum = hashlib.sha256((mirror / "weather.zip").read_bytes()).hexdigest()
    monkeypatch.setenv(HOW, json.dumps({"mirrors": ["mirror"], "addresses": {}}))
    settings = {"location": "https://example.org/weather.zip", "sha256": checksum}
    arguments = ["--download", "results/faults/weather.zip", "--settings", json.dumps(settings)]
    made = {
        "script": "scripts/datasets/fetch.py",
        "arguments": arguments,
        "outputs": ["weather.zip"],
        "expected": "mirror",
    }
    assert go_wrong(place, tmp_path, made, kills=20, disks=[4, 32] if ROOT else []) == []


def kill_when(workspace, condition, *targets, config="tiny.yaml", timeout=300):
    """Start the workflow towards the targets, kill it and all its jobs with SIGKILL as soon as `condition()` is true."""
    process = subprocess.Popen(
        workspace.command(*targets, config=config, python=sys.executable), cwd=workspace.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    start = time.monotonic()
    while not condition():
        assert process.poll() is None, "the workflow ended before it could be killed"
        assert time.monotonic() - start < timeout, "the moment to kill never came"
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finish(workspace, *targets):
    """Run the same command again, after such an end too."""
    done = workspace.run(*targets)
    return done.stdout + done.stderr


TIMED = ("logs", "benchmarks", "report.html", "summary.md", "tables/costs.tsv", "tables/inference-times",
         "tables/fine-tuning-times", "figures/cost-", "bm25/weather/index/")  # fmt: skip


def results(workspace):
    """All of an experiment's results by path but those that hold times."""
    root = workspace.folder / "results/tiny"
    found = {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if not name.startswith(TIMED) and not name.endswith(("timing.json", ".log.tsv")) and path.name[0] != "."
    }


def test_a_run_killed_while_it_trains_ends_with_the_same_results(again, finished):
    made = again.folder / "results/tiny"
    checkpoint = made / "models/bert/hard/seed-1"
    for path in (checkpoint, made / "embeddings/weather/bert/hard", made / "runs/weather/hard", made / "metrics"):
        shutil.rmtree(path)
    saved = checkpoint.parent / "seed-1.resume"
    targets = ["all", *(f"results/tiny/{name}" for name in results(finished) if name.startswith("metrics/"))]
    kill_when(again, lambda: any(saved.rglob("trainer_state.json")) if saved.is_dir() else False, *targets)
    assert not checkpoint.exists()
    said = finish(again, *targets)
    assert "no complete record" not in said  # what was being made is known as such
    assert results(again) == results(finished)
    assert not saved.exists() and not list(made.rglob(".*.partial"))


def test_a_killed_index_is_made_again(again):
    made = again.folder / "results/tiny"
    metrics = made / "metrics/weather/plain/seed-0.tsv"
    expected = metrics.read_bytes()
    index = made / "bm25/weather/index"
    shutil.rmtree(index)
    shutil.rmtree(made / "runs/weather/plain")
    metrics.unlink()
    target = str(metrics.relative_to(again.folder))
    kill_when(again, lambda: any(index.parent.glob(".index.partial")), target)
    assert not index.exists()
    finish(again, target)
    assert metrics.read_bytes() == expected and not list(index.parent.glob(".*"))
