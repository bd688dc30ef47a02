"""Experiments with rankers of the user's: run, edited, failing, fused, mined from and archived, as a user does it."""

import gzip
import shutil

import pandas as pd
import pytest

from tests.command.test_jobs import AWK, OVERLAP, RANKER
from tests.workflow.conftest import tiny_config
from tests.workflow.test_archive import NAME, run

pytestmark = pytest.mark.slow
SECRET = "sk-0123456789abcdef"
MINE = {
    "type": "command",
    "command": ["python", "rankers/overlap.py", "{queries}", "{corpus}", "{run}", "{depth}"],
    "code": "rankers/overlap.py",
}
AWKS = {
    "type": "command",
    "command": ["awk", "-v", "run={run}", "-f", "rankers/overlap.awk", "{corpus_tsv}", "{queries_tsv}"],
    "code": "rankers/overlap.awk",
}
LEARNT = {"type": "command", "ranker": "rankers.mine:Overlap", "code": "rankers/mine.py", "train": True, "seeds": 2}
RERANKED = {"type": "command", "ranker": "rankers.mine:Overlap", "code": "rankers/mine.py",
            "rerank": {"first_stage": "theirs", "depth": 5}}  # fmt: skip


def config() -> dict:
    made = tiny_config()
    systems = {
        "mine": MINE, "awk": AWKS, "learnt": LEARNT, "reranked": RERANKED, "theirs": made["systems"]["theirs"],
        "fused": {"type": "fusion", "systems": ["mine", "learnt"]},
    }  # fmt: skip
    pairs = {name: {"control": "theirs", "treatment": name} for name in ("mine", "awk", "learnt", "fused")}
    return made | {"models": {}, "recipes": {}, "systems": systems, "comparisons": pairs}


@pytest.fixture
def workspace(fresh):
    (fresh.folder / "rankers").mkdir()
    judged = RANKER.replace('qrels["q1"]', "next(iter(qrels.values()))")
    for name, text in (("overlap.py", OVERLAP), ("overlap.awk", AWK), ("mine.py", judged)):
        (fresh.folder / "rankers" / name).write_text(text)
    fresh.write_config(config())
    return fresh


def test_an_experiment_with_rankers_of_ones_own(workspace, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", SECRET)
    folder = workspace.folder
    (folder / "rankers/overlap.py").write_text("import os; print(os.environ['MY_API_KEY'])\n" + OVERLAP)
    workspace.run()
    results = folder / "results/tiny"
    means = pd.read_csv(results / "tables/means.tsv", sep="\t").set_index("system")["nDCG@10"]
    assert means["mine"] == pytest.approx(means["awk"], abs=0.05) and means["mine"] > means["theirs"]
    assert (results / "rankers/weather/learnt/seed-2/boost").read_text() == "91"
    with gzip.open(results / "runs/weather/learnt/seed-1.trec.gz", "rt") as file:
        assert file.readline().endswith(" learnt-1\n")
    costs = pd.read_csv(results / "tables/costs.tsv", sep="\t").set_index("system")
    assert costs.loc["learnt", "training_seconds"].notna().all() and costs.loc["mine", "seconds"] > 0
    assert "The time of a program is that of all it does" in (results / "tables/inference-times.md").read_text()
    assert (
        "Python class rankers.mine:Overlap, trained on the dataset of each task"
        in (results / "report.html").read_text()
    )
    assert (results / "logs/run_command/weather/mine/seed-0.log").read_text().count("| ***") == 1
    for file in [path for path in (folder / "results").rglob("*") if path.is_file()]:
        assert SECRET.encode() not in file.read_bytes(), file
    assert workspace.planned() == set() and not (folder / "rankers/__pycache__").exists()
    edited = folder / "rankers/overlap.py"
    edited.write_text(edited.read_text() + "# edited\n")
    planned = workspace.planned()
    assert {job for job in planned if "command" in job} == {"run_command weather mine seed-0"}
    assert {job for job in planned if job.startswith(("fuse", "score"))} == {
        "fuse weather fused seed-1", "fuse weather fused seed-2", "score weather mine seed-0",
        "score weather fused seed-1", "score weather fused seed-2",
    }  # fmt: skip
    edited.write_text("import sys\nprint('error: one', file=sys.stderr)\nraise ValueError('two')\n")
    done = workspace.snakemake()
    said = [line for line in done.stderr.splitlines() if "error:" in line]
    assert done.returncode != 0 and len(said) == 1 and "Traceback" not in done.stderr
    assert said[0].startswith(
        "error: systems.mine: its program ended with exit code 1: ValueError: two  [results/tiny/logs"
    )


def test_training_queries_are_ranked_where_negatives_are_mined_from_it(workspace):
    own = tiny_config()
    recipe = own["recipes"]["hard"] | {"negatives": {"from": "mine", "per_query": 2}}
    systems = {"mine": MINE, "theirs": own["systems"]["theirs"], "hard": {"model": "bert", "recipe": "hard"}}
    pairs = {"hard-helps": {"control": "mine", "treatment": "hard"}}
    workspace.write_config(own | {"recipes": {"hard": recipe}, "systems": systems, "comparisons": pairs})
    assert {"run_command weather mine seed-0", "run_command weather-train mine seed-0"} <= workspace.planned()


@pytest.mark.long
def test_an_archive_says_what_it_cannot_recompute(workspace):
    workspace.run()
    done = run(workspace, "front", "--config", "tiny.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    archive, report = workspace.folder / NAME, workspace.folder / "report.tsv"
    shutil.rmtree(workspace.folder / "rankers")  # whoever verifies it has no code of others
    done = run(workspace, "verify", "--archive", archive, "--recompute", "--report", report)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    reasons = {line.split("\t")[0]: line for line in report.read_text().splitlines()}
    for name in ("runs/weather/mine/seed-0.trec.gz", "runs/weather/learnt/seed-1.timing.json"):
        assert (
            "made by run_command, which fetches, prepares, trains, indexes or ranks" in reasons[f"results/tiny/{name}"]
        )
