"""kill -9 in the middle of indexing and of training: no half result is taken for one, and a rerun ends as if nothing
had happened."""

import os
import shutil
import signal
import subprocess
import time


def kill_when(workspace, condition, target, timeout=120):
    """Start the workflow towards `target`, kill it and all its jobs with SIGKILL as soon as `condition()` is true."""
    process = subprocess.Popen(
        workspace.command(target), cwd=workspace.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    start = time.monotonic()
    while not condition():
        assert process.poll() is None, "the workflow ended before it could be killed"
        assert time.monotonic() - start < timeout, "the moment to kill never came"
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finish(workspace, target):
    """Unlock, as Snakemake asks for after such an end, and run again."""
    assert workspace.snakemake("--unlock").returncode == 0
    done = workspace.snakemake(target)
    assert done.returncode == 0, done.stdout + done.stderr


def test_killed_training_resumes_and_ends_with_the_same_metrics(again):
    results = again.folder / "results/tiny"
    metrics = results / "metrics/weather/hard/seed-1.tsv"
    expected = metrics.read_bytes()
    checkpoint = results / "models/bert/hard/seed-1"
    for path in (checkpoint, results / "embeddings/weather/bert/hard", results / "runs/weather/hard"):
        shutil.rmtree(path)
    metrics.unlink()
    saved = checkpoint.parent / "seed-1.resume"
    target = str(metrics.relative_to(again.folder))
    kill_when(again, lambda: any(saved.rglob("trainer_state.json")) if saved.is_dir() else False, target)
    assert not checkpoint.exists()
    finish(again, target)
    assert metrics.read_bytes() == expected
    assert not saved.exists()


def test_a_killed_index_is_made_again(again):
    results = again.folder / "results/tiny"
    metrics = results / "metrics/weather/plain/seed-0.tsv"
    expected = metrics.read_bytes()
    index = results / "bm25/weather/index"
    shutil.rmtree(index)
    shutil.rmtree(results / "runs/weather/plain")
    metrics.unlink()
    target = str(metrics.relative_to(again.folder))
    kill_when(again, lambda: any(index.parent.glob(".index.partial")), target)
    assert not index.exists()
    finish(again, target)
    assert metrics.read_bytes() == expected and not list(index.parent.glob(".*"))
