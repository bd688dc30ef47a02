"""Learning to rank as a user gets it: from a collection with training queries to runs, tables and a comparison."""

import csv
import json
import re
import subprocess
import sys

import pytest

from ranktrial.ir.trec import read_run
from tests.workflow.conftest import REPOSITORY, copy, write_collection

LAMBDAMART = {
    "type": "learning-to-rank",
    "features": "few",
    "learner": {"type": "lightgbm", "min_data_in_leaf": [2, 5], "trees": 20},
}
CONFIG = {
    "experiment": "l",
    "measures": ["nDCG@10"],
    "depth": 20,
    "datasets": {name: {"format": "beir", "location": name} for name in ("weather", "news")},
    "tasks": ["weather"],
    "features": {"few": {"first_stage": "bm25", "depth": 20,
                         "of": ["BM25", "DPH", "document_length", "first_stage_rank", {"system": "plain"}]}},
    "systems": {
        "bm25": {"type": "bm25"},
        "plain": {"type": "bm25", "k1": 2.0, "b": 0.0},
        "lambdamart": LAMBDAMART,
        "again": LAMBDAMART | {"refit": True},
        "forest": {"type": "learning-to-rank", "features": "few", "learner": "random-forest", "seeds": 2},
        "both": {"type": "learning-to-rank", "features": "few", "learner": "linear", "train_on": ["weather", "news"]},
    },
    "comparisons": {},
}  # fmt: skip
RESULTS = "results/l"
TABLES = [
    f"{RESULTS}/rankers/weather/lambdamart/seed-0.importance.tsv",
    f"{RESULTS}/rankers/2-datasets/both/seed-0.importance.tsv",
]
RUNS = [f"{RESULTS}/runs/weather/{run}.trec.gz" for run in ("forest/seed-1", "forest/seed-2", "both/seed-0")]
FIGURE = f"{RESULTS}/figures/importance/weather/lambdamart.svg"
METRICS = f"{RESULTS}/metrics/weather/lambdamart/seed-0.tsv"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    made = copy(REPOSITORY, tmp_path_factory.mktemp("learning") / "ranktrial")
    for seed, name in enumerate(CONFIG["datasets"], 1):
        write_collection(made.folder / name, seed)
    made.write_config(CONFIG)
    made.run("--cores", "2", TABLES[0], METRICS, FIGURE)
    return made


@pytest.fixture(scope="module")
def further(workspace):
    """The same with what learns from two datasets, and with seeds."""
    workspace.run("--cores", "2", *TABLES, *RUNS)
    return workspace


def test_a_ranker_orders_the_candidates_of_its_first_stage(workspace):
    folder = workspace.folder / RESULTS / "runs" / "weather"
    first, learnt = (read_run(folder / system / "seed-0.trec.gz") for system in ("bm25", "lambdamart"))
    assert {query: set(scores) for query, scores in learnt.items()} == {query: set(one) for query, one in first.items()}
    assert any(list(first[query]) != list(learnt[query]) for query in first)
    assert all(len(set(scores.values())) == len(scores) for scores in learnt.values())
    timing = json.loads((folder / "lambdamart" / "seed-0.timing.json").read_text())
    assert timing["queries"] == 15 and timing["threads"] == 1 and timing["peak_rss_bytes"] > 0


def test_the_grid_the_record_and_the_time_of_learning_are_kept(workspace):
    folder = workspace.folder / RESULTS / "rankers"
    with open(folder / "weather" / "lambdamart" / "seed-0.grid.tsv") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    record = json.loads((folder / "weather" / "lambdamart" / "seed-0.json").read_text())
    assert [row["min_data_in_leaf"] for row in rows] == ["2", "5"]
    (chosen,) = record["chosen"]
    assert chosen["value"] == max(float(row["nDCG@10"]) for row in rows) and chosen["train_queries"] == 30
    timing = json.loads((folder / "weather" / "lambdamart" / "seed-0.timing.json").read_text())
    assert timing["combinations"] == 2 and timing["seconds"] > 0 and "lightgbm" in timing["versions"]


def test_a_ranker_that_is_learnt_again_ranks_all_tasks_but_dev(workspace):
    config = json.loads(json.dumps(CONFIG)) | {"tasks": ["weather", "weather/dev"]}
    workspace.write_config(config, "again.yaml")
    runs = [f"{RESULTS}/runs/{task}/again/seed-0.trec.gz" for task in ("weather", "weather-dev")]
    done = workspace.run("--dry-run", "--printshellcmds", *runs, config="again.yaml")
    said = done.stdout + done.stderr
    assert set(re.findall(r"^Job \d+: (\S*ranker .*)$", said, re.MULTILINE)) == {
        "train_ranker weather again seed-0", "refit_ranker weather again seed-0",
    }  # fmt: skip
    ranked = dict(re.findall(r"jobs rank_by_features .*--model (\S+) .*--run (\S+)", said))
    folder = f"{RESULTS}/rankers/weather/again"
    assert ranked == {f"{folder}/refitted/seed-0.model": runs[0], f"{folder}/seed-0.model": runs[1]}


def importance(path):
    """The rows of a table, one per feature."""
    with open(path) as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["feature"] for row in rows] == ["BM25", "DPH", "document_length", "first_stage_rank", "system.plain"]
    return rows


def test_importance_is_a_row_per_feature(workspace):
    assert sum(float(row["gain"]) for row in importance(workspace.folder / TABLES[0])) == pytest.approx(1)


@pytest.mark.long
def test_a_ranker_learns_from_two_datasets_and_a_forest_has_seeds(further):
    rankers, runs = further.folder / RESULTS / "rankers", [read_run(further.folder / run) for run in RUNS]
    (chosen,) = json.loads((rankers / "2-datasets" / "both" / "seed-0.json").read_text())["chosen"]
    assert chosen["train_queries"] == 60
    rows = importance(further.folder / TABLES[1])
    assert {row["gain"] for row in rows} == {""} and all(float(row["shap"]) >= 0 for row in rows)
    assert runs[0] != runs[1]


@pytest.mark.long
def test_the_training_queries_are_ranked_by_folds(further):
    """All of them, each by a model that learnt from the other folds, of two datasets whose queries have the same ids."""
    folded = CONFIG["systems"]["both"] | {"cross_validation": 3}
    systems = {name: CONFIG["systems"][name] for name in ("bm25", "plain")} | {"folded": folded}
    further.write_config(CONFIG | {"systems": systems, "tasks": ["weather", "weather/train"]}, "folds.yaml")
    runs = [f"{RESULTS}/runs/{task}/folded/seed-0.trec.gz" for task in ("weather", "weather-train")]
    further.run("--cores", "2", *runs, f"{RESULTS}/metrics/weather-train/folded/seed-0.tsv", config="folds.yaml")
    assert [len(read_run(further.folder / run)) for run in runs] == [15, 30]
    chosen = json.loads((further.folder / RESULTS / "rankers/2-datasets/folded/seed-0.json").read_text())["chosen"]
    assert len(chosen) == 3 and sum(one["train_queries"] for one in chosen) == sum(one["dev_queries"] for one in chosen)
    assert sum(one["train_queries"] for one in chosen) == 60  # one fold of three is learnt from


def test_the_pages_show_the_importance(workspace):
    config = json.loads(json.dumps(CONFIG))
    config["systems"] = {name: config["systems"][name] for name in ("bm25", "plain", "lambdamart")}
    workspace.write_config(config, "pages.yaml")
    workspace.run("--cores", "2", f"{RESULTS}/summary.md", config="pages.yaml")
    fall = float(importance(workspace.folder / TABLES[0])[0]["permutation"])
    said = " ".join((workspace.folder / RESULTS / "summary.md").read_text().split())
    assert f"| BM25 | {fall:.3f} |".replace("-", "\N{MINUS SIGN}") in said and "SHAP lambdamart" in said
    page = (workspace.folder / RESULTS / "report.html").read_text()
    assert "Importance of features" in page and "Permutation: fall of nDCG@10." in page


def test_another_learner_computes_no_feature_again(workspace):
    config = json.loads(json.dumps(CONFIG))
    config["systems"]["lambdamart"]["learner"]["trees"] = 10
    workspace.write_config(config, "more.yaml")
    jobs = workspace.planned("more.yaml", TABLES[0], METRICS)
    assert jobs == {
        "train_ranker weather lambdamart seed-0", "importance weather lambdamart seed-0",
        "rank_by_features weather lambdamart seed-0", "score weather lambdamart seed-0",
    }  # fmt: skip


def test_an_archive_takes_what_rankers_leave_besides_runs(workspace):
    done = workspace.run("--dry-run", "--printshellcmds", "archive")
    (command,) = re.findall(r"^.*scripts\.archive\.write.*$", done.stdout + done.stderr, re.MULTILINE)
    assert {*TABLES, FIGURE} <= set(command.split())


def test_another_ablation_adds_its_training_alone(workspace):
    config = json.loads(json.dumps(CONFIG))
    config["systems"]["less"] = LAMBDAMART | {"without": [["plain"], ["weighting-models"]]}
    workspace.write_config(config, "ablation.yaml")
    systems = ("lambdamart", "less-plain", "less-weighting-models")
    targets = [METRICS.replace("lambdamart", system) for system in systems]
    jobs = workspace.planned("ablation.yaml", *targets, TABLES[0])
    steps = ("train_ranker weather", "rank_by_features weather", "score weather")
    assert jobs == {f"{step} {system} seed-0" for step in steps for system in systems[1:]}


def test_a_dataset_without_training_queries_is_reported_in_a_line(workspace):
    (workspace.folder / "bare" / "qrels").mkdir(parents=True)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels/dev.tsv"):
        (workspace.folder / "bare" / name).write_bytes((workspace.folder / "weather" / name).read_bytes())
    config = json.loads(json.dumps(CONFIG))
    config["datasets"]["bare"] = {"format": "beir", "location": "bare"}
    config["systems"]["lambdamart"] |= {"train_on": "bare"}
    workspace.write_config(config, "bare.yaml")
    target = f"{RESULTS}/rankers/bare/lambdamart/seed-0.model"
    done = workspace.snakemake("--cores", "1", target, config="bare.yaml")
    said = {line.partition("  [")[0] for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")}
    assert done.returncode and len(said) == 1, done.stderr[-2000:]
    key = "bare.yaml: systems.lambdamart.train_on"
    assert said == {f"error: {key}: bare has no judgements for the split train; its splits are dev, test"}
    assert not (workspace.folder / target).exists()


@pytest.mark.long
def test_features_of_another_index_are_refused(further):
    """By hand: Snakemake itself would compute the features anew."""
    folder = further.folder / RESULTS
    ranker = folder / "rankers" / "weather" / "lambdamart" / "seed-0"
    command = [sys.executable, "scripts/learning_to_rank/jobs.py", "rank_by_features", "--features", f"{RESULTS}/features/weather/few.parquet",
               "--terms", str(folder / "bm25" / "news" / "term-counts"), "--model", f"{ranker}.model",
               "--record", f"{ranker}.json", "--run", "x.trec", "--timing", "x.json",
               "--settings", '{"depth": 20, "tag": "x"}']  # fmt: skip
    done = subprocess.run(command, cwd=further.folder, env={"PYTHONPATH": "."}, capture_output=True, text=True)
    assert done.returncode == 1 and "its features were computed from another index" in done.stderr
    assert not (further.folder / "x.trec").exists()
