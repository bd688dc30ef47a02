"""An experiment from raw data to its forest plot by Slurm jobs, judged by what Slurm itself recorded."""

import re
import subprocess
import sys

import pytest

from tests.cluster.conftest import experiment

pytestmark = pytest.mark.cluster

# Every job that Slurm should have run, by the comment that the plugin gives it.
AFTER_SCORES = ["rule_compare_wildcards_hard-helps", "rule_explorer"]
OF_BM25 = ["rule_search_wildcards_weather_bm25", "rule_score_wildcards__weather_bm25_0"]
CPU = [
    "rule_prepare_dataset_wildcards_weather",
    "rule_index_wildcards_weather",
    OF_BM25[0],
    "rule_search_split_wildcards_weather_train",
    "rule_negatives_wildcards_weather_human-labels_2-bm25-negatives_all-queries",
    "rule_weights_wildcards_bert",
    OF_BM25[1],
    "rule_score_wildcards__weather_hard_1",
    *AFTER_SCORES,
]
GPU = [
    "rule_fine_tune_wildcards_bert_hard_1",
    "rule_encode_wildcards_weather__bert_hard_1__vectors",
    "rule_rank_wildcards_runs_weather_hard_1",
]


def test_the_literal_command_plans_the_example(prepared):
    command = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--dry-run"]
    done = subprocess.run(command, cwd=prepared.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"fine_tune +2\n", done.stdout + done.stderr)


def test_the_experiment_ends_in_a_forest_plot(finished):
    results = finished.folder / "results" / "tiny"
    assert (results / "summary.md").stat().st_size > 1000
    assert (results / "figures" / "hard-helps.png").read_bytes().startswith(b"\x89PNG")
    assert len(finished.metrics()) == 2


def test_each_job_ran_once_and_the_small_ones_not_in_slurm(finished):
    records = finished.slurm.jobs(finished.folder)
    assert sorted(one["Comment"] for one in records) == sorted(CPU + GPU)
    assert {one["JobState"] for one in records} == {"COMPLETED"}


def test_jobs_got_the_partition_gpu_memory_and_time_of_their_rule(finished):
    records = {one["Comment"]: one for one in finished.slurm.jobs(finished.folder)}
    for name in CPU:
        assert records[name]["Partition"] == "cpu" and "TresPerJob" not in records[name]
    for name in GPU:
        assert records[name]["Partition"] == "gpu"
        assert records[name]["TresPerJob"] == "gres:gpu:a100:1" and records[name]["JOB_GRES"] == "gpu:a100:1"
    asked = {
        re.match(r"rule_(\w+?)(_wildcards|$)", name)[1]: (one["MinMemoryNode"], one["TimeLimit"])
        for name, one in records.items()
    }
    assert asked["fine_tune"] == ("16000M", "01:00:00")  # 720 minutes, cut to this cluster's longest
    assert asked["encode"] == ("8000M", "01:00:00")
    assert asked["score"] == ("2000M", "00:30:00")


def test_jobs_are_named_after_the_experiment(finished):
    names = [job["JobName"] for job in finished.slurm.jobs(finished.folder)]
    assert names and all(re.match(r"tiny_[0-9a-f]{8}_", name) for name in names)


def test_a_completed_jobs_record_names_node_and_partition(finished):
    """jobcomp/filetxt is written by slurmctld when a job ends, apart from what scontrol remembers."""
    lines = (finished.slurm.folder / "log" / "jobcomp.log").read_text().splitlines()
    job = finished.records("fine_tune")[0]["JobId"]
    (line,) = [line for line in lines if line.startswith(f"JobId={job} ")]
    assert "JobState=COMPLETED" in line and "Partition=gpu" in line


def test_a_changed_setting_submits_what_depends_on_it_and_no_more(again):
    config = experiment() | {"timing": "exclusive"}
    config["systems"]["bm25"]["k1"] = 1.2
    again.write_config(config)
    again.finish(again.start())
    submitted = sorted(one["Comment"] for one in again.slurm.jobs(again.folder))
    assert submitted == sorted([*OF_BM25, *AFTER_SCORES])
    again.finish(again.start())
    assert "Nothing to be done" in again.said()


def test_exclusive_timing_runs_each_timed_job_on_a_node_of_its_own(finished):
    shared = {one["Comment"]: one["OverSubscribe"] for one in finished.slurm.jobs(finished.folder)}
    timed = [name for name in shared if name.startswith(("rule_search_", "rule_rank_"))]
    assert len(timed) == 3  # the search of the task, that of the training queries, the ranking
    assert {name for name, value in shared.items() if value == "NO"} == set(timed)
