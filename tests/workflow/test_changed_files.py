"""What was changed, damaged or deleted, by runs of the workflow: it is noticed, and the end is that of an undisturbed run."""

import os
import shutil
import subprocess
import time

import pytest

from tests.workflow.conftest import copy, tiny_config

METRICS = "results/tiny/metrics/weather/plain/seed-0.tsv"
QRELS = "results/tiny/data/weather/qrels/test.qrels"
CORPUS = "data/weather/corpus.jsonl"


def small(workspace):
    """BM25 alone, to be run soon."""
    config = tiny_config()
    config["systems"] = {name: config["systems"][name] for name in ("plain", "theirs")}
    config["comparisons"] = {"theirs": config["comparisons"]["theirs"]}
    del config["models"], config["recipes"]
    workspace.write_config(config)


def edit(path, old=None, new=None):
    """Edit a file in place (without `old` one letter in its middle); its size and its dates stay as they were."""
    before = os.stat(path)
    content = path.read_bytes()
    middle = len(content) // 2
    edited = content.replace(old, new) if old else content[:middle] + b"?" + content[middle + 1 :]
    assert len(edited) == len(content) and edited != content
    path.write_bytes(edited)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def other_data(workspace):
    edit(workspace.folder / CORPUS, b"fire", b"hail")


@pytest.mark.long
def test_data_that_changes_while_the_run_is_under_way(fresh, tmp_path):
    """In its middle, when the data was read already: the next run plans what reads it, and ends as with the new data."""
    small(fresh)
    undisturbed = copy(fresh.folder, tmp_path / "undisturbed")
    process = subprocess.Popen(fresh.command(), cwd=fresh.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 200
    while not (fresh.folder / "results/tiny/data/weather/statistics.json").exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    other_data(fresh)
    assert process.wait() == 0
    of_old_data = (fresh.folder / METRICS).read_bytes()
    assert {"prepare_dataset weather", "index weather", "search weather plain"} <= fresh.planned()
    assert fresh.snakemake().returncode == 0
    assert fresh.planned() == set()
    other_data(undisturbed)
    assert undisturbed.snakemake().returncode == 0
    assert fresh.metrics() == undisturbed.metrics() and (fresh.folder / METRICS).read_bytes() != of_old_data


def test_data_that_changes_while_a_job_reads_it_gives_one_line_and_no_output(fresh):
    """It is planned with what it was; before the job begins it is another."""
    small(fresh)
    script = fresh.folder / "scripts/datasets/prepare.py"
    script.write_text(script.read_text() + "\nopen('theirs.trec', 'a').write('q1 Q0 d1 1 0.5 theirs\\n')\n")
    done = fresh.snakemake("results/tiny/runs/weather/theirs/seed-0.trec.gz")
    assert done.returncode != 0
    assert "error: theirs.trec: changed while the run was under way; run again  [" in done.stderr
    assert not (fresh.folder / "results/tiny/runs/weather/theirs/seed-0.trec.gz").exists()
    assert fresh.snakemake("results/tiny/runs/weather/theirs/seed-0.trec.gz").returncode == 0


def test_code_that_changes_before_a_job_begins_gives_one_line_and_no_output(fresh):
    """Its output would be taken for that of the code as it was, which may come back."""
    small(fresh)
    scoring = fresh.folder / "scripts/evaluation/score.py"
    before = scoring.read_text()
    edits = f"from pathlib import Path\nPath({str(scoring)!r}).write_text({before!r} + 'assert True\\n')\n"
    script = fresh.folder / "scripts/evaluation/imports.py"
    script.write_text(script.read_text() + edits)
    metrics = "results/tiny/metrics/weather/theirs/seed-0.tsv"
    done = fresh.snakemake(metrics)
    assert done.returncode != 0
    assert "error: scripts/evaluation/score.py: changed while the run was under way; run again  [" in done.stderr
    assert not (fresh.folder / metrics).exists()
    assert fresh.snakemake(metrics).returncode == 0


def test_edits_of_the_users_data_are_planned_though_size_and_dates_are_kept(again):
    """Each has the rule that reads it planned, which follows from no other of them."""
    for path in ("theirs.trec", CORPUS, "weights/tiny/tokenizer.json"):
        edit(again.folder / path)
    assert {job.split()[0] for job in again.planned()} >= {"import_run", "prepare_dataset", "index", "weights"}


def test_an_edited_intermediate_stops_who_reads_it_and_is_made_anew(again):
    path, effects = again.folder / METRICS, "results/tiny/effects/theirs.tsv"
    before = {name: (again.folder / name).read_bytes() for name in (effects, METRICS)}
    path.write_bytes(before[METRICS] + b"q99\t1.0\t1.0\t1.0\n")
    assert "compare theirs" in again.planned()
    done = again.snakemake(effects)
    assert done.returncode != 0
    said = f"error: {METRICS}: is not what its job wrote (SHA-256 differs); delete it and run again, so that it is made anew"
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not (again.folder / effects).exists()
    path.unlink()
    assert again.snakemake(effects).returncode == 0
    assert before == {name: (again.folder / name).read_bytes() for name in before} and again.planned() == set()


def test_edited_judgements_stop_the_scoring(again):
    path = again.folder / QRELS
    path.write_text(path.read_text().replace(" 1\n", " 0\n", 1))
    done = again.snakemake(METRICS)
    assert done.returncode != 0 and f"error: {QRELS}: is not what its job wrote (SHA-256 differs)" in done.stderr
    assert not (again.folder / METRICS).exists()


def test_a_damaged_intermediate_stops_who_reads_it_next_though_its_date_is_kept(again):
    config = tiny_config()
    config["comparisons"]["theirs"]["alpha"] = 0.01  # compares again
    again.write_config(config)
    edit(again.folder / METRICS)
    done = again.snakemake("results/tiny/effects/theirs.tsv")
    assert done.returncode != 0 and f"error: {METRICS}: is not what its job wrote" in done.stderr
    assert not (again.folder / "results/tiny/effects/theirs.tsv").exists()


# Deleted together is what no other job of these makes necessary.
DELETED = [
    {
        METRICS: "score weather plain seed-0",
        "results/tiny/runs/weather/theirs/seed-0.trec.gz": "import_run weather theirs seed-0",
        "results/tiny/bm25/weather/bm25.grid.tsv": "tune weather bm25",
        "results/tiny/models/bert/hard/seed-2.log.tsv": "fine_tune bert hard seed-2",
    },
    {
        "results/tiny/runs/weather/plain/seed-0.timing.json": "search weather plain",
        "results/tiny/meta/hard-helps.json": "compare hard-helps",
    },
    {QRELS: "prepare_dataset weather"},
    {"results/tiny/explorer/index.html": "explorer"},
]
MORE_DELETED = [
    {"results/tiny/effects/theirs.tsv": "compare theirs", "results/tiny/tables/means.tsv": "collect means"},
    {"results/tiny/tables/comparisons.tex": "tables"},
    {"results/tiny/data/weather/statistics.json": "prepare_dataset weather"},
]


@pytest.mark.parametrize(
    "paths",
    [*DELETED, *(pytest.param(paths, marks=pytest.mark.long) for paths in MORE_DELETED)],
    ids=lambda paths: next(iter(paths)),
)
def test_deleted_intermediates_are_made_again(again, paths):
    for path in paths:
        (again.folder / path).unlink()
    assert set(paths.values()) <= again.planned()


def test_a_deleted_file_that_is_made_again_alone_is_the_same_and_nothing_else_is_planned(again):
    before = (again.folder / QRELS).read_bytes()
    (again.folder / QRELS).unlink()
    assert again.snakemake(QRELS).returncode == 0
    assert (again.folder / QRELS).read_bytes() == before and again.planned() == set()


def test_texts_models_and_indices_may_be_deleted(again):
    results = again.folder / "results/tiny"
    shutil.rmtree(results / "models/bert/hard/seed-1")
    shutil.rmtree(results / "bm25/weather/index")
    shutil.rmtree(results / "embeddings/weather/bert/hard/seed-1.vectors")
    for path in ("corpus.jsonl", "queries/train.jsonl"):
        (results / "data/weather" / path).unlink()
    by_hand = again.folder / "results/state/sha256/results/tiny/mine/a.json"  # a script wrote it, then it was deleted
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text(f"{'0' * 64}  results/tiny/mine/a.json\n")
    assert again.planned() == set()
