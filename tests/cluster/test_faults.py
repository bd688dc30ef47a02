"""Faults of a cluster, each brought about on a real Slurm: what Slurm recorded, and that the result is the undisturbed one."""

import json
import math
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import pytest

from ranktrial.engine.slurm_states import UNANSWERED
from tests.cluster.conftest import experiment
from tests.cluster.daemons import wait
from tests.cluster.wrappers import LINE
from tests.workflow.conftest import Workspace, copy

pytestmark = pytest.mark.cluster

MODEL = "models/bert/hard/seed-1"
QUICK_OUTPUT = "results/tiny/runs/weather/bm25/seed-0.trec.gz"


def weights(workspace, name="tiny"):
    return (workspace.folder / "results" / name / MODEL / "model.safetensors").read_bytes()


def forget_training(workspace):
    """Remove what fine-tuning made and what was made from it."""
    results = workspace.folder / "results" / "tiny"
    for path in ("models/bert/hard", "embeddings/weather/bert/hard", "runs/weather/hard", "metrics/weather/hard"):
        shutil.rmtree(results / path)


def checkpoints(workspace, name="tiny"):
    return sorted(
        (workspace.folder / "results" / name / "models/bert/hard/seed-1.resume").glob("checkpoint-*/complete.json")
    )


def training_log(workspace, name="tiny"):
    path = workspace.folder / "results" / name / "logs/fine_tune/bert/hard/seed-1.log"
    return path.read_text() if path.exists() else ""


def start_training(workspace, target):
    """Start Snakemake towards `target`; gives back its process and the training's job id once it has checkpoints."""
    before = len(workspace.records("fine_tune"))
    process = workspace.start(f"results/tiny/{target}")
    wait(lambda: checkpoints(workspace) or process.poll() is not None, 300, "a checkpoint")
    records = workspace.records("fine_tune")
    assert len(records) == before + 1 and records[-1]["JobState"] == "RUNNING", workspace.said()[-3000:]
    return process, records[-1]["JobId"]


def resumed_at(workspace, name="tiny"):
    return json.loads((workspace.folder / "results" / name / f"{MODEL}.timing.json").read_text())["resumed_at_step"]


@pytest.mark.long
def test_a_requeued_training_resumes(again, finished):
    """What Slurm does after a node failure or when a job of higher priority takes the place (PreemptMode=REQUEUE)."""
    forget_training(again)
    process, job = start_training(again, MODEL)
    subprocess.run(["scontrol", "requeue", job], check=True)
    wait(lambda: again.states("fine_tune") == ["PENDING"], 60, "the job back in the queue")
    subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=True)  # else Slurm waits two minutes
    again.finish(process)
    (record,) = again.records("fine_tune")
    assert (record["JobId"], record["JobState"], record["Restarts"]) == (job, "COMPLETED", "1")
    assert resumed_at(again) > 0 and weights(again) == weights(finished)


def hold_training(workspace, number=signal.SIGSTOP):
    """Stop the process that trains in this workspace, or send it another signal; Slurm's end of a job wakes it."""
    held = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            command = (process / "cmdline").read_bytes()
            if b"training.fine_tune" in command and (process / "cwd").resolve() == workspace.folder.resolve():
                os.kill(int(process.name), number)
                held += 1
    assert held


def long_training(workspace):
    """An experiment whose training is one epoch of minutes, so that no checkpoint comes by itself.

    Its 13,000 steps take more than the two minutes and a half after which the limit ends it, at 70 steps per second too.
    """
    data = workspace.folder / "data"
    shutil.copytree(data / "weather", data / "long")
    rng = random.Random(2)
    documents = [json.loads(line) for line in (data / "long/corpus.jsonl").read_text().splitlines()]
    with open(data / "long/queries.jsonl", "a") as queries, open(data / "long/qrels/train.tsv", "a") as qrels:
        for n in range(13000):
            document = rng.choice(documents)
            text = " ".join(rng.sample(document["text"].split(), 3))
            queries.write(json.dumps({"_id": f"t{n}", "text": text}) + "\n")
            qrels.write(f"t{n}\t{document['_id']}\t1\n")
    config = experiment("data/long") | {"experiment": "long"}
    config["recipes"]["hard"] |= {"epochs": 1, "batch_size": 1, "checkpoint_steps": 10**6}
    config["recipes"]["hard"]["negatives"] = {"per_query": 50, "from": "random"}
    workspace.write_config(config)


def cut_time_limit(record):
    """Let a running job's limit be the next full minute after the coming one: a busy machine needs time for a step."""
    seconds = (datetime.now() - datetime.fromisoformat(record["StartTime"])).total_seconds()
    minutes = math.ceil(seconds / 60) + 1
    subprocess.run(["scontrol", "update", f"JobId={record['JobId']}", f"TimeLimit={minutes}"], check=True)


@pytest.mark.long
def test_a_time_limit_leaves_a_checkpoint_from_which_the_retry_goes_on(again, tmp_path):
    long_training(again)
    again.edit("B:URG@120", "B:URG@45")  # Slurm looks at limits every 30 s, and sends it 45 to 75 s before
    undisturbed = Workspace(copy(again.folder, tmp_path / "undisturbed").folder)
    target = f"results/long/{MODEL}"
    reference = subprocess.Popen(
        undisturbed.command(target), cwd=undisturbed.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process = again.start(target, seconds=1800)  # two trainings side by side, one of which starts twice
        resume = again.folder / "results/long/models/bert/hard/seed-1.resume"
        wait(lambda: resume.exists() or process.poll() is not None, 600, "the training's start")
        cut_time_limit(again.records("fine_tune")[-1])
        wait(lambda: checkpoints(again, "long") or process.poll() is not None, 300, "a checkpoint")
        assert "the time limit is near: checkpoint at step" in training_log(again, "long")
        (saved,) = checkpoints(again, "long")
        again.finish(process)
        assert reference.wait() == 0
    finally:
        reference.kill()
        reference.wait()
    assert again.states("fine_tune") == ["TIMEOUT", "COMPLETED"]
    assert f"resumed at step {resumed_at(again, 'long')} of" in training_log(again, "long")
    assert saved.parent.name == f"checkpoint-{resumed_at(again, 'long')}"
    assert weights(again, "long") == weights(undisturbed, "long")


@pytest.mark.long
def test_a_controller_that_is_away_for_a_while_is_survived(again, finished):
    forget_training(again)
    process, _ = start_training(again, MODEL)
    again.slurm.stop_controller()
    try:
        wait(lambda: UNANSWERED in again.log(), 120, "a question that nobody answers")
        time.sleep(10)
    finally:
        again.slurm.start_controller()
    again.finish(process)
    assert again.states("fine_tune") == ["COMPLETED"]
    assert resumed_at(again) == 0 and weights(again) == weights(finished)


def test_a_killed_snakemake_a_cancelled_job_and_lines_of_a_site_leave_one_job_on_one_output(again, finished, wrapped):
    """The lines have numbers as ids have; a job without a name is in the queue too."""
    wrapped("sbatch", f'echo "{LINE}"; "$real" "$@"; code=$?; echo "{LINE}"; exit $code')
    wrapped("squeue", f'echo; echo "{LINE}"; echo "|"; "$real" "$@"')
    nameless = ["/usr/bin/sbatch", "--parsable", "-J", " ", "--begin=now+1hour", "--output=/dev/null", "--wrap", "true"]
    forget_training(again)
    job = again.slurm.ask(*nameless).strip()
    process, first = start_training(again, MODEL)
    hold_training(again)  # it is one of seconds, which could end before the next run looks; others take hours
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(1)
    assert again.states("fine_tune") == ["RUNNING"]  # Slurm's job lives on without its Snakemake
    process = again.start(f"results/tiny/{MODEL}")
    wait(lambda: "resumed at step" in training_log(again) or process.poll() is not None, 300, "a resumed training")
    hold_training(again)
    second = again.records("fine_tune")[-1]["JobId"]
    again.slurm.ask("scancel", second, job)
    again.finish(process)
    assert again.lines("ending ") == [f"ending 1 job that an earlier run left in the queue: {first}"]
    assert again.one_at_a_time("fine_tune") == ["CANCELLED", "CANCELLED", "COMPLETED"]
    assert len({first, second, again.records("fine_tune")[-1]["JobId"]}) == 3
    assert resumed_at(again) > 0 and weights(again) == weights(finished)


def test_a_command_that_begins_while_the_controller_is_away_uses_up_no_attempt(again):
    (again.folder / QUICK_OUTPUT).unlink()
    process = again.start(QUICK_OUTPUT, "--retries", "0")
    wait(lambda: again.states("search") == ["RUNNING"], 120, "a job")
    again.slurm.stop_controller()  # before the job's Python has started
    try:
        wait((again.folder / QUICK_OUTPUT).exists, 120, "the job's output")
    finally:
        again.slurm.start_controller()
    again.finish(process)
    assert again.states("search") == ["COMPLETED"] and not again.lines("failed: ")


@pytest.mark.long
def test_a_job_over_its_memory_is_retried_with_more(again):
    shutil.rmtree(again.folder / "results/tiny/embeddings/weather")
    again.needs("encode", 'need(0, 60, gpu=True) | dict(mem_mb="500 * attempt")')
    again.finish(again.start("results/tiny/embeddings/weather/bert/hard/seed-1.vectors"))
    states = again.states("encode")
    assert states[0] == "FAILED" and states[-1] == "COMPLETED"  # where Slurm uses cgroups it is OUT_OF_MEMORY
    assert "exceeded memory limit" in Path(again.records("encode")[0]["StdOut"]).read_text()
    assert [one["MinMemoryNode"] for one in again.records("encode")] == [
        f"{500 * (n + 1)}M" for n in range(len(states))
    ]


@contextmanager
def mounted(folder, *words):
    """Mount something on a folder for a while."""
    subprocess.run(["mount", *words, folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.long
def test_a_full_disk_is_one_line_and_leaves_no_half_result(again, finished):
    forget_training(again)
    models = again.folder / "results/tiny/models/bert/hard"
    models.mkdir()
    with mounted(models, "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        process = again.start(f"results/tiny/{MODEL}", "--retries", "0")
        assert process.wait() != 0
        assert not (models / "seed-1").exists() and not list(models.glob("*.timing.json"))
    (record,) = again.records("fine_tune")
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "1:0")
    assert_one_line(again, "No space left on device")
    again.finish(again.start(f"results/tiny/{MODEL}"))
    assert weights(again) == weights(finished)


def assert_one_line(workspace, words):
    """The reason stands in the user's terminal as one line, without a traceback."""
    lines = [line for line in workspace.said().splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and words in lines[0], workspace.said()[-3000:]
    assert "Traceback" not in workspace.said()


@pytest.mark.long
def test_a_results_folder_that_cannot_be_written_is_one_line(again, finished):
    forget_training(again)
    models = again.folder / "results/tiny/models/bert"
    with mounted(models, "--bind", models):
        subprocess.run(["mount", "-o", "remount,ro,bind", models], check=True)
        process = again.start(f"results/tiny/{MODEL}", "--retries", "0")
        assert process.wait() != 0
    assert not (models / "hard").exists()
    assert_one_line(again, "Read-only file system")


def test_a_mistake_found_by_a_job_is_reported_in_the_terminal(again):
    corpus = again.folder / "data/weather/corpus.jsonl"
    corpus.write_text(corpus.read_text() + "not JSON\n")
    lost = ["--retries", "0", "--set-resources", "prepare_dataset:mem_mb=1000"]
    process = again.start("results/tiny/data/weather/corpus.jsonl", *lost)
    assert process.wait() != 0
    assert len(again.lines("warning: --set-resources on the command line replaces the profile's entry")) == 1
    assert again.states("prepare_dataset") == ["FAILED"]
    assert_one_line(again, "corpus.jsonl:61")
