"""config/touche.yaml on small files in the formats that its head describes: all of it is read, planned and prepared."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from ranktrial.configuration.reading import read_yaml
from ranktrial.experiment.resolution import resolve
from ranktrial.ir.collection import read_corpus
from ranktrial.ir.trec import read_qrels
from scripts.datasets import planning as datasets
from scripts.evaluation import planning as evaluation
from scripts.reports import planning as pages
from tests.support.broken import write
from tests.support.prepared import prepare
from tests.workflow.conftest import Workspace

ROOT = Path(__file__).parents[2]


def topics(numbers):
    found = "".join(
        f"<topic><number>{n}</number><title>Is tea {n} better than cocoa?</title></topic>\n" for n in numbers
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<topics>\n{found}</topics>\n'


def judged(numbers, highest):
    lines = [f"{n} 0 clueweb12-{n}-{place} {place % (highest + 1)}" for n in numbers for place in range(4)]
    return "\n".join(lines) + "\n"


PAGES = [{"id": f"clueweb12-{n}-{place}", "contents": f"page {n} {place}"} for n in range(1, 101) for place in range(4)]
ANSWERS = [
    {"id": f"{n}_{place}", "text": f"{place}" + " long" * 61 if n == 9 else f"answer {n} {place}"}
    for n in range(10)
    for place in range(4)
]
FILES = {
    "data/touche/documents.jsonl": "".join(json.dumps(page) + "\n" for page in PAGES),
    "data/touche/topics-2020.xml": topics(range(1, 51)),
    "data/touche/topics-2021.xml": topics(range(51, 101)),
    "data/touche/relevance-2020.qrels": judged(range(1, 51), 2),
    "data/touche/relevance-2021.qrels": judged(range(51, 101), 3),
    "data/touche/quality-2021.qrels": judged(range(51, 100), 3),
    "data/antique/collection.jsonl": "".join(json.dumps(answer) + "\n" for answer in ANSWERS),
    "data/antique/antique-train-queries.txt": "".join(f"{n}\tquestion {n}\n" for n in range(10)),
    "data/antique/antique-train.qrel": "".join(
        f"{n} U0 {n}_{place} {place + 1}\n" for n in range(10) for place in range(4)
    ),
}


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    write(tmp_path, FILES)
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    return resolve(read_yaml(Path("config/touche.yaml")), "touche.yaml")


def test_each_system_ranks_two_tasks_and_is_scored_on_three(experiment):
    folders = {Path(run).parent.parent.name for run in evaluation.all_runs(experiment)}
    assert folders == {"touche-dev", "touche"}
    scored = {Path(metrics).parent.parent.name for metrics in evaluation.all_metrics(experiment)}
    assert scored == {"touche-dev", "touche", "touche-quality"}


def test_its_datasets_are_prepared_as_its_head_says(experiment, tmp_path):
    for name in ("touche", "antique"):
        assert prepare(f"data/{name}", tmp_path / name, datasets.dataset_settings(experiment, name)) == []
    parts = {split: read_qrels(tmp_path / f"touche/qrels/{split}.qrels") for split in ("train", "dev", "test")}
    assert {split: len(part) for split, part in parts.items()} == {"train": 40, "dev": 10, "test": 50}
    assert len(list(read_corpus(tmp_path / "antique/corpus.jsonl"))) == 36  # answers of 304 characters are left out
    assert read_qrels(tmp_path / "antique/qrels/train.qrels")["9"] == {"9_0": 0, "9_1": 1, "9_2": 1, "9_3": 2}


def test_its_importances_stand_beside_table_2(experiment):
    tables = pages.importances(experiment)
    assert tables["lightgbm"] == ["results/touche/rankers/touche/lightgbm/seed-0.importance.tsv"]
    assert pages.published_settings(experiment)["rankers"]["lightgbm"] == 1


def test_a_dry_run_plans_it(experiment, tmp_path):
    """With the workflow's parts beside the small files."""
    for part in ("Snakefile", "rules", "scripts", "ranktrial", "profiles", "envs"):
        (tmp_path / part).symlink_to(ROOT / part)
    command = [Workspace.python, "-m", "snakemake", "--dry-run",
               "--snakefile", str(ROOT / "Snakefile"), "--configfile", "config/touche.yaml"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    jobs = set(re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE))
    assert {"score touche-quality bert seed-1", "prepare_judgements touche-quality"} <= jobs
    assert "rerank touche bert seed-1" in jobs and not any(job.startswith("rerank touche-quality") for job in jobs)
    assert {"train_ranker touche lightgbm seed-0", "rank_by_features touche lightgbm seed-0"} <= jobs
    assert {"compute_features touche-train touche", "compute_features touche-train models"} <= jobs
    assert {"published", "importance touche lightgbm seed-0"} <= jobs
    assert "score touche-quality xgboost seed-0" in jobs and "train_ranker touche dph seed-0" in jobs
