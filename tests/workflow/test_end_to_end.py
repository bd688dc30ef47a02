"""The tiny experiment from raw data to forest plot, and its results recomputed from the files it wrote."""

import json
import math
import subprocess
import sys

import pandas as pd
import pytest

from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, read_run
from tests.workflow.conftest import copy, tiny_config


@pytest.fixture(scope="module")
def results(finished):
    return finished.folder / "results" / "tiny"


def test_nothing_is_left_to_do(finished):
    assert finished.planned() == set()


def by_processes(prepared, folder, config, *targets):
    """A workspace in which processes, as a user starts them, have run a configuration; all others fork a warm one."""
    workspace = copy(prepared.folder, folder / "ranktrial")
    workspace.write_config(config)
    command = workspace.command(*targets, python=sys.executable)
    done = subprocess.run(command, cwd=workspace.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return workspace


def test_processes_as_a_user_starts_them_have_the_same_results(finished, prepared, tmp_path):
    """From raw data to a forest plot: BM25 and a model that is not trained."""
    config = tiny_config()
    config["models"] = {"bert": config["models"]["bert"]}
    config["systems"] = {name: config["systems"][name] for name in ("plain", "zero-shot")}
    config["comparisons"] = {"model-helps": {"control": "plain", "treatment": "zero-shot"}}
    del config["recipes"]
    figure = "results/tiny/figures/model-helps.svg"
    done = by_processes(prepared, tmp_path, config, figure)
    metrics = done.metrics()
    assert len(metrics) == 2 and metrics.items() <= finished.metrics().items()
    assert (done.folder / figure).stat().st_size > 1000


@pytest.mark.long
def test_so_has_the_whole_experiment(finished, prepared, tmp_path):
    assert by_processes(prepared, tmp_path, tiny_config()).metrics() == finished.metrics()


def test_every_system_and_seed_has_a_run_and_metrics(results):
    seeds = {"bm25": [0], "plain": [0], "zero-shot": [0], "hard": [1, 2], "random": [1], "reranker": [1], "theirs": [0]}
    for system, numbers in seeds.items():
        for kind, suffix in (("runs", "trec.gz"), ("metrics", "tsv")):
            found = sorted(path.name for path in (results / kind / "weather" / system).glob(f"*.{suffix}"))
            assert found == [f"seed-{number}.{suffix}" for number in numbers]


def test_metrics_are_those_of_the_runs(results):
    qrels = read_qrels(results / "data/weather/qrels/test.qrels")
    paths = sorted(results.glob("metrics/*/*/*.tsv"))
    assert len(paths) == 8
    for path in paths:
        run = read_run(results / "runs" / path.relative_to(results / "metrics").with_suffix(".trec.gz"))
        table = pd.read_csv(path, sep="\t", index_col="query_id")
        assert len(table) == 15
        pd.testing.assert_frame_equal(table, evaluate(run, qrels, tiny_config()["measures"]), check_exact=True)


def test_systems_differ_and_bm25_finds_what_the_collection_was_made_for(results):
    means = pd.read_csv(results / "tables/means.tsv", sep="\t").set_index("system")["nDCG@10"]
    assert means["bm25"] > 0.5 > 2 * means["theirs"]
    assert means["hard"] > means["zero-shot"]
    assert means.nunique() >= 5


def test_seeds_make_a_difference(results):
    first, second = ((results / f"metrics/weather/hard/seed-{seed}.tsv").read_text() for seed in (1, 2))
    assert first != second


def test_effects_and_meta_files_have_the_agreed_columns_and_keys(results):
    effects = pd.read_csv(results / "effects/hard-helps.tsv", sep="\t")
    agreed = ["task", "n", "control_mean", "treatment_mean", "effect", "variance", "se", "ci_low", "ci_high", "p_value",
              "weight"]  # fmt: skip
    assert list(effects.columns)[: len(agreed)] == agreed
    meta = json.loads((results / "meta/hard-helps.json").read_text())
    assert {"effect_type", "measure", "k", "estimator", "summary", "tau2", "tau2_ci", "q", "q_df", "q_p_value", "i2",
            "h2", "prediction_interval", "leave_one_out"} <= set(meta)  # fmt: skip
    assert {"effect", "variance", "se", "ci_low", "ci_high", "p_value"} <= set(meta["summary"])
    means = pd.read_csv(results / "tables/means.tsv", sep="\t").set_index("system")["nDCG@10"]
    assert meta["summary"]["effect"] == pytest.approx(means["hard"] - means["zero-shot"], abs=1e-14)


def test_figures_and_summary_are_there_and_linked(results):
    page = (results / "summary.md").read_text()
    for name in ("hard-helps", "random-helps", "theirs"):
        for suffix in ("svg", "pdf", "png"):
            assert (results / "figures" / f"{name}.{suffix}").stat().st_size > 1000
        assert f"(figures/{name}.svg)" in page
    assert "nan" not in page.lower()
    assert "0.*" not in page.split("## Means")[0]


def test_timing_is_kept_beside_each_run_and_checkpoint(results):
    for path in [*results.glob("runs/*/*/*.timing.json"), *results.glob("models/*/*/*.timing.json")]:
        timing = json.loads(path.read_text())
        assert timing["device"] and timing["peak_rss_bytes"] > 0 and timing["versions"]
    latency = json.loads((results / "runs/weather/hard/seed-1.timing.json").read_text())["latency_ms"]
    assert 0 < latency["p50"] <= latency["p95"] and math.isfinite(latency["mean"])


def test_negatives_are_never_gold_of_any_split(results):
    table = pd.read_csv(next(results.glob("negatives/weather/*bm25*.tsv")), sep="\t")
    golds = {n for split in ("dev", "test") for q in read_qrels(results / f"data/weather/qrels/{split}.qrels").values()
             for n in q}  # fmt: skip
    train = read_qrels(results / "data/weather/qrels/train.qrels")
    assert not set(table["negative_id"]) & golds
    assert all(row.negative_id not in train[row.query_id] for row in table.itertuples())
    assert (table["source"] == "bm25").all() and table["bm25_rank"].notna().all()
