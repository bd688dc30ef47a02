"""Faults around Snakemake on a finished experiment: records that are gone or damaged, a clock that was set back."""

import os
import shutil
import time

import pytest

from ranktrial.engine.job_records import record_path
from tests.workflow.conftest import tiny_config
from tests.workflow.test_kills import results

TARGET = "results/tiny/metrics/weather/plain/seed-0.tsv"
BEHIND = {"prepare_dataset weather", "index weather", "search weather plain", "score weather plain seed-0"}


def said_in_one_line(done, words):
    """Beside the cautions of the configuration on every run."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("warning: ", "error: "))]
    lines = [line for line in lines if not line.startswith("warning: tiny.yaml: ")]
    assert len(lines) == 1 and words in lines[0], done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("gone", [["results/state"], ["results/state", ".snakemake"]], ids=["state", "all"])
def test_without_records_everything_is_made_again_as_it_was(again, finished, gone):
    for name in gone:
        shutil.rmtree(again.folder / name)
    done = again.snakemake("--dry-run")
    said_in_one_line(done, "made again, no complete record in results/state says how")
    assert "48" in done.stdout + done.stderr  # jobs, all of them
    if len(gone) == 2:
        again.run(TARGET)
        assert set(again.ran()) == BEHIND
        assert results(again) == results(finished)


def test_without_snakemakes_folder_nothing_is_made_again(again):
    shutil.rmtree(again.folder / ".snakemake")
    assert again.planned() == set()


def test_a_changed_setting_is_not_hidden_by_lost_records(again):
    shutil.rmtree(again.folder / "results/state")
    config = tiny_config()
    config["recipes"]["hard"]["learning_rate"] = 0.0005
    again.write_config(config)
    assert "fine_tune bert hard seed-1" in again.planned()


def test_damaged_records_are_one_line_and_their_jobs_are_done_again(again):
    """One of each kind of damage at once."""
    metadata, incomplete = (again.folder / "results/state" / part for part in ("metadata", "incomplete"))
    shutil.rmtree(again.folder / ".snakemake/locks", ignore_errors=True)
    record = record_path(metadata, "results/tiny/meta/theirs.json")
    for name, damage in {
        "results/tiny/meta/theirs.json": record.read_bytes()[:300],
        "results/tiny/meta/hard-helps.json": b"\xff\xfe\x00binary",
        "results/tiny/tables/means.tsv": b"",
        "results/tiny/summary.md": b"[1, 2]",
        "results/tiny/tables/datasets.tsv": b'{"rule": "collect", "params": null}',
    }.items():
        record_path(metadata, name).write_bytes(damage)
    for name in ("results/tiny/effects/random-helps.tsv", TARGET):
        record_path(metadata, name).unlink()
    record_path(metadata, TARGET).mkdir()
    record_path(incomplete, "results/tiny/tables/comparisons.tsv").mkdir()
    done = again.run("--dry-run")
    said_in_one_line(done, "7 files are made again")
    planned = again.planned()  # what was said once stays planned
    jobs = {f"compare {one}" for one in ("theirs", "hard-helps", "random-helps")}
    assert (
        jobs
        | {*(f"collect {one}" for one in ("means", "datasets", "comparisons")), "report", "score weather plain seed-0"}
        <= planned
    )
    assert not {"index weather", "fine_tune bert hard seed-1"} & planned


def test_a_clock_that_was_set_back_neither_hides_a_change_nor_stops_the_run(again, finished):
    ahead = time.time() + 2 * 86400
    for path in sorted((again.folder / "results/tiny").rglob("*")):
        if not path.is_dir():
            os.utime(path, (ahead, ahead))
    metrics = again.folder / TARGET
    metrics.unlink()
    done = again.run(TARGET)
    said_in_one_line(done, "dated ahead of this machine's clock")
    assert results(again) == results(finished)
    assert again.planned() == set()
